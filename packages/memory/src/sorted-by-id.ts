/** Most items of one chunk: inserting or removing moves at most this many. */
const CHUNK_SIZE = 512;

/** Some of the items of a list, and whether more follow. */
export interface Slice<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
}

/**
 * Items in ascending order of id, whatever the order they are added in.
 *
 * Kept in chunks rather than in one array: taking an item out of the middle of one array of a million moves
 * half a million others. Adding, removing and paging cost two binary searches and at most one chunk.
 */
export class SortedById<Item extends { readonly id: string }> {
  readonly #chunks: Item[][] = [];
  #size = 0;

  /** Number of items, counted as they come and go. */
  get size(): number {
    return this.#size;
  }

  /** Adds an item whose id is new. */
  add(item: Item): void {
    this.#size += 1;
    const last = this.#chunks.at(-1);
    if (last === undefined) {
      this.#chunks.push([item]);
      return;
    }
    const isNewest = (last.at(-1) as Item).id < item.id;
    // Ids are created in ascending order: full chunks are left full, not halved.
    if (isNewest && last.length >= CHUNK_SIZE) this.#chunks.push([item]);
    else if (isNewest) last.push(item);
    else this.#addInside(item);
  }

  /** Removes an item that was added before. */
  remove(item: Item): void {
    const chunkIndex = this.#chunkOf(item.id);
    const chunk = this.#chunks[chunkIndex] as Item[];
    chunk.splice(firstAbove(chunk, item.id) - 1, 1);
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);
    this.#size -= 1;
  }

  /** Up to `limit` items with an id above `afterId`, and whether more follow. */
  page(afterId: string | null, limit: number): Slice<Item> {
    const items: Item[] = [];
    let chunkIndex = afterId === null ? 0 : this.#chunkOf(afterId);
    let position = afterId === null ? 0 : firstAbove(this.#chunks[chunkIndex] ?? [], afterId);
    for (; chunkIndex < this.#chunks.length; chunkIndex += 1) {
      const chunk = this.#chunks[chunkIndex] as Item[];
      for (; position < chunk.length; position += 1) {
        if (items.length === limit) return { items, hasMore: true };
        items.push(chunk[position] as Item);
      }
      position = 0;
    }
    return { items, hasMore: false };
  }

  /** Up to `limit` items with an id below `beforeId`, in descending order, and whether more follow. */
  pageBack(beforeId: string | null, limit: number): Slice<Item> {
    const items: Item[] = [];
    let chunkIndex = beforeId === null ? this.#chunks.length - 1 : this.#chunkOf(beforeId);
    let chunk = this.#chunks[chunkIndex] ?? [];
    let position = beforeId === null ? chunk.length : firstAtOrAbove(chunk, beforeId);
    for (;;) {
      for (position -= 1; position >= 0; position -= 1) {
        if (items.length === limit) return { items, hasMore: true };
        items.push(chunk[position] as Item);
      }
      chunkIndex -= 1;
      if (chunkIndex < 0) return { items, hasMore: false };
      chunk = this.#chunks[chunkIndex] as Item[];
      position = chunk.length;
    }
  }

  #addInside(item: Item): void {
    const chunkIndex = this.#chunkOf(item.id);
    const chunk = this.#chunks[chunkIndex] as Item[];
    chunk.splice(firstAbove(chunk, item.id), 0, item);
    if (chunk.length > CHUNK_SIZE) {
      this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(CHUNK_SIZE / 2));
    }
  }

  /** The last chunk that starts at or below the id: the only one that can hold it. The first, if there is none. */
  #chunkOf(id: string): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [first] = this.#chunks[middle] as [Item, ...Item[]];
      if (first.id <= id) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** Position of the first item with an id above the given one. */
function firstAbove(items: readonly { readonly id: string }[], id: string): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((items[middle] as { readonly id: string }).id <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Position of the first item with the given id or one above it. */
function firstAtOrAbove(items: readonly { readonly id: string }[], id: string): number {
  const above = firstAbove(items, id);
  return items[above - 1]?.id === id ? above - 1 : above;
}
