import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type GrantInput, permissionList } from "./grant-input.js";
import { addGrants, type KeyPermissions } from "./grants.js";

/** Input of addPermissions. */
export interface AddPermissionsInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Id of the key. */
  readonly keyId: string;
  /** The permissions that it is given beside those that it holds: at most 1,000, by name or id. */
  readonly permissions: readonly GrantInput<PermissionName<Types>>[];
}

/** Schema of the input of addPermissions. */
export const addPermissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/** @see KeyGrantOperations.addPermissions */
export async function addPermissions(
  context: OperationContext,
  input: AddPermissionsInput,
): Promise<KeyPermissions> {
  const { keyId, permissions } = parseInput(addPermissionsInput, input);
  return { permissions: await addGrants(context, "permission", keyId, permissions) };
}
