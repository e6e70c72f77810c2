import type { LoadedRole, NamedGrant, PermissionRecord, RoleRecord } from "@latchkey/core";
import { inGroups } from "./pages.js";
import { asReply } from "./replies.js";
import { damaged, json, nullable, object, readStored, safe, text, whole } from "./values.js";

/** A permission as it is kept beside its id. */
export function encodePermission({ name, description, createdAt }: PermissionRecord): string {
  return JSON.stringify({ name, description, createdAt });
}

/** The opposite of {@link encodePermission}. */
export function permissionRecord(
  workspaceId: string,
  id: string,
  stored: unknown,
): PermissionRecord {
  return readStored("permission", id, () => ({ id, workspaceId, ...described(stored) }));
}

/** The last of the three lines that a role is kept in: version, ids of its permissions, the rest. */
export function encodeRole({ name, description, createdAt }: RoleRecord): string {
  return JSON.stringify({ name, description, createdAt });
}

/** The ids of the permissions that a role gives, some of which may be gone. */
export function permissionIdsOf(stored: unknown): readonly string[] {
  const ids = linesOfRole(stored)[1];
  return ids === "" ? [] : ids.split(" ");
}

/** @param permissions - Those of its permissions that exist. */
export function loadedRole(
  workspaceId: string,
  id: string,
  stored: unknown,
  permissions: readonly NamedGrant[],
): LoadedRole {
  return readStored("role", id, () => {
    const [version, , rest] = linesOfRole(stored);
    const role = { id, workspaceId, ...described(rest), version: whole(version) };
    return { role, permissions: permissions.toSorted(byName) };
  });
}

/** Reads `{id, record, id, record …}` of roles: what names them, in ascending order of name. */
export function namedRoles(reply: unknown): readonly NamedGrant[] {
  return named(reply, (stored) => described(linesOfRole(stored)[2]).name);
}

/** The same of permissions. */
export function namedPermissions(reply: unknown): readonly NamedGrant[] {
  return named(reply, (stored) => described(stored).name);
}

/** Id → record of what a script answers as `{id, record, id, record …}`. */
export function recordsById(reply: unknown): ReadonlyMap<string, unknown> {
  return new Map(inGroups(asReply(reply), 2).map(([id, stored]) => [text(id), stored]));
}

function named(reply: unknown, nameOf: (stored: unknown) => string): readonly NamedGrant[] {
  return inGroups(asReply(reply), 2)
    .map(([id, stored]) => ({ id: text(id), name: nameOf(stored) }))
    .sort(byName);
}

/** No two of one workspace have one name. */
function byName(one: NamedGrant, other: NamedGrant): number {
  return one.name < other.name ? -1 : 1;
}

function linesOfRole(stored: unknown): readonly [string, string, string] {
  const [version, ids, rest, ...more] = text(stored).split("\n");
  if (version === undefined || ids === undefined || rest === undefined) return damaged();
  return more.length > 0 ? damaged() : [version, ids, rest];
}

function described(stored: unknown) {
  const { name, description, createdAt } = object(json(stored));
  return {
    name: text(name),
    description: nullable(description, text),
    createdAt: safe(createdAt, 0),
  };
}
