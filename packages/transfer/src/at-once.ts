import { piecesOf } from "./pieces.js";

/** Workspaces that something is done with at the same time. */
const AT_ONCE = 20;

/**
 * Does something with each of these workspaces or records, with some of them at the same time: a store may have thousands, and each takes
 * round trips. Waits for all that it began, also if one fails.
 *
 * @param atOnce - With how many at the same time.
 * @returns The results, in order.
 * @throws The error of the first that failed.
 */
export async function withEach<Item, Result>(
  items: Iterable<Item>,
  work: (item: Item) => Promise<Result>,
  atOnce = AT_ONCE,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const some of piecesOf([...items], atOnce)) {
    for (const outcome of await Promise.allSettled(some.map(work))) {
      if (outcome.status === "rejected") throw outcome.reason;
      results.push(outcome.value);
    }
  }
  return results;
}
