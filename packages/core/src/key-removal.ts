import type { OperationContext } from "./context.js";

/** Keys deleted in one step: some milliseconds on every store. */
const BATCH_SIZE = 200;

/**
 * Deletes every key of an API in bounded steps, and lets other work of this process through between them.
 *
 * @returns How many keys were deleted.
 */
export async function deleteAllKeys(
  { store, workspaceId, now }: OperationContext,
  apiId: string,
): Promise<number> {
  let deletedKeys = 0;
  for (;;) {
    const { deleted, hasMore } = await store.deleteKeys(workspaceId, apiId, BATCH_SIZE, now());
    deletedKeys += deleted;
    if (!hasMore) return deletedKeys;
    await nextTurn();
  }
}

/** A store without I/O never leaves the turn of the event loop by itself. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
