import type { PageWant } from "@latchkey/core";
import library, { simpleComparator } from "sorted-btree";
import { mapIn } from "./entry-of.js";
import type { Row } from "./row.js";

/** Node imports the CommonJS module, whereas some bundlers and test runners import its default export. */
const BTree = (library.default ?? library) as typeof library.default;

/** Most ids of a node of a tree. */
const NODE_SIZE = 64;

/** Ids in ascending order, each with the row that had it when it entered or was read: a row may have been put anew since. */
export class SortedIds extends BTree<string, Row | undefined> {
  constructor(ids: readonly string[]) {
    super([], simpleComparator, NODE_SIZE);
    for (const id of ids) this.set(id, undefined);
  }
}

/** The lists of a workspace: under each name the list itself (`of` undefined), and the small ones beside it. */
export class Lists {
  /** A list of one id is that id: most small lists never have a second, and there are as many of them as records. */
  readonly #lists = new Map<string, Map<string | undefined, string | SortedIds>>();

  sizeOf(list: string): number {
    const ids = this.#lists.get(list)?.get(undefined);
    return ids instanceof SortedIds ? ids.size : Number(ids !== undefined);
  }

  /** The wanted ids in their order, each with its row and in the same array. Meanwhile no other may enter, and none leave. */
  walk({ list, of, after, descending }: PageWant): Iterable<readonly [string, Row | undefined]> {
    const ids = this.#lists.get(list)?.get(of) ?? [];
    const sorted = ids instanceof SortedIds ? ids : new SortedIds([ids].flat());
    if (descending) return sorted.entriesReversed(after ?? undefined, [], true);
    // The lowest text above an id is that id with a zero behind it.
    return sorted.entries(`${after ?? ""}\0`, []);
  }

  enter(list: string, of: string | undefined, id: string, row?: Row): void {
    const lists = mapIn(this.#lists, list);
    const ids = lists.get(of) ?? id;
    if (ids instanceof SortedIds) ids.set(id, row);
    else lists.set(of, ids === id ? id : new SortedIds([ids, id]));
  }

  leave(list: string, of: string | undefined, id: string): void {
    const lists = this.#lists.get(list);
    const ids = lists?.get(of);
    if (ids instanceof SortedIds) ids.delete(id);
    if (ids === id || (ids instanceof SortedIds && ids.isEmpty)) lists?.delete(of);
  }
}
