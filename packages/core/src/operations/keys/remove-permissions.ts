import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type GrantInput, permissionList } from "./grant-input.js";
import { type KeyPermissions, removeGrants } from "./grants.js";

/** Input of removePermissions. */
export interface RemovePermissionsInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Id of the key. */
  readonly keyId: string;
  /** The permissions that it holds itself no longer: at most 1,000, by name or id. */
  readonly permissions: readonly GrantInput<PermissionName<Types>>[];
}

/** Schema of the input of removePermissions. */
export const removePermissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/** @see KeyGrantOperations.removePermissions */
export async function removePermissions(
  context: OperationContext,
  input: RemovePermissionsInput,
): Promise<KeyPermissions> {
  const { keyId, permissions } = parseInput(removePermissionsInput, input);
  return { permissions: await removeGrants(context, "permission", keyId, permissions) };
}
