import { z } from "zod";
import type { NamedGrant } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { permissionList } from "./grant-input.js";
import { setGrants } from "./grants.js";

/**
 * Input of setPermissions. At most 1,000; an item names one by `id`, which wins, or `name`; with `create: true` a
 * missing name is made in the same write.
 */
export const setPermissionsInput = z.strictObject({ keyId: id, permissions: permissionList });

/**
 * Makes these all the permissions that a key holds itself; an empty list clears them.
 *
 * @returns The permissions that it then holds itself, in ascending order of name.
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key, `PRECONDITION_FAILED` naming every permission that
 * does not exist; nothing is written then.
 */
export async function setPermissions(
  context: OperationContext,
  input: z.input<typeof setPermissionsInput>,
): Promise<{ readonly permissions: readonly NamedGrant[] }> {
  const { keyId, permissions } = parseInput(setPermissionsInput, input);
  return { permissions: await setGrants(context, "permission", keyId, permissions) };
}
