import type {
  GrantReference,
  Grants,
  LoggedChange,
  PermissionRecord,
  RoleRecord,
} from "@latchkey/core";
import { aPermission, aRole, byId, idOf, named, orCreate } from "./fixtures.js";
import { type Reference, WORKSPACES } from "./model-arbitraries.js";
import type { World } from "./model-world.js";

/** References to roles and permissions, as steps draw them. */
export interface DrawnGrants {
  readonly roles?: readonly Reference[];
  readonly permissions?: readonly Reference[];
}

/** The permission of an index in a workspace, under an id that was not given before. */
export function newPermission(world: World, index: number, workspace: number): PermissionRecord {
  const workspaceId = WORKSPACES[workspace] as string;
  return aPermission(`perm${index}`, world.count(), { workspaceId });
}

/** The role of an index in a workspace, under an id that was not given before. */
export function newRole(world: World, index: number, workspace: number): RoleRecord {
  const workspaceId = WORKSPACES[workspace] as string;
  return aRole(`role${index}`, world.count(), { workspaceId });
}

/** References to permissions as the port takes them. */
export function permissionsIn(
  world: World,
  workspace: number,
  references: readonly Reference[],
): readonly GrantReference<PermissionRecord>[] {
  const known = world.model.permissions;
  return references.map((reference) =>
    referenceTo(newPermission(world, reference.index, workspace), known, reference),
  );
}

/** Grants as the port takes them. */
export function grantsIn(
  world: World,
  workspace: number,
  { roles, permissions }: DrawnGrants,
): Grants {
  const known = world.model.roles.map(({ record }) => record);
  return {
    roles: roles?.map((reference) =>
      referenceTo(newRole(world, reference.index, workspace), known, reference),
    ),
    permissions: permissions && permissionsIn(world, workspace, permissions),
  };
}

/** What is to be logged of the roles and permissions that may be created. */
export function creationsIn(world: World, { roles = [], permissions = [] }: Grants) {
  return [
    ...roles.flatMap((reference) => creation(world, "role.created", reference)),
    ...permissions.flatMap((reference) => creation(world, "permission.created", reference)),
  ];
}

function creation(
  world: World,
  type: "role.created" | "permission.created",
  reference: GrantReference<RoleRecord | PermissionRecord>,
): readonly LoggedChange[] {
  if (reference.kind === "id" || reference.orCreate === null) return [];
  const { id, workspaceId } = reference.orCreate;
  return [{ ...world.entry(workspaceId, type, id), ifCreated: true }];
}

function referenceTo<Definition extends PermissionRecord | RoleRecord>(
  definition: Definition,
  known: readonly Definition[],
  { by }: Reference,
): GrantReference<Definition> {
  if (by === "create") return orCreate(definition);
  if (by === "name") return named(definition.name);
  const { workspaceId, name } = definition;
  const found = known.find((item) => item.workspaceId === workspaceId && item.name === name);
  return byId(found?.id ?? idOf("none", 1));
}
