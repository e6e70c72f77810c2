import { z } from "zod";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { roleList } from "./grant-input.js";
import { addGrants } from "./grants.js";

/**
 * Input of addRoles. At most 100; an item names one by `id`, which wins, or `name`; with `create: true` a missing name
 * is made in the same write.
 */
export const addRolesInput = z.strictObject({ keyId: id, roles: roleList });

/**
 * Gives a key further roles. Concurrent calls lose nothing of each other.
 *
 * @returns The roles that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every role that
 * does not exist, or where the key would hold more than 100 roles itself; nothing is written then.
 */
export async function addRoles(
  context: OperationContext,
  input: z.input<typeof addRolesInput>,
): Promise<{ readonly roles: readonly NamedGrant[] }> {
  const { keyId, roles } = parseInput(addRolesInput, input);
  return { roles: await addGrants(context, "role", keyId, roles) };
}
