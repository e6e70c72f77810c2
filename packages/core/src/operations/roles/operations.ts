import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";

/** Which permission is meant. */
export type PermissionReference = {
  /** Id of the permission. */
  readonly permissionId: string;
};

/** Which role is meant. */
export type RoleReference = {
  /** Id of the role. */
  readonly roleId: string;
};

/** A permission that was created. */
export interface CreatedPermission {
  /** `perm_…` */
  readonly permissionId: string;
}

/** A role that was created. */
export interface CreatedRole {
  /** `role_…` */
  readonly roleId: string;
}

/** The permissions that ensurePermissions created. */
export interface EnsuredPermissions<Types extends LatchkeyTypes = DefaultTypes> {
  /** Their names, in the order given. */
  readonly created: readonly PermissionName<Types>[];
}

/** A role that is there, made by this call or before. */
export interface EnsuredRole extends CreatedRole {
  /** Whether this call made it. */
  readonly created: boolean;
}

/** A permission as it is shown. Fields without a value are absent. */
export interface PermissionView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `perm_…` */
  readonly id: string;
  /** Its name, unique in the workspace. */
  readonly name: PermissionName<Types>;
  /** For people. */
  readonly description?: string;
}

/** A role as it is shown. Fields without a value are absent. */
export interface RoleView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `role_…` */
  readonly id: string;
  /** Its name, unique in the workspace. */
  readonly name: string;
  /** For people. */
  readonly description?: string;
  /** Names of the permissions that every key with the role has, ascending. */
  readonly permissions: readonly PermissionName<Types>[];
}

/** Operations on permissions and roles. */
export interface PermissionOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates a permission that keys and roles of this workspace can be given.
   *
   * @throws LatchkeyError `CONFLICT` when the name is taken.
   * @example
   * const { permissionId } = await latchkey.createPermission({ name: "docs.write" });
   */
  createPermission(input: {
    /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. `docs.*` grants all below `docs.`, `*` everything. */
    readonly name: PermissionName<Types>;
    /** For people: at most 512 characters. */
    readonly description?: string | undefined;
  }): Promise<CreatedPermission>;
  /**
   * Makes sure that these permissions exist, for programs that set up what they need and may run again: those that do not are
   * created, in one write. Nothing is written where all of them exist.
   *
   * @param names - At most 1,000.
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * await latchkey.ensurePermissions(["docs.read", "docs.write"]);
   */
  ensurePermissions(names: readonly PermissionName<Types>[]): Promise<EnsuredPermissions<Types>>;
  /**
   * Reads a permission.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such permission.
   * @example
   * const { name } = await latchkey.getPermission({ permissionId });
   */
  getPermission(input: PermissionReference): Promise<PermissionView<Types>>;
  /**
   * Lists all permissions of the workspace, in the order of their creation. Damaged ones are left out.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * const names = (await latchkey.listPermissions()).map(({ name }) => name);
   */
  listPermissions(): Promise<readonly PermissionView<Types>[]>;
  /**
   * Deletes a permission. No key and no role has it any more, with the next verification; its name is free. A permission whose
   * record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such permission.
   * @example
   * await latchkey.deletePermission({ permissionId });
   */
  deletePermission(input: PermissionReference): Promise<Record<string, never>>;
  /**
   * Creates a role with its permissions.
   *
   * @throws LatchkeyError `CONFLICT` when the name is taken, `PRECONDITION_FAILED` naming every permission that does not exist;
   * nothing is written then.
   * @example
   * const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
   */
  createRole(input: {
    /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. */
    readonly name: string;
    /** For people: at most 512 characters. */
    readonly description?: string | undefined;
    /** Names of existing permissions that every key with the role has: at most 1,000, none unless given. */
    readonly permissions?: readonly PermissionName<Types>[] | undefined;
  }): Promise<CreatedRole>;
  /**
   * Makes sure that a role exists and has exactly these permissions, for programs that set up what they need and may run again:
   * the role and permissions that do not exist are created, in one write. A description stays. Nothing is written where all is so.
   *
   * @throws LatchkeyError `STORE_CORRUPT` where the role is damaged.
   * @example
   * const { roleId } = await latchkey.ensureRole({ name: "reader", permissions: ["docs.read"] });
   */
  ensureRole(input: {
    /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. */
    readonly name: string;
    /** Names of all permissions that every key with the role has: at most 1,000. Those that do not exist are created. */
    readonly permissions: readonly PermissionName<Types>[];
  }): Promise<EnsuredRole>;
  /**
   * Reads a role with its permissions.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role.
   * @example
   * const { permissions } = await latchkey.getRole({ roleId });
   */
  getRole(input: RoleReference): Promise<RoleView<Types>>;
  /**
   * Lists all roles of the workspace with their permissions, in the order of their creation. Damaged ones are left out.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`.
   * @example
   * const names = (await latchkey.listRoles()).map(({ name }) => name);
   */
  listRoles(): Promise<readonly RoleView<Types>[]>;
  /**
   * Makes these the permissions of a role. Every key that has the role sees it with its next verification.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role, `PRECONDITION_FAILED` naming every permission that
   * does not exist; nothing is written then.
   * @example
   * await latchkey.setRolePermissions({ roleId, permissions: ["docs.read"] });
   */
  setRolePermissions(
    input: RoleReference & {
      /** Names of all permissions that every key with the role has: at most 1,000; an empty list clears them. */
      readonly permissions: readonly PermissionName<Types>[];
    },
  ): Promise<Record<string, never>>;
  /**
   * Deletes a role. No key has it, nor the permissions that came with it, any more, with the next verification; its name is
   * free. The permissions themselves stay. A role whose record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role.
   * @example
   * await latchkey.deleteRole({ roleId });
   */
  deleteRole(input: RoleReference): Promise<Record<string, never>>;
}
