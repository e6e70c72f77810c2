import type { Page, PageRequest } from "@latchkey/core";

/** One page of a list that is given whole. */
export function pageOf<Item>(
  items: readonly Item[],
  idOf: (item: Item) => string,
  { afterId, limit }: PageRequest,
  total = items.length,
): Page<Item> {
  const following = inOrder(items, idOf).filter((item) => afterId === null || idOf(item) > afterId);
  return { items: following.slice(0, limit), hasMore: following.length > limit, total };
}

/** A list in ascending order of id. */
export function inOrder<Item>(items: readonly Item[], idOf: (item: Item) => string): Item[] {
  return items.toSorted((one, two) => (idOf(one) < idOf(two) ? -1 : 1));
}
