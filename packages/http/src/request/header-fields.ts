import type { HttpRequest } from "./http-request.js";
import type { ReceivedFields } from "./query.js";

/** All fields of an input, and which of them were sent in a header. */
export interface ReceivedInput extends ReceivedFields {
  /** Field that was sent in a header → the documented name of that header. */
  readonly headers: ReadonlyMap<string, string>;
}

const NO_NAMES: Readonly<Record<string, string>> = {};
const NO_HEADERS: ReceivedInput["headers"] = new Map();

/**
 * Adds the fields that are sent in headers. Such a field is accepted only in its header: in the body it is an unknown field, like any other
 * that the contract does not list.
 *
 * @param names - Field → name of the header that it is sent in.
 */
export function addHeaderFields(
  request: Pick<HttpRequest, "header">,
  names: Readonly<Record<string, string>> = NO_NAMES,
  received: ReceivedFields,
): ReceivedInput {
  let { fields, issues } = received;
  let headers = NO_HEADERS;
  for (const field in names) {
    const name = names[field] as string;
    if (Object.hasOwn(fields, field))
      issues = [...issues, { path: field, message: "is not a known field" }];
    const value = request.header(name.toLowerCase());
    if (value === null) continue;
    fields = { ...fields, [field]: value };
    headers = new Map([...headers, [field, name]]);
  }
  return { fields, issues, unreadable: received.unreadable, headers };
}
