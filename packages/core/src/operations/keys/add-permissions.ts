import { z } from "zod";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { permissionList } from "./grant-input.js";
import { addGrants } from "./grants.js";

/**
 * Input of addPermissions. At most 1,000; an item names one by `id`, which wins, or `name`; with `create: true` a
 * missing name is made in the same write.
 */
export const addPermissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/**
 * Gives a key further permissions. Concurrent calls lose nothing of each other.
 *
 * @returns The permissions that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that
 * does not exist, or where the key would hold more than 1,000 permissions itself; nothing is written then.
 */
export async function addPermissions(
  context: OperationContext,
  input: z.input<typeof addPermissionsInput>,
): Promise<{ readonly permissions: readonly NamedGrant[] }> {
  const { keyId, permissions } = parseInput(addPermissionsInput, input);
  return { permissions: await addGrants(context, "permission", keyId, permissions) };
}
