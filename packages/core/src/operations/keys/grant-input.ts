import { z } from "zod";
import { MAX_HELD } from "../../records/grants.js";
import type { NamedGrant } from "../../verification/loaded-key.js";
import { flag, grantName, id, list, optional } from "../input.js";

const GRANT_ERROR = "must be a name, or an object with id or name";

/** A role or permission: its name, or an object that names it. */
export type GrantInput<Name extends string = string> =
  | Name
  | {
      /** Its id, which wins over `name`. */
      readonly id?: string | undefined;
      /** Its name: 1 to 512 of `A-Z a-z 0-9 _ . : * -`. */
      readonly name?: Name | undefined;
      /** Whether it is created in the same write if it does not exist. Default: false. */
      readonly create?: boolean | undefined;
    };

/** A role or permission that a key is given: its name, or `{ id }`, `{ name }` or `{ name, create: true }`. */
const grant = z.union(
  [
    grantName,
    z
      .strictObject(optional({ id, name: grantName, create: flag }))
      .refine(({ id, name }) => id !== undefined || name !== undefined, { error: GRANT_ERROR }),
  ],
  { error: GRANT_ERROR },
);

/** The roles that a key is given, at most 100. `id` wins over `name`. */
export const roleList = list(grant, MAX_HELD.roles, "roles");

/** The permissions that a key is given, at most 1,000. `id` wins over `name`. */
export const permissionList = list(grant, MAX_HELD.permissions, "permissions");

/** One item of {@link roleList} or {@link permissionList}. */
export type GrantItem = z.output<typeof grant>;

/** What a key can be given: a role or a permission. */
export type GrantKind = "role" | "permission";

/** How an item names a role or permission. `label`: its id or its name. `mayCreate`: whether it is created if none has that name. */
export function readGrantItem(item: GrantItem) {
  if (typeof item === "string") return { label: item, isId: false, mayCreate: false };
  if (item.id !== undefined) return { label: item.id, isId: true, mayCreate: false };
  return { label: item.name as string, isId: false, mayCreate: item.create === true };
}

/** Names of what a key will hold, for the audit log: ascending, each once; the id of a grant that it does not hold yet stays an id. */
export function grantLabels(
  items: readonly GrantItem[],
  held: readonly NamedGrant[],
): readonly string[] {
  const labels = items.map((item) => {
    const { label, isId } = readGrantItem(item);
    return (isId ? held.find(({ id }) => id === label)?.name : undefined) ?? label;
  });
  return [...new Set(labels)].sort();
}
