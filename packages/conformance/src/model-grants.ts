import type {
  ChangeLog,
  GrantReference,
  Grants,
  LoadedRole,
  MissingGrants,
  NamedGrant,
  PermissionRecord,
  RoleRecord,
} from "@latchkey/core";
import { note } from "./model-log.js";
import { idsOf, isNamesake, missingOf } from "./model-references.js";
import type { Model, ModelKey, ModelRole } from "./model-state.js";

type PermissionReferences = readonly GrantReference<PermissionRecord>[];

/** Mirrors `insertPermission`. */
export function insertPermission(
  model: Model,
  permission: PermissionRecord,
  log: ChangeLog,
): "inserted" | "name-taken" {
  if (model.permissions.some((known) => isNamesake(known, permission))) return "name-taken";
  model.permissions.push(permission);
  note(model, log);
  return "inserted";
}

/** Mirrors `deletePermission`. */
export function deletePermission(
  model: Model,
  workspaceId: string,
  permissionId: string,
  log: ChangeLog,
): "deleted" | "not-found" {
  const isMeant = (known: PermissionRecord) =>
    known.id === permissionId && known.workspaceId === workspaceId;
  if (!model.permissions.some(isMeant)) return "not-found";
  model.permissions = model.permissions.filter((known) => !isMeant(known));
  note(model, log);
  return "deleted";
}

/** Mirrors `insertRole`. */
export function insertRole(
  model: Model,
  role: RoleRecord,
  references: PermissionReferences,
  log: ChangeLog,
) {
  if (model.roles.some(({ record }) => isNamesake(record, role))) return { kind: "name-taken" };
  const missing = missingGrants(model, role.workspaceId, { permissions: references });
  if (missing !== null) return missing;
  const created: string[] = [];
  const permissionIds = grantPermissions(model, role.workspaceId, references, created);
  model.roles.push({ record: role, permissionIds });
  note(model, log, { created, linked: new Map() });
  return { kind: "inserted" };
}

/** Mirrors `setRolePermissions`. */
export function setRolePermissions(
  model: Model,
  workspaceId: string,
  roleId: string,
  expectedVersion: number,
  references: PermissionReferences,
  log: ChangeLog,
) {
  const role = model.role(workspaceId, roleId);
  if (role === undefined) return { kind: "not-found" };
  if (role.record.version !== expectedVersion) return { kind: "stale" };
  const missing = missingGrants(model, workspaceId, { permissions: references });
  if (missing !== null) return missing;
  const created: string[] = [];
  role.permissionIds = grantPermissions(model, workspaceId, references, created);
  role.record = { ...role.record, version: role.record.version + 1 };
  note(model, log, { created, linked: new Map() });
  return { kind: "updated" };
}

/** Mirrors `deleteRole`. */
export function deleteRole(
  model: Model,
  workspaceId: string,
  roleId: string,
  log: ChangeLog,
): "deleted" | "not-found" {
  const role = model.role(workspaceId, roleId);
  if (role === undefined) return "not-found";
  model.roles = model.roles.filter((known) => known !== role);
  note(model, log);
  return "deleted";
}

/** A role as it is read. */
export function loadRole(model: Model, { record, permissionIds }: ModelRole): LoadedRole {
  return { role: record, permissions: namedGrants(model.permissions, permissionIds) };
}

/** What of these exists, in ascending order of name. */
export function namedGrants(
  known: readonly NamedGrant[],
  ids: readonly string[],
): readonly NamedGrant[] {
  return known
    .filter(({ id }) => ids.includes(id))
    .map(({ id, name }) => ({ id, name }))
    .sort((one, two) => (one.name < two.name ? -1 : 1));
}

/** Names and ids that nothing in the workspace goes by; null where there are none. */
export function missingGrants(
  model: Model,
  workspaceId: string,
  { roles = [], permissions = [] }: Grants,
): MissingGrants | null {
  const known = model.roles.map(({ record }) => record);
  const refusal = {
    kind: "missing-grants",
    roles: missingOf(known, workspaceId, roles),
    permissions: missingOf(model.permissions, workspaceId, permissions),
  } as const;
  return refusal.roles.length + refusal.permissions.length === 0 ? null : refusal;
}

/** Gives a key what exists or may be created, and adds to `created` what had to be. */
export function grant(
  model: Model,
  key: ModelKey,
  { roles, permissions }: Grants,
  created: string[],
): void {
  const { workspaceId } = key.record;
  for (const reference of roles ?? []) {
    if (reference.kind !== "name" || reference.orCreate === null) continue;
    const { kind } = insertRole(model, reference.orCreate, [], []);
    if (kind === "inserted") created.push(reference.orCreate.id);
  }
  const known = model.roles.map(({ record }) => record);
  if (roles) key.roleIds = idsOf(known, workspaceId, roles);
  if (permissions) {
    key.permissionIds = grantPermissions(model, workspaceId, permissions, created);
  }
}

function grantPermissions(
  model: Model,
  workspaceId: string,
  references: PermissionReferences,
  created: string[],
): readonly string[] {
  for (const reference of references) {
    if (reference.kind !== "name" || reference.orCreate === null) continue;
    const answer = insertPermission(model, reference.orCreate, []);
    if (answer === "inserted") created.push(reference.orCreate.id);
  }
  return idsOf(model.permissions, workspaceId, references);
}
