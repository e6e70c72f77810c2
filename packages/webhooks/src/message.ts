import { type AuditEvent, type EpochMs, LAST_INSTANT } from "@latchkey/core";
import type { Webhook } from "standardwebhooks";

/** The headers and body to send. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Writes an event in the Standard Webhooks format, signed with each of the secrets. `webhook-id` is the id of the event, the same
 * for every try.
 *
 * @param now - When it is sent.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function messageOf(event: AuditEvent, now: EpochMs, signers: readonly Webhook[]): Message {
  // `toISOString` throws beyond the last instant, and one damaged entry must not stop all later events.
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
