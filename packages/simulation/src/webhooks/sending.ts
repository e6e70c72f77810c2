import { AUDIT_TYPES, type Latchkey } from "@latchkey/core";
import { createWebhooks, type Webhooks } from "@latchkey/webhooks";
import type { Scheduler } from "../world/scheduler.js";
import type { Receiver } from "./receivers.js";

/** The receivers of every world that sends webhooks: one of all events, and one of some. */
export const RECEIVERS: readonly Receiver[] = [
  { host: "all.example", types: AUDIT_TYPES },
  { host: "some.example", types: ["key.created", "key.updated", "key.deleted"] },
];

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** How long a program waits before it tries to start again. */
const AGAIN_MS = 1_000;

/** The sender of a process. */
export interface ProcessSender extends Webhooks {
  /** Starts to send, and tries again until that succeeds. */
  readonly keepStarted: () => Promise<void>;
}

/** Creates the sender of a process. It does not send yet. `receivers`: those that it knows. */
export function createSender(
  latchkey: Latchkey,
  scheduler: Scheduler,
  isAlive: () => boolean,
  receivers: readonly Receiver[] = RECEIVERS,
): ProcessSender {
  const webhooks = createWebhooks(latchkey, {
    endpoints: receivers.map(({ host, types }) => ({
      url: `https://${host}/hooks`,
      types,
      secret: SECRET,
    })),
    retryForMs: 20_000,
    firstRetryMs: 500,
    timeoutMs: 1_000,
    leaseMs: 3_000,
    deadLettersForMs: 3_650 * 86_400_000,
  });
  let isWanted = false;
  const pause = () =>
    new Promise<void>((resolve) => {
      scheduler.after(AGAIN_MS, scheduler.nextTick(), resolve);
    });
  return {
    ...webhooks,
    keepStarted: async () => {
      isWanted = true;
      while (isWanted && isAlive())
        try {
          return await webhooks.start();
        } catch {
          await pause();
        }
    },
    stop: () => {
      isWanted = false;
      return webhooks.stop();
    },
  };
}
