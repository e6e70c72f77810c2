import type { Asked } from "./asked.js";
import type { Query } from "./query.js";

const NO_HEADERS: Readonly<Record<string, string>> = {};

/**
 * Adds the fields that headers stand for. Such a field is known by its header alone: in the body it is unknown, as any
 * other that the contract does not list.
 *
 * @param headers - Name of each header in lower case, and the field that it stands for.
 */
export function withHeaderFields(
  asked: Pick<Asked, "header">,
  headers: Readonly<Record<string, string>> = NO_HEADERS,
  { fields, issues }: Query,
): Query {
  let all = fields;
  const strays: { path: string; message: string }[] = [];
  for (const [header, field] of Object.entries(headers)) {
    if (Object.hasOwn(fields, field)) strays.push({ path: field, message: "is not a known field" });
    const value = asked.header(header);
    if (value !== null) all = { ...all, [field]: value };
  }
  return strays.length === 0
    ? { fields: all, issues }
    : { fields: all, issues: [...issues, ...strays] };
}
