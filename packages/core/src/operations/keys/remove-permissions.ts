import { z } from "zod";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { permissionList } from "./grant-input.js";
import { removeGrants } from "./grants.js";

/**
 * Input of removePermissions. At most 1,000; an item names one by `id`, which wins, or `name`; `create` is accepted and
 * makes nothing here.
 */
export const removePermissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/**
 * Takes permissions from a key. One that the key does not hold is passed over.
 *
 * @returns The permissions that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that
 * does not exist; nothing is written then.
 */
export async function removePermissions(
  context: OperationContext,
  input: z.input<typeof removePermissionsInput>,
): Promise<{ readonly permissions: readonly NamedGrant[] }> {
  const { keyId, permissions } = parseInput(removePermissionsInput, input);
  return { permissions: await removeGrants(context, "permission", keyId, permissions) };
}
