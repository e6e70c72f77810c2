import type { ChangedRefusal } from "./options.js";
import type { HeaderFields } from "./rate-limit-fields.js";
import type { Refusal, Refused } from "./refusal.js";

/** What every server can send: the name a token, the value visible Latin-1 characters, spaces and tabs. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * The refusal to send: with the host's changes, and the body as text.
 *
 * @param change - Result of the host's hook; inherited fields and fields that are undefined change nothing.
 * @throws TypeError if the result cannot be sent: an invalid status or header, or a body that is not JSON.
 */
export function changedRefusal(
  refusal: Refusal,
  // biome-ignore lint/suspicious/noConfusingVoidType: a hook that only looks returns nothing
  change: ChangedRefusal | undefined | void,
): Refused {
  const { code, verdict } = refusal;
  const own: ChangedRefusal = Object.assign(Object.create(null) as object, change);
  const { status = refusal.status, headers = refusal.headers, body = refusal.body } = own;
  if (!Number.isInteger(status) || status < 200 || status > 599)
    throw new TypeError('"status" of a refusal must be a whole number from 200 to 599');
  // Even if they are the refusal's own headers: the hook may have written to that object.
  checkHeaders(headers);
  const text: unknown = typeof body === "string" ? body : JSON.stringify(body);
  if (typeof text !== "string")
    throw new TypeError('"body" of a refusal must be a string or an object');
  return { admitted: false, code, status, headers, body: text, verdict };
}

function checkHeaders(headers: HeaderFields): void {
  // An iterable such as `Headers` has no own fields, so none of its headers would be sent.
  if (typeof headers !== "object" || headers === null || Symbol.iterator in headers)
    throw new TypeError('"headers" of a refusal must be an object of strings');
  for (const [name, value] of Object.entries(headers) as [string, unknown][]) {
    if (!HEADER_NAME.test(name)) throw new TypeError('"headers" of a refusal has an invalid name');
    if (typeof value !== "string" || !HEADER_VALUE.test(value))
      throw new TypeError(`the header "${name}" of a refusal must be a string that HTTP can send`);
  }
}
