import { z } from "zod";
import { notFound, type OperationContext } from "../context.js";
import { id, parseInput } from "../input.js";

/** Input of deleteKey. */
export const deleteKeyInput = z.strictObject({ keyId: id });

/**
 * Deletes a key. When this has resolved, no verification that starts later, from any process, succeeds; its encrypted
 * secret is erased.
 *
 * @throws LatchkeyError `NOT_FOUND` when this workspace has no such key.
 */
export async function deleteKey(
  context: OperationContext,
  input: z.input<typeof deleteKeyInput>,
): Promise<Record<string, never>> {
  const { keyId } = parseInput(deleteKeyInput, input);
  const outcome = await context.store.deleteKey(context.workspaceId, keyId, context.now());
  if (outcome === "not-found") throw notFound("key");
  return {};
}
