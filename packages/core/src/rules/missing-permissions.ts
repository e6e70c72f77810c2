import { type HeldPermissions, isSatisfied, type PermissionQuery } from "./permission.js";

/**
 * The part of a query that what is held does not satisfy, or null where all of it is satisfied. To satisfy that part as well
 * is to satisfy the whole query.
 *
 * Of `and` only the members that fail remain, of a failing `or` all members do, each without what is held of it: any one
 * of them would do. It says nothing of what is held beyond the query.
 */
export function missingPermissions(
  query: PermissionQuery,
  held: HeldPermissions,
): PermissionQuery | null {
  if (isSatisfied(query, held)) return null;
  if (typeof query === "string") return query;
  const members = "and" in query ? query.and : query.or;
  const missing = members.flatMap((member) => missingPermissions(member, held) ?? []);
  const [only] = missing;
  if (missing.length === 1 && only !== undefined) return only;
  return "and" in query ? { and: missing } : { or: missing };
}
