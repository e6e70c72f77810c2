import { useEffect, useRef } from "preact/hooks";
import { type ApiError, call, sessionStore, whenOperatorChanges } from "./api.js";
import { createStore, type Store, useStore } from "./store.js";

/** A list as far as it was read. */
export interface ListState<Item> {
  readonly items: readonly Item[];
  readonly total: number | null;
  /** Where each page begins: its first row, and the cursor that leads to it. */
  readonly pages: readonly { readonly at: number; readonly cursor: string | undefined }[];
  readonly next: string | null;
  readonly isReading: boolean;
  readonly isDone: boolean;
  readonly damaged: number;
  /** How many were looked through to find these; null where there is no filter. */
  readonly scanned: number | null;
  /** Pages in a row of which the filter kept nothing. */
  readonly emptyPages: number;
  readonly error: ApiError | null;
}

/** A list of the server, read a page at a time. */
export interface List<Item> extends ListState<Item> {
  /** Stands in for a list that is not there yet. */
  readonly isOld?: boolean;
  readonly readMore: () => void;
  /** Where the list was scrolled to when it was left. */
  readonly scroll: { top: number };
}

/** What an operation that lists is asked, and the field of its answer that holds the items. */
export interface ListQuestion {
  readonly operation: string;
  readonly field: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Where it begins, for an address that says so. */
  readonly from?: string | undefined;
}

interface KeptList {
  readonly store: Store<ListState<unknown>>;
  readonly scroll: { top: number };
  readonly readMore: () => void;
}

const EMPTY: ListState<never> = {
  items: [],
  total: null,
  pages: [],
  next: null,
  isReading: false,
  isDone: false,
  damaged: 0,
  scanned: null,
  emptyPages: 0,
  error: null,
};

/** A filter may keep nothing of a page, of which a server looks through 2,000: after these it is asked on only by hand. */
const MOST_EMPTY = 5;

/** Whether so many pages were looked through for nothing that a reader decides whether to go on. */
export const isInVain = ({ emptyPages }: ListState<unknown>): boolean => emptyPages >= MOST_EMPTY;

/** A list of which all is known. */
export function wholeList<Item>(items: readonly Item[]): List<Item> {
  const all = { ...EMPTY, items, total: items.length, isDone: true };
  return { ...all, readMore: () => undefined, scroll: { top: 0 } };
}

/** Lists that the back button finds as they were left. */
const MAX_KEPT = 12;
const kept = new Map<string, KeptList>();

/** Whatever was changed, lists are read anew. */
const changes = createStore(0);

export function forgetLists(): void {
  kept.clear();
  changes.set(changes.get() + 1);
}
whenOperatorChanges(forgetLists);

/**
 * A list, from the beginning or from where it was left. `question` must say everything that it depends on. Until something of it is
 * known, the list before stays.
 */
export function useList<Item>({ operation, field, input, from }: ListQuestion): List<Item> {
  const name = JSON.stringify([operation, input]);
  const round = useStore(changes);
  const isIn = useStore(sessionStore).kind === "in";
  // The address follows the scrolling: what it says matters when the list is opened.
  const list = keep(name, operation, field, input, from);
  const state = useStore(list.store) as ListState<Item>;
  useEffect(() => {
    if (isIn && (list.store.get().pages.length === 0 || list.store.get().error !== null))
      list.readMore();
  }, [list, isIn, round]);
  const last = useRef<List<Item> | null>(null);
  if (state.items.length > 0 || state.isDone || state.error !== null || isInVain(state))
    last.current = { ...state, readMore: list.readMore, scroll: list.scroll };
  else if (last.current !== null && last.current.items.length > 0)
    return { ...last.current, pages: [], isReading: true, isOld: true };
  return { ...state, readMore: list.readMore, scroll: list.scroll };
}

function keep(
  name: string,
  operation: string,
  field: string,
  input: ListQuestion["input"],
  from: string | undefined,
): KeptList {
  const known = kept.get(name);
  if (known !== undefined) return known;
  const store = createStore<ListState<unknown>>({ ...EMPTY, next: from ?? null });
  const readMore = async (): Promise<void> => {
    const before = store.get();
    if (before.isReading || before.isDone) return;
    store.set({ ...before, isReading: true, error: null });
    const cursor = before.next ?? undefined;
    try {
      const page = await call<Record<string, unknown>>(operation, { ...input, cursor });
      const found = page[field] as readonly unknown[];
      const next = (page.cursor as string | undefined) ?? null;
      const scanned = page.scanned as number | undefined;
      const isFirst = before.items.length === 0 && before.pages.length > 0;
      const emptyPages = found.length === 0 ? before.emptyPages + 1 : 0;
      store.set({
        items: [...before.items, ...found],
        total: (page.total as number | undefined) ?? null,
        // The first that is found is on the page on which the looking began.
        pages:
          isFirst || (found.length === 0 && before.pages.length > 0)
            ? before.pages
            : [...before.pages, { at: before.items.length, cursor }],
        next,
        isReading: false,
        isDone: next === null,
        damaged: before.damaged + ((page.damaged as number | undefined) ?? 0),
        scanned: scanned === undefined ? null : (before.scanned ?? 0) + scanned,
        emptyPages,
        error: null,
      });
      if (found.length === 0 && next !== null && emptyPages % MOST_EMPTY !== 0) void readMore();
    } catch (error) {
      store.set({ ...before, isReading: false, error: error as ApiError });
    }
  };
  const list = { store, scroll: { top: 0 }, readMore: () => void readMore() };
  if (kept.size >= MAX_KEPT) kept.delete(kept.keys().next().value as string);
  kept.set(name, list);
  return list;
}
