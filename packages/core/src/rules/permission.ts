/** Permissions that a key must have: a name, or all or any of several queries, nested at most {@link MAX_QUERY_DEPTH} deep. */
export type PermissionQuery<Name extends string = string> =
  | Name
  | {
      /** All of these, at least one. */
      readonly and: readonly PermissionQuery<Name>[];
    }
  | {
      /** Any of these, at least one. */
      readonly or: readonly PermissionQuery<Name>[];
    };

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

/** Permissions that a key holds, built once and queried many times. */
export class HeldPermissions {
  readonly #names: ReadonlySet<string>;
  /** Names that may grant others than themselves. */
  readonly #wildcards: readonly string[];

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#wildcards = names.filter((name) => name.endsWith("*"));
  }

  grant(wanted: string): boolean {
    if (this.#names.has(wanted)) return true;
    for (const held of this.#wildcards) if (doesGrant(held, wanted)) return true;
    return false;
  }
}

/** Whether the held permissions satisfy the query. Holding nothing satisfies nothing, and an empty list is never satisfied. */
export function isSatisfied(query: PermissionQuery, held: HeldPermissions): boolean {
  if (typeof query === "string") return held.grant(query);
  if ("and" in query)
    return query.and.length > 0 && query.and.every((member) => isSatisfied(member, held));
  return query.or.some((member) => isSatisfied(member, held));
}

/**
 * The unsatisfied part of a query, or null if it is satisfied. Satisfying this part satisfies the whole query.
 *
 * For `and`, the failing members remain; for a failing `or`, all members, each reduced in the same way, because any one of them would do.
 * The result reveals no held permission beyond the query.
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
