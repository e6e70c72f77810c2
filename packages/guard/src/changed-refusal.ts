import type { ChangedRefusal } from "./options.js";
import type { Refusal, Refused } from "./refusal.js";

/**
 * A refusal as it is sent: with what the host has changed, and its body as text.
 *
 * @param change - What the host's hook answered; a member that is undefined changes nothing.
 * @throws TypeError where it cannot be sent: a status that is none, a header that HTTP does not take, a body that JSON does not know.
 */
export function changedRefusal(
  refusal: Refusal,
  // biome-ignore lint/suspicious/noConfusingVoidType: what a hook answers that only looks
  change: ChangedRefusal | undefined | void,
): Refused {
  const { code, verdict } = refusal;
  const { status = refusal.status, headers = refusal.headers, body = refusal.body } = change ?? {};
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new TypeError('"status" of a refusal must be a whole number from 200 to 599');
  // Whatever it is sent by, this refuses names and values that would end the header.
  if (headers !== refusal.headers) new Headers(headers);
  const text: unknown = typeof body === "string" ? body : JSON.stringify(body);
  if (typeof text !== "string")
    throw new TypeError('"body" of a refusal must be a text or an object');
  return { admitted: false, code, status, headers, body: text, verdict };
}
