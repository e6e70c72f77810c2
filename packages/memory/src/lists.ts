import type { PageWant } from "@latchkey/core";
import library, { simpleComparator } from "sorted-btree";
import { mapIn } from "./entry-of.js";
import type { Row } from "./row.js";

/** Node imports the CommonJS module, whereas some bundlers and test runners import its default export. */
const BTree = (library.default ?? library) as typeof library.default;

/** Most ids per node of a tree. */
const NODE_SIZE = 64;

/** Ids in ascending order. Each has the row that held it when the id entered or was last read; that row may have been replaced since. */
export class SortedIds extends BTree<string, Row | undefined> {
  constructor(ids: readonly string[]) {
    super([], simpleComparator, NODE_SIZE);
    for (const id of ids) this.set(id, undefined);
  }
}

/** The lists of a workspace: for each name, the list itself (`of` undefined) and its small lists. */
export class Lists {
  /** A list of one id is stored as that id: most small lists never have a second, and there are as many of them as records. */
  readonly #lists = new Map<string, Map<string | undefined, string | SortedIds>>();

  sizeOf(list: string): number {
    const ids = this.#lists.get(list)?.get(undefined);
    return ids instanceof SortedIds ? ids.size : Number(ids !== undefined);
  }

  /** The wanted ids in order, each with its row. Every step yields the same array. No id may enter or leave during the walk. */
  walk({ list, of, after, descending }: PageWant): Iterable<readonly [string, Row | undefined]> {
    const ids = this.#lists.get(list)?.get(of) ?? [];
    const sorted = ids instanceof SortedIds ? ids : new SortedIds([ids].flat());
    if (descending) return sorted.entriesReversed(after ?? undefined, [], true);
    // The smallest string above an id is that id followed by a NUL character.
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
