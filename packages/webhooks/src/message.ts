import { type AuditEvent, type EpochMs, LAST_INSTANT } from "@latchkey/core";
import type { Webhook } from "standardwebhooks";

/** What is sent: its headers and its body. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Writes an event as the Standard Webhooks scheme says, signed by each of the secrets. Its `webhook-id` is the id of the event, however often
 * it is sent.
 *
 * @param now - When it is sent.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function messageOf(event: AuditEvent, now: EpochMs, signers: readonly Webhook[]): Message {
  // An entry that is damaged must not stop all that follow.
  const timestamp = new Date(Math.min(event.at, LAST_INSTANT)).toISOString();
  const body = JSON.stringify({ type: event.type, timestamp, data: event });
  const sentAt = new Date(now);
  return {
    headers: {
      "content-type": "application/json",
      "user-agent": "latchkey-webhooks",
      "webhook-id": event.id,
      "webhook-timestamp": String(Math.floor(now / 1_000)),
      "webhook-signature": signers.map((one) => one.sign(event.id, sentAt, body)).join(" "),
    },
    body,
  };
}
