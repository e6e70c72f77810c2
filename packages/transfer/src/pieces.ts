/** A list in pieces of at most `size` items, because a store step takes no more. */
export function* piecesOf<Item>(
  items: readonly Item[],
  size: number,
): Generator<readonly Item[], void, void> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
