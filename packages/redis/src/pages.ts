import type { Page, PageRequest } from "@latchkey/core";
import type { Reply } from "./replies.js";
import { whole } from "./values.js";

/** Where a page begins in a sorted set of ids, as ZRANGEBYLEX takes it. */
export function pageStart({ afterId }: PageRequest): string {
  return afterId === null ? "-" : `(${afterId}`;
}

/**
 * Reads a total and after it the items, of which one more than asked for says that there are more.
 *
 * @param width - How many values each item has.
 */
export function readPage<Item>(
  [total, ...values]: Reply,
  width: number,
  { limit }: PageRequest,
  read: (values: Reply) => Item,
): Page<Item> {
  const shown = values.slice(0, width * limit);
  return {
    items: inGroups(shown, width).map(read),
    hasMore: values.length > shown.length,
    total: whole(total),
  };
}

/** Values in groups of `width`, in their order. */
export function inGroups(values: Reply, width: number): readonly Reply[] {
  return Array.from({ length: values.length / width }, (_, number) =>
    values.slice(number * width, (number + 1) * width),
  );
}
