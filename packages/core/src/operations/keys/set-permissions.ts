import { z } from "zod";
import type { DefaultTypes, LatchkeyTypes, PermissionName } from "../../rules/latchkey-types.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type GrantInput, permissionList } from "./grant-input.js";
import { type KeyPermissions, setGrants } from "./grants.js";

/** Input of setPermissions. */
export interface SetPermissionsInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** Id of the key. */
  readonly keyId: string;
  /** The permissions that it holds itself from now on; an empty list clears them: at most 1,000, by name or id. */
  readonly permissions: readonly GrantInput<PermissionName<Types>>[];
}

/** Schema of the input of setPermissions. */
export const setPermissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/** @see KeyGrantOperations.setPermissions */
export async function setPermissions(
  context: OperationContext,
  input: SetPermissionsInput,
): Promise<KeyPermissions> {
  const { keyId, permissions } = parseInput(setPermissionsInput, input);
  return { permissions: await setGrants(context, "permission", keyId, permissions) };
}
