import { z } from "zod";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { roleList } from "./grant-input.js";
import { setGrants } from "./grants.js";

/**
 * Input of setRoles. At most 100; an item names one by `id`, which wins, or `name`; with `create: true` a missing name
 * is made in the same write.
 */
export const setRolesInput = z.strictObject({ keyId: id, roles: roleList });

/**
 * Makes these all the roles that a key holds itself; an empty list clears them.
 *
 * @returns The roles that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every role that
 * does not exist; nothing is written then.
 */
export async function setRoles(
  context: OperationContext,
  input: z.input<typeof setRolesInput>,
): Promise<{ readonly roles: readonly NamedGrant[] }> {
  const { keyId, roles } = parseInput(setRolesInput, input);
  return { roles: await setGrants(context, "role", keyId, roles) };
}
