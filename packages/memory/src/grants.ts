import type {
  GrantReference,
  Grants,
  LoadedRole,
  MissingGrants,
  PermissionRecord,
  RoleRecord,
} from "@latchkey/core";
import { frozenCopy } from "./frozen.js";
import { GrantCatalog } from "./grant-catalog.js";
import { HeldGrants, NO_GRANTS } from "./held-grants.js";
import { StoredPermission, StoredRole } from "./stored-grants.js";

type PermissionReferences = readonly GrantReference<PermissionRecord>[];

/** The roles and permissions that a workspace has. */
export class WorkspaceGrants {
  readonly #permissions = new GrantCatalog((record: PermissionRecord) => {
    return new StoredPermission(record);
  });
  readonly #roles = new GrantCatalog((record: RoleRecord) => new StoredRole(record, []));
  readonly #raiseEpoch: () => void;

  /** @param raiseEpoch - Called whenever a key may hold something else than before without having been touched itself. */
  constructor(raiseEpoch: () => void) {
    this.#raiseEpoch = raiseEpoch;
  }

  getPermission(permissionId: string): PermissionRecord | null {
    return this.#permissions.get(permissionId)?.record ?? null;
  }

  listPermissions(): readonly PermissionRecord[] {
    return this.#permissions.list().map(({ record }) => record);
  }

  insertPermission(permission: PermissionRecord): "inserted" | "name-taken" {
    if (this.#permissions.hasName(permission.name)) return "name-taken";
    this.#permissions.add(new StoredPermission(permission));
    return "inserted";
  }

  deletePermission(permissionId: string): "deleted" | "not-found" {
    const permission = this.#permissions.get(permissionId);
    if (permission === undefined) return "not-found";
    this.#permissions.delete(permission);
    this.#raiseEpoch();
    return "deleted";
  }

  getRole(roleId: string): LoadedRole | null {
    return this.#roles.get(roleId)?.load() ?? null;
  }

  listRoles(): readonly LoadedRole[] {
    return this.#roles.list().map((role) => role.load());
  }

  /** The ids of permissions that are made on demand are added to `created`. */
  insertRole(
    role: RoleRecord,
    permissions: PermissionReferences,
    created: string[],
  ): { readonly kind: "inserted" | "name-taken" } | MissingGrants {
    if (this.#roles.hasName(role.name)) return { kind: "name-taken" };
    const missing = this.missing([{ permissions }]);
    if (missing !== null) return missing;
    this.#roles.add(new StoredRole(role, this.#permissions.findOrCreate(permissions, created)));
    return { kind: "inserted" };
  }

  /** As {@link insertRole}, of a role that exists. */
  setRolePermissions(
    roleId: string,
    expectedVersion: number,
    permissions: PermissionReferences,
    created: string[],
  ): { readonly kind: "updated" | "not-found" | "stale" } | MissingGrants {
    const role = this.#roles.get(roleId);
    if (role === undefined) return { kind: "not-found" };
    if (role.record.version !== expectedVersion) return { kind: "stale" };
    const missing = this.missing([{ permissions }]);
    if (missing !== null) return missing;
    role.permissions = this.#permissions.findOrCreate(permissions, created);
    role.record = frozenCopy({ ...role.record, version: role.record.version + 1 });
    this.#raiseEpoch();
    return { kind: "updated" };
  }

  deleteRole(roleId: string): "deleted" | "not-found" {
    const role = this.#roles.get(roleId);
    if (role === undefined) return "not-found";
    this.#roles.delete(role);
    this.#raiseEpoch();
    return "deleted";
  }

  /** The refusal for all that the keys are to be given and that is missing, or null where nothing is. */
  missing(grantsOfKeys: readonly Grants[]): MissingGrants | null {
    const roles = new Set<string>();
    const permissions = new Set<string>();
    for (const grants of grantsOfKeys) {
      this.#roles.addMissing(grants.roles ?? [], roles);
      this.#permissions.addMissing(grants.permissions ?? [], permissions);
    }
    if (roles.size === 0 && permissions.size === 0) return null;
    return { kind: "missing-grants", roles: [...roles], permissions: [...permissions] };
  }

  /**
   * What a key holds once its sets are the ones given, of which nothing is missing; a set left undefined stays as
   * it is. The ids of what is made on demand are added to `created`.
   */
  hold(held: HeldGrants, grants: Grants, created: string[]): HeldGrants {
    const roles = grants.roles && this.#roles.findOrCreate(grants.roles, created);
    const permissions =
      grants.permissions && this.#permissions.findOrCreate(grants.permissions, created);
    const after = new HeldGrants(roles ?? held.roles, permissions ?? held.permissions);
    return after.roles.length + after.permissions.length === 0 ? NO_GRANTS : after;
  }
}
