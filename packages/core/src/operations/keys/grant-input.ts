import { z } from "zod";
import { type Noting, noteChange } from "../../audit/entry.js";
import type { LoggedChange } from "../../records/audit-entry.js";
import {
  MAX_HELD,
  type NamedGrant,
  type PermissionRecord,
  type RoleRecord,
} from "../../records/role.js";
import type { EpochMs } from "../../time.js";
import { flag, grantName, id, list } from "../input.js";
import type { GrantReference } from "./write.js";

const GRANT_ERROR = "must be a name, or an object with id or name";

/** A role or permission that a key is given: its name, or `{ id }`, `{ name }` or `{ name, create: true }`. */
const grant = z.union(
  [
    grantName,
    z
      .strictObject({ id: id.optional(), name: grantName.optional(), create: flag.optional() })
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

/** References to roles or permissions, and what is to be told of those that are made on demand. */
export interface DescribedGrants<Definition> {
  readonly references: readonly GrantReference<Definition>[];
  readonly changes: readonly LoggedChange[];
}

/** Reads a list of roles. One that may be made is made without permissions. */
export function describeRoles(
  context: Noting,
  items: readonly GrantItem[],
  now: EpochMs,
): DescribedGrants<RoleRecord> {
  return describeGrants(context, "role", items, now, (base) => ({ ...base, version: 1 }));
}

/** Reads a list of permissions. */
export function describePermissions(
  context: Noting,
  items: readonly GrantItem[],
  now: EpochMs,
): DescribedGrants<PermissionRecord> {
  return describeGrants(context, "permission", items, now, (base) => base);
}

function describeGrants<Definition extends PermissionRecord>(
  context: Noting,
  kind: "role" | "permission",
  items: readonly GrantItem[],
  now: EpochMs,
  toDefinition: (base: PermissionRecord) => Definition,
): DescribedGrants<Definition> {
  const changes: LoggedChange[] = [];
  const references = items.map((item): GrantReference<Definition> => {
    const { id, name, create } =
      typeof item === "string" ? { id: undefined, name: item, create: false } : item;
    if (id !== undefined) return { kind: "id", id };
    const named = name as string;
    if (create !== true) return { kind: "name", name: named, orCreate: null };
    const grantId = context.newId(kind === "role" ? "role" : "perm");
    const { workspaceId } = context;
    const base = { id: grantId, workspaceId, name: named, description: null, createdAt: now };
    changes.push(
      noteChange(context, {
        type: `${kind}.created`,
        at: now,
        resourceId: grantId,
        after: { name: named },
        ifCreated: true,
      }),
    );
    return { kind: "name", name: named, orCreate: toDefinition(base) };
  });
  return { references, changes };
}

/** What an item names a role or permission by: its id, or its name. */
export function grantLabel(item: GrantItem): string {
  return typeof item === "string" ? item : (item.id ?? (item.name as string));
}

/**
 * What a key holds once it is given these, for the audit log: by name, ascending, each once. One that is given by an id
 * is named where the key holds it already.
 */
export function grantLabels(
  items: readonly GrantItem[],
  held: readonly NamedGrant[],
): readonly string[] {
  const labels = items.map((item) => {
    const label = grantLabel(item);
    const isId = typeof item !== "string" && item.id !== undefined;
    return (isId ? held.find(({ id }) => id === label)?.name : undefined) ?? label;
  });
  return [...new Set(labels)].sort();
}

/** Whether one that a key held when it was read is gone, and is missing for no other reason than that. */
export function isHeldOneMissing(
  held: readonly NamedGrant[],
  references: readonly GrantReference<unknown>[] | undefined,
  missing: readonly string[],
): boolean {
  const isNamed = (label: string) =>
    references?.some((reference) => reference.kind === "name" && reference.name === label);
  return missing.some((label) => held.some(({ id }) => id === label) && !isNamed(label));
}
