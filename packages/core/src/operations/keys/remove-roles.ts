import { z } from "zod";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { roleList } from "./grant-input.js";
import { removeGrants } from "./grants.js";

/**
 * Input of removeRoles. At most 100; an item names one by `id`, which wins, or `name`; `create` is accepted and makes
 * nothing here.
 */
export const removeRolesInput = z.strictObject({ keyId: id, roles: roleList });

/**
 * Takes roles from a key. One that the key does not hold is passed over.
 *
 * @returns The roles that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every role that
 * does not exist; nothing is written then.
 */
export async function removeRoles(
  context: OperationContext,
  input: z.input<typeof removeRolesInput>,
): Promise<{ readonly roles: readonly NamedGrant[] }> {
  const { keyId, roles } = parseInput(removeRolesInput, input);
  return { roles: await removeGrants(context, "role", keyId, roles) };
}
