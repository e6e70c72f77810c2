/**
 * What a caller must hold: one permission by name, all of several queries, or any of them. Nested to a
 * depth of at most {@link MAX_QUERY_DEPTH}; `and` and `or` have at least one member.
 */
export type PermissionQuery =
  | string
  | { readonly and: readonly PermissionQuery[] }
  | { readonly or: readonly PermissionQuery[] };

/** How deep a {@link PermissionQuery} may nest; a bare name has depth 1. */
export const MAX_QUERY_DEPTH = 16;

/**
 * Whether one held permission grants the wanted one: the same name, `*`, or a trailing wildcard.
 *
 * `docs.*` grants everything below `docs.` at any depth, and not `docs` itself. Names compare by exact
 * characters; a `*` anywhere but at the end after a dot is an ordinary character.
 */
export function doesGrant(held: string, wanted: string): boolean {
  if (held === wanted || held === "*") return true;
  return (
    held.endsWith(".*") && wanted.length > held.length - 1 && wanted.startsWith(held.slice(0, -1))
  );
}

/** Whether any of the held permissions grants the wanted one. */
export function hasPermission(held: readonly string[], wanted: string): boolean {
  return held.some((permission) => doesGrant(permission, wanted));
}

/** Whether what is held satisfies the query. Holding nothing satisfies nothing, and an empty list is not satisfied. */
export function isSatisfied(query: PermissionQuery, held: readonly string[]): boolean {
  if (typeof query === "string") return hasPermission(held, query);
  if ("and" in query)
    return query.and.length > 0 && query.and.every((member) => isSatisfied(member, held));
  return query.or.some((member) => isSatisfied(member, held));
}

/** Direct permissions and those that come through roles, without duplicates, in ascending order. */
export function effectivePermissions(
  direct: readonly string[],
  throughRoles: readonly (readonly string[])[],
): readonly string[] {
  return [...new Set([...direct, ...throughRoles.flat()])].sort();
}
