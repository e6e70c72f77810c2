import { z } from "zod";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { type GrantInput, roleList } from "./grant-input.js";
import { addGrants, type KeyRoles } from "./grants.js";

/** Input of addRoles. */
export interface AddRolesInput {
  /** Id of the key. */
  readonly keyId: string;
  /** The roles that it is given beside those that it holds: at most 100, by name or id. */
  readonly roles: readonly GrantInput[];
}

/** Schema of the input of addRoles. */
export const addRolesInput = z.strictObject({ keyId: id, roles: roleList });

/** @see KeyGrantOperations.addRoles */
export async function addRoles(context: OperationContext, input: AddRolesInput): Promise<KeyRoles> {
  const { keyId, roles } = parseInput(addRolesInput, input);
  return { roles: await addGrants(context, "role", keyId, roles) };
}
