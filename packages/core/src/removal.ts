import { nextTurn } from "./next-turn.js";
import type { Removal } from "./store.js";

/** Items forgotten in one step: some milliseconds on every store. */
const BATCH_SIZE = 500;

/**
 * Repeats a bounded step of forgetting until nothing is left to forget, and lets other work of this process through between
 * two of them.
 *
 * @param step - Forgets at most so many items.
 * @returns How many were forgotten in all.
 */
export async function removeAll(
  step: (limit: number) => Promise<Removal>,
): Promise<{ readonly deleted: number }> {
  let total = 0;
  for (;;) {
    const { deleted, hasMore } = await step(BATCH_SIZE);
    total += deleted;
    if (!hasMore) return { deleted: total };
    await nextTurn();
  }
}
