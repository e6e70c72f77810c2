import type { NamedGrant } from "@latchkey/core";
import { json, list, text } from "./values.js";

/** Ids and names of several roles `r`, as one column that {@link namedGrants} reads. */
export const NAMED_ROLES = "json_group_array(json_array(r.id, r.name))";

/** Ids and names of several permissions `p`, as one column that {@link namedGrants} reads. */
export const NAMED_PERMISSIONS = "json_group_array(json_array(p.id, p.name))";

/** The grants of such a column, in ascending order of name. */
export function namedGrants(value: unknown): readonly NamedGrant[] {
  const grants = list(json(value), (item): NamedGrant => {
    const [id, name] = list(item, text);
    return { id: text(id), name: text(name) };
  });
  return [...grants].sort((one, other) => (one.name < other.name ? -1 : 1));
}
