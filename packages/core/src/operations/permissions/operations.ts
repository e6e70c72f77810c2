import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { CreatedRole, CreateRoleInput } from "../roles/create-role.js";
import type { DeleteRoleInput } from "../roles/delete-role.js";
import type { GetRoleInput } from "../roles/get-role.js";
import type { SetRolePermissionsInput } from "../roles/set-role-permissions.js";
import type { PermissionView, RoleView } from "../roles/view.js";
import type { CreatedPermission, CreatePermissionInput } from "./create-permission.js";
import type { DeletePermissionInput } from "./delete-permission.js";
import type { GetPermissionInput } from "./get-permission.js";

/** Operations on permissions and roles. */
export interface PermissionOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates a permission that keys and roles of this workspace can be given.
   *
   * @throws LatchkeyError `CONFLICT` when the name is taken.
   * @example
   * const { permissionId } = await latchkey.createPermission({ name: "docs.write" });
   */
  createPermission(input: CreatePermissionInput<Types>): Promise<CreatedPermission>;
  /**
   * Reads a permission.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such permission.
   * @example
   * const { name } = await latchkey.getPermission({ permissionId });
   */
  getPermission(input: GetPermissionInput): Promise<PermissionView<Types>>;
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
  deletePermission(input: DeletePermissionInput): Promise<Record<string, never>>;
  /**
   * Creates a role with its permissions.
   *
   * @throws LatchkeyError `CONFLICT` when the name is taken, `PRECONDITION_FAILED` naming every permission that does not exist;
   * nothing is written then.
   * @example
   * const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["docs.read"] });
   */
  createRole(input: CreateRoleInput<Types>): Promise<CreatedRole>;
  /**
   * Reads a role with its permissions.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role.
   * @example
   * const { permissions } = await latchkey.getRole({ roleId });
   */
  getRole(input: GetRoleInput): Promise<RoleView<Types>>;
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
  setRolePermissions(input: SetRolePermissionsInput<Types>): Promise<Record<string, never>>;
  /**
   * Deletes a role. No key has it, nor the permissions that came with it, any more, with the next verification; its name is
   * free. The permissions themselves stay. A role whose record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such role.
   * @example
   * await latchkey.deleteRole({ roleId });
   */
  deleteRole(input: DeleteRoleInput): Promise<Record<string, never>>;
}
