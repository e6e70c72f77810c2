import { piecesOf } from "./pieces.js";

/** Workspaces that something is done with at the same time. */
const AT_ONCE = 20;

/**
 * Does something with each of these workspaces, with some of them at the same time: a store may have thousands, and each takes round trips.
 * Waits for all that it began, also if one fails.
 *
 * @returns The results, in order.
 * @throws The error of the first that failed.
 */
export async function withEach<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const some of piecesOf([...items], AT_ONCE)) {
    for (const outcome of await Promise.allSettled(some.map(work))) {
      if (outcome.status === "rejected") throw outcome.reason;
      results.push(outcome.value);
    }
  }
  return results;
}
