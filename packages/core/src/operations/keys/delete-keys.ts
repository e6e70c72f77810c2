import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";
import { deleteAllKeys } from "./delete-all.js";

/** Input of deleteKeys. */
export const deleteKeysInput = z.strictObject({ apiId: id });

/**
 * Deletes every key of an API, in bounded steps: while it runs, other calls get through. A key that is issued meanwhile
 * may or may not be among them.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such API.
 */
export async function deleteKeys(
  context: OperationContext,
  input: z.input<typeof deleteKeysInput>,
): Promise<{ readonly deletedKeys: number }> {
  const { apiId } = parseInput(deleteKeysInput, input);
  const { found } = await context.store.read(context.workspaceId, [{ kind: "api", id: apiId }]);
  if (found[0] === null) throw notFound("API");
  return { deletedKeys: await deleteAllKeys(context, apiId) };
}
