import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { GrantInput } from "./grant-input.js";
import type { KeyReference } from "./operations.js";

/** Input of addRoles, setRoles and removeRoles. */
export type KeyRolesInput = KeyReference & {
  /** Roles, by name or id: at most 100. */
  readonly roles: readonly GrantInput[];
};

/** Input of addPermissions, setPermissions and removePermissions. */
export type KeyPermissionsInput<Types extends LatchkeyTypes = DefaultTypes> = KeyReference & {
  /** Permissions, by name or id: at most 1,000. */
  readonly permissions: readonly GrantInput<PermissionName<Types>>[];
};

/** Roles that a key holds itself. */
export interface KeyRoles {
  /** In ascending order of name. */
  readonly roles: readonly NamedGrant[];
}

/** Permissions that a key holds itself, without those of its roles. */
export interface KeyPermissions<Types extends LatchkeyTypes = DefaultTypes> {
  /** In ascending order of name. */
  readonly permissions: readonly NamedGrant<PermissionName<Types>>[];
}

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
  addRoles(input: KeyRolesInput): Promise<KeyRoles>;
  /**
   * Makes these all the roles that a key holds itself; an empty list clears them.
   *
   * @returns The roles that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming every role that does not exist. Nothing is written then.
   * @example
   * const { roles } = await latchkey.setRoles({ keyId, roles: ["editor"] });
   */
  setRoles(input: KeyRolesInput): Promise<KeyRoles>;
  /**
   * Takes roles from a key. One that the key does not hold is passed over.
   *
   * @returns The roles that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming every role that does not exist. Nothing is written then.
   * @example
   * const { roles } = await latchkey.removeRoles({ keyId, roles: ["editor"] });
   */
  removeRoles(input: KeyRolesInput): Promise<KeyRoles>;
  /**
   * Gives a key further permissions. Concurrent calls lose nothing of each other.
   *
   * @returns The permissions that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that does not
   * exist, or where the key would hold more than 1,000 permissions itself; nothing is written then.
   * @example
   * const { permissions } = await latchkey.addPermissions({ keyId, permissions: ["docs.read"] });
   */
  addPermissions(input: KeyPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
  /**
   * Makes these all the permissions that a key holds itself; an empty list clears them.
   *
   * @returns The permissions that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming every permission that does not exist. Nothing is written then.
   * @example
   * const { permissions } = await latchkey.setPermissions({ keyId, permissions: ["docs.read"] });
   */
  setPermissions(input: KeyPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
  /**
   * Takes permissions from a key. One that the key does not hold is passed over.
   *
   * @returns The permissions that it then holds itself.
   * @throws LatchkeyError `NOT_FOUND`; `PRECONDITION_FAILED` naming every permission that does not exist. Nothing is written then.
   * @example
   * const { permissions } = await latchkey.removePermissions({ keyId, permissions: ["docs.read"] });
   */
  removePermissions(input: KeyPermissionsInput<Types>): Promise<KeyPermissions<Types>>;
}
