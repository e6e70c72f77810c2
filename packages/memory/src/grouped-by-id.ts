import { type Slice, SortedById } from "./sorted-by-id.js";

/** Items of many groups, each in order of id. Most groups have one item, which is kept without a list around it. */
export class GroupedById<Item extends { readonly id: string }> {
  readonly #groups = new Map<string, Item | SortedById<Item>>();

  add(group: string, item: Item): void {
    const listed = this.#groups.get(group);
    if (listed === undefined) this.#groups.set(group, item);
    else if (listed instanceof SortedById) listed.add(item);
    else {
      const list = new SortedById<Item>();
      list.add(listed);
      list.add(item);
      this.#groups.set(group, list);
    }
  }

  /** Removes an item that was added to the group before. */
  remove(group: string, item: Item): void {
    const listed = this.#groups.get(group);
    if (listed instanceof SortedById) listed.remove(item);
    if (listed === item || (listed instanceof SortedById && listed.size === 0)) {
      this.#groups.delete(group);
    }
  }

  /** As {@link SortedById.page}, of one group. */
  page(group: string, afterId: string | null, limit: number): Slice<Item> {
    const listed = this.#groups.get(group);
    if (listed instanceof SortedById) return listed.page(afterId, limit);
    const isNext = listed !== undefined && (afterId === null || listed.id > afterId);
    return { items: isNext ? [listed] : [], hasMore: false };
  }

  /** As {@link SortedById.pageBack}, of one group. */
  pageBack(group: string, beforeId: string | null, limit: number): Slice<Item> {
    const listed = this.#groups.get(group);
    if (listed instanceof SortedById) return listed.pageBack(beforeId, limit);
    const isNext = listed !== undefined && (beforeId === null || listed.id < beforeId);
    return { items: isNext ? [listed] : [], hasMore: false };
  }
}
