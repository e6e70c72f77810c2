import { decodeBody } from "./json.js";
import { type ReceivedFields, readQuery } from "./query.js";

/**
 * Reads a form. Unknown names are not repeated in issues: if JSON was sent as a form, the secret is part of a name.
 *
 * @param known - Names of the fields.
 */
export function readForm(bytes: Uint8Array, known: readonly string[]): ReceivedFields {
  const { fields, issues, unreadable } = readQuery(decodeBody(bytes));
  const isKnown = (name: string) => known.includes(name);
  const named = issues.filter(({ path }) => isKnown(path));
  const isStray = named.length < issues.length || !Object.keys(fields).every(isKnown);
  const message = `must be a form with no fields other than ${known.join(" and ")}`;
  return {
    fields: Object.fromEntries(Object.entries(fields).filter(([name]) => isKnown(name))),
    issues: isStray ? [...named, { path: "", message }] : named,
    unreadable: unreadable.filter(isKnown),
  };
}
