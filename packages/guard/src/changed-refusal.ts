import type { ChangedRefusal } from "./options.js";
import type { HeaderFields } from "./rate-limit-fields.js";
import type { Refusal, Refused } from "./refusal.js";

/** A header that every server can send: a token, and visible characters of Latin-1, blanks and tabs. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * A refusal as it is sent: with the host's changes, and its body as text.
 *
 * @param change - Result of the host's hook; undefined and inherited members change nothing.
 * @throws TypeError if it cannot be sent: an invalid status or header, or a body that is not JSON.
 */
export function changedRefusal(
  refusal: Refusal,
  // biome-ignore lint/suspicious/noConfusingVoidType: what a hook answers that only looks
  change: ChangedRefusal | undefined | void,
): Refused {
  const { code, verdict } = refusal;
  const own: ChangedRefusal = Object.assign(Object.create(null) as object, change);
  const { status = refusal.status, headers = refusal.headers, body = refusal.body } = own;
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new TypeError('"status" of a refusal must be a whole number from 200 to 599');
  // Also where they are those of the refusal: the hook may have written to them.
  checkHeaders(headers);
  const text: unknown = typeof body === "string" ? body : JSON.stringify(body);
  if (typeof text !== "string")
    throw new TypeError('"body" of a refusal must be a text or an object');
  return { admitted: false, code, status, headers, body: text, verdict };
}

function checkHeaders(headers: HeaderFields): void {
  // What can only be iterated, such as `Headers`, has no fields, and would be sent as none.
  if (typeof headers !== "object" || headers === null || Symbol.iterator in headers)
    throw new TypeError('"headers" of a refusal must be an object of texts');
  for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
    if (!HEADER_NAME.test(name))
      throw new TypeError('"headers" of a refusal has a name that is none');
    if (typeof value !== "string" || !HEADER_VALUE.test(value))
      throw new TypeError(`the header "${name}" of a refusal must be a text that HTTP can send`);
  }
}
