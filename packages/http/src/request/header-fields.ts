import type { HttpRequest } from "./http-request.js";
import type { Query } from "./query.js";

/** Everything that was sent as fields of one input. */
export interface Given extends Query {
  /** Fields whose value came in a header, and the name of that header as it is documented. */
  readonly headers: ReadonlyMap<string, string>;
}

const NO_NAMES: Readonly<Record<string, string>> = {};
const NO_HEADERS: Given["headers"] = new Map();

/**
 * Adds the fields that headers stand for. Such a field is known by its header alone: in the body it is unknown, as any
 * other that the contract does not list.
 *
 * @param headers - Each field that a header stands for, and the name of the header.
 */
export function addHeaderFields(
  asked: Pick<HttpRequest, "header">,
  headers: Readonly<Record<string, string>> = NO_NAMES,
  given: Query,
): Given {
  let { fields, issues } = given;
  let sent = NO_HEADERS;
  for (const [field, header] of Object.entries(headers)) {
    if (Object.hasOwn(fields, field))
      issues = [...issues, { path: field, message: "is not a known field" }];
    const value = asked.header(header.toLowerCase());
    if (value === null) continue;
    fields = { ...fields, [field]: value };
    sent = new Map([...sent, [field, header]]);
  }
  return { fields, issues, unreadable: given.unreadable, headers: sent };
}
