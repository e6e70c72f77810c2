import { isObject } from "../lib/own-fields.js";
import { MAX_QUERY_DEPTH, type PermissionQuery } from "../rules/permission.js";

/** Longest permission name in a query, and most names and groups of one query in all. */
export const QUERY_BOUNDS = { maxNameLength: 512, maxNodes: 1_000 } as const;

/** Which names a query may have, and the message for others. */
export interface NameRule {
  readonly pattern: RegExp;
  readonly error: string;
}

/** A query over the wire may ask for any name: at worst, no key has it. */
const ANY_NAME: NameRule = {
  pattern: new RegExp(`^[^]{1,${QUERY_BOUNDS.maxNameLength}}$`),
  error: `must be a name of 1 to ${QUERY_BOUNDS.maxNameLength} characters`,
};

/** A checked copy of a query, or where and why it is malformed. */
export type QueryCheck =
  | { readonly ok: true; readonly query: PermissionQuery }
  | { readonly ok: false; readonly path: readonly (string | number)[]; readonly message: string };

/** Checks a permission query from outside: a name, or an object with exactly one of `and` and `or`, nested at most 16 deep. */
export function checkPermissionQuery(value: unknown, names: NameRule = ANY_NAME): QueryCheck {
  const path: (string | number)[] = [];
  let nodes = 0;

  function copy(node: unknown, depth: number): PermissionQuery | string | null {
    nodes += 1;
    if (nodes > QUERY_BOUNDS.maxNodes)
      return fail(`must contain at most ${QUERY_BOUNDS.maxNodes} names and groups`);
    if (depth > MAX_QUERY_DEPTH) return fail(`must be nested at most ${MAX_QUERY_DEPTH} deep`);
    if (typeof node === "string") return names.pattern.test(node) ? node : fail(names.error);
    const group = onlyMember(node);
    if (group === null) return fail("must be a permission name, { and: […] } or { or: […] }");
    path.push(group.name);
    if (!Array.isArray(group.members) || group.members.length === 0)
      return fail("must be a list of at least one query");
    const members: PermissionQuery[] = [];
    for (const [index, member] of group.members.entries()) {
      path.push(index);
      const copied = copy(member, depth + 1);
      if (failure !== null || copied === null) return null;
      members.push(copied);
      path.pop();
    }
    path.pop();
    return group.name === "and" ? { and: members } : { or: members };
  }

  let failure: string | null = null;
  function fail(message: string): null {
    failure = message;
    return null;
  }

  const query = copy(value, 1);
  return query === null
    ? { ok: false, path, message: failure ?? "is malformed" }
    : { ok: true, query };
}

function onlyMember(node: unknown) {
  if (!isObject(node)) return null;
  const [entry, ...rest] = Object.entries(node);
  if (entry === undefined || rest.length > 0) return null;
  const [name, members] = entry;
  return name === "and" || name === "or" ? { name, members } : null;
}
