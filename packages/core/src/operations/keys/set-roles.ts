import { z } from "zod";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type GrantInput, roleList } from "./grant-input.js";
import { type KeyRoles, setGrants } from "./grants.js";

/** Input of setRoles. */
export interface SetRolesInput {
  /** Id of the key. */
  readonly keyId: string;
  /** The roles that it holds itself from now on; an empty list clears them: at most 100, by name or id. */
  readonly roles: readonly GrantInput[];
}

/** Schema of the input of setRoles. */
export const setRolesInput = z.strictObject({ keyId: id, roles: roleList });

/** @see KeyGrantOperations.setRoles */
export async function setRoles(context: OperationContext, input: SetRolesInput): Promise<KeyRoles> {
  const { keyId, roles } = parseInput(setRolesInput, input);
  return { roles: await setGrants(context, "role", keyId, roles) };
}
