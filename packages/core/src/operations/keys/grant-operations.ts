import type { DefaultTypes, LatchkeyTypes } from "../../rules/latchkey-types.js";
import type { AddPermissionsInput } from "./add-permissions.js";
import type { AddRolesInput } from "./add-roles.js";
import type { KeyPermissions, KeyRoles } from "./grants.js";
import type { RemovePermissionsInput } from "./remove-permissions.js";
import type { RemoveRolesInput } from "./remove-roles.js";
import type { SetPermissionsInput } from "./set-permissions.js";
import type { SetRolesInput } from "./set-roles.js";

/** Operations on the roles and permissions that a key holds itself. */
export interface KeyGrantOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Gives a key further roles. Concurrent calls lose nothing of each other.
   *
   * @returns The roles that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every role that does not
   * exist, or where the key would hold more than 100 roles itself; nothing is written then.
   * @example
   * const { roles } = await latchkey.addRoles({ keyId, roles: ["editor"] });
   */
  addRoles(input: AddRolesInput): Promise<KeyRoles>;
  /**
   * Makes these all the roles that a key holds itself; an empty list clears them.
   *
   * @returns The roles that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every role that does not
   * exist; nothing is written then.
   * @example
   * const { roles } = await latchkey.setRoles({ keyId, roles: ["editor"] });
   */
  setRoles(input: SetRolesInput): Promise<KeyRoles>;
  /**
   * Takes roles from a key. One that the key does not hold is passed over.
   *
   * @returns The roles that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every role that does not
   * exist; nothing is written then.
   * @example
   * const { roles } = await latchkey.removeRoles({ keyId, roles: ["editor"] });
   */
  removeRoles(input: RemoveRolesInput): Promise<KeyRoles>;
  /**
   * Gives a key further permissions. Concurrent calls lose nothing of each other.
   *
   * @returns The permissions that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that does not
   * exist, or where the key would hold more than 1,000 permissions itself; nothing is written then.
   * @example
   * const { permissions } = await latchkey.addPermissions({ keyId, permissions: ["docs.read"] });
   */
  addPermissions(input: AddPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
  /**
   * Makes these all the permissions that a key holds itself; an empty list clears them.
   *
   * @returns The permissions that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that does not
   * exist; nothing is written then.
   * @example
   * const { permissions } = await latchkey.setPermissions({ keyId, permissions: ["docs.read"] });
   */
  setPermissions(input: SetPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
  /**
   * Takes permissions from a key. One that the key does not hold is passed over.
   *
   * @returns The permissions that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that does not
   * exist; nothing is written then.
   * @example
   * const { permissions } = await latchkey.removePermissions({ keyId, permissions: ["docs.read"] });
   */
  removePermissions(input: RemovePermissionsInput<Types>): Promise<KeyPermissions<Types>>;
}
