import { useEffect, useRef } from "preact/hooks";
import { type ApiError, call, sessionStore, whenOperatorChanges } from "./api.js";
import { createStore, type Store, useStore } from "./store.js";

/** The loaded part of a list. */
export interface ListState<Item> {
  readonly items: readonly Item[];
  readonly total: number | null;
  /** The start of each page: its first row, and the cursor that leads to it. */
  readonly pages: readonly { readonly at: number; readonly cursor: string | undefined }[];
  readonly next: string | null;
  readonly isReading: boolean;
  readonly isDone: boolean;
  readonly damaged: number;
  /** How many items were searched to find these; null without a filter. */
  readonly scanned: number | null;
  /** Consecutive pages without a match. */
  readonly emptyPages: number;
  readonly error: ApiError | null;
}

/** A list of the server, read a page at a time. */
export interface List<Item> extends ListState<Item> {
  /** Whether it is the previous list, shown until the new one has loaded. */
  readonly isOld?: boolean;
  readonly readMore: () => void;
  /** The scroll position, which survives leaving the page. */
  readonly scroll: { top: number };
}

/** The operation that returns the list, its input, and the field of its answer that has the items. */
export interface ListQuestion {
  readonly operation: string;
  readonly field: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** The cursor to start from, if the address has one. */
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

/** Maximum pages without a match, for each of which a server searches 2,000 keys, before only the reader continues. */
const MOST_EMPTY = 5;

/** Whether so many pages had no match that the reader decides whether to continue. */
export const isInVain = ({ emptyPages }: ListState<unknown>): boolean => emptyPages >= MOST_EMPTY;

/** A list that is completely loaded. */
export function wholeList<Item>(items: readonly Item[]): List<Item> {
  const all = { ...EMPTY, items, total: items.length, isDone: true };
  return { ...all, readMore: () => undefined, scroll: { top: 0 } };
}

/** Maximum lists to keep for the back button. */
const MAX_KEPT = 12;
const kept = new Map<string, KeptList>();

/** Counts changes. After each, lists are read anew. */
const changes = createStore(0);

export function forgetLists(): void {
  kept.clear();
  changes.set(changes.get() + 1);
}
whenOperatorChanges(forgetLists);

/**
 * A list, from the beginning or as it was left. `input` must contain everything that it depends on. The previous list stays until the
 * first items have loaded.
 */
export function useList<Item>({ operation, field, input, from }: ListQuestion): List<Item> {
  const name = JSON.stringify([operation, input]);
  const round = useStore(changes);
  const isIn = useStore(sessionStore).kind === "in";
  // `from` matters only when the list is opened, because the address follows the scrolling.
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
        // If pages without a match came before, the first match belongs to the first of them.
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
