export type { WebhookEndpoint, WebhookOptions } from "./options.js";
export {
  createWebhooks,
  type DeadLetter,
  type DeadLetterList,
  type Webhooks,
} from "./webhooks.js";
