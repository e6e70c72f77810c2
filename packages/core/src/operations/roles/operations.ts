import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";

/** A permission. */
export type PermissionReference = {
  /** Id of the permission. */
  readonly permissionId: string;
};

/** A role. */
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

/** An existing or new role. */
export interface EnsuredRole extends CreatedRole {
  /** Whether this call created it. */
  readonly created: boolean;
}

/** A permission. Fields without a value are absent. */
export interface PermissionView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `perm_…` */
  readonly id: string;
  /** Its name, unique in the workspace. */
  readonly name: PermissionName<Types>;
  /** For people. */
  readonly description?: string;
}

/** A role. Fields without a value are absent. */
export interface RoleView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `role_…` */
  readonly id: string;
  /** Its name, unique in the workspace. */
  readonly name: string;
  /** For people. */
  readonly description?: string;
  /** Names of its permissions, ascending. */
  readonly permissions: readonly PermissionName<Types>[];
}

export interface PermissionOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates a permission for keys and roles of this workspace.
   *
   * @throws LatchkeyError `CONFLICT` if the name is taken.
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
   * Creates those of these permissions that do not exist, in one write, so that you can run set-up again.
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
   * @throws LatchkeyError `NOT_FOUND`.
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
   * Deletes a permission: from the next verification on, no key and no role has it. Its name is free again. A damaged permission is deleted
   * too.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * await latchkey.deletePermission({ permissionId });
   */
  deletePermission(input: PermissionReference): Promise<Record<string, never>>;
  /**
   * Creates a role with its permissions.
   *
   * @throws LatchkeyError `CONFLICT` if the name is taken, `PRECONDITION_FAILED` naming the missing permissions; nothing is written then.
   * @example
   * const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
   */
  createRole(input: {
    /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. */
    readonly name: string;
    /** For people: at most 512 characters. */
    readonly description?: string | undefined;
    /** Names of existing permissions: at most 1,000. Default: none. */
    readonly permissions?: readonly PermissionName<Types>[] | undefined;
  }): Promise<CreatedRole>;
  /**
   * Makes sure that a role exists and has exactly these permissions, so that you can run set-up again. Creates the role and those
   * permissions that do not exist, in one write. A description stays. Of calls with different permissions, the last one wins.
   *
   * @throws LatchkeyError `STORE_CORRUPT` if the role is damaged.
   * @example
   * const { roleId } = await latchkey.ensureRole({ name: "reader", permissions: ["docs.read"] });
   */
  ensureRole(input: {
    /** 1 to 512 of `A-Z a-z 0-9 _ . : * -`. */
    readonly name: string;
    /** Names of all its permissions: at most 1,000. */
    readonly permissions: readonly PermissionName<Types>[];
  }): Promise<EnsuredRole>;
  /**
   * Reads a role with its permissions.
   *
   * @throws LatchkeyError `NOT_FOUND`.
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
   * Replaces the permissions of a role. The next verification of its keys sees the change.
   *
   * @throws LatchkeyError `NOT_FOUND`, `PRECONDITION_FAILED` naming the missing permissions; nothing is written then.
   * @example
   * await latchkey.setRolePermissions({ roleId, permissions: ["docs.read"] });
   */
  setRolePermissions(
    input: RoleReference & {
      /** Names of all its permissions: at most 1,000; an empty list clears them. */
      readonly permissions: readonly PermissionName<Types>[];
    },
  ): Promise<Record<string, never>>;
  /**
   * Deletes a role: from the next verification on, no key has it or what it granted. The permissions themselves stay. Its name is free
   * again. A damaged role is deleted too.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * await latchkey.deleteRole({ roleId });
   */
  deleteRole(input: RoleReference): Promise<Record<string, never>>;
}
