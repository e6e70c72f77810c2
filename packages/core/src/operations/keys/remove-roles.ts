import { z } from "zod";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type GrantInput, roleList } from "./grant-input.js";
import { type KeyRoles, removeGrants } from "./grants.js";

/** Input of removeRoles. */
export interface RemoveRolesInput {
  /** Id of the key. */
  readonly keyId: string;
  /** The roles that it holds itself no longer: at most 100, by name or id. */
  readonly roles: readonly GrantInput[];
}

/** Schema of the input of removeRoles. */
export const removeRolesInput = z.strictObject({ keyId: id, roles: roleList });

/** @see KeyGrantOperations.removeRoles */
export async function removeRoles(
  context: OperationContext,
  input: RemoveRolesInput,
): Promise<KeyRoles> {
  const { keyId, roles } = parseInput(removeRolesInput, input);
  return { roles: await removeGrants(context, "role", keyId, roles) };
}
