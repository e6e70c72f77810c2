import type { PageInfo } from "./read-page.js";

/**
 * The items of a list, one by one, read a page at a time: no more than one page is kept, and a loop that is left early reads no
 * further one. It goes through the list once; a page that fails to be read fails the loop.
 */
export interface ListIterator<Item> extends AsyncIterableIterator<Item> {
  /** Records so far that are damaged and were left out: complete once the loop is over. */
  readonly damaged: number;
}

/**
 * Goes through all pages of a list.
 *
 * @param read - Reads one page.
 * @param input - Of the first page: where it has a `cursor`, what comes before is left out.
 * @param itemsOf - What a page holds.
 */
export function iterateList<Input extends object, Page extends PageInfo, Item>(
  read: (input: Input) => Promise<Page>,
  input: Input,
  itemsOf: (page: Page) => readonly Item[],
): ListIterator<Item> {
  let damaged = 0;
  async function* items(): AsyncGenerator<Item, void, undefined> {
    let next: Input | null = input;
    while (next !== null) {
      const page: Page = await read(next);
      damaged += page.damaged ?? 0;
      yield* itemsOf(page);
      next = page.cursor === undefined ? null : { ...next, cursor: page.cursor };
    }
  }
  return Object.defineProperty(items(), "damaged", { get: () => damaged }) as ListIterator<Item>;
}
