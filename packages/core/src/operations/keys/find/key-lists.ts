import { LatchkeyError } from "../../../errors.js";
import { yieldToEventLoop } from "../../../lib/promises.js";
import { keysOfApi, keyType } from "../../../records/key.js";
import { compareIds } from "../../../rules/keys/listing.js";
import type { LoadedRecord, PageResult } from "../../../store/key-store.js";
import type { CatalogKey, LoadedKey } from "../../../verification/loaded-key.js";
import type { OperationContext } from "../../context.js";
import { decodeOrNull } from "../../damaged.js";
import { loadKeys } from "../load.js";

/** Keys read from a list in one step: some milliseconds on every store. */
const MOST_AT_ONCE = 500;

/** Lists read at the same time: other calls must get through, too. */
const LISTS_AT_ONCE = 50;

export interface KeyListsWant {
  readonly apiIds: readonly string[];
  /** Only keys of this identity; undefined: all keys of the APIs. */
  readonly identityId: string | undefined;
  readonly descending: boolean;
  /** Only ids after this one in the order; null: from the beginning. */
  readonly after: string | null;
  /** Ids below this text are not wanted; an empty one is below all. */
  readonly lowest: string;
  /** Most keys to read in all. */
  readonly budget: number;
  /** How many keys will probably be enough: 1 or more. */
  readonly enough: number;
}

export interface ReadKey {
  readonly id: string;
  /** `gone`: the key is no longer in these lists. */
  readonly loaded: LoadedKey | "damaged" | "gone";
}

/** The list of one API, as far as it was read. */
interface ApiKeys {
  readonly apiId: string;
  /** The last id that was read. */
  after: string | null;
  hasMore: boolean;
  /** Read, and not yet taken. */
  read: readonly ReadKey[];
}

/**
 * Merges the keys of several APIs, each with its own list, into one order: the lists are read in parallel, and a key is taken once no
 * unread one can come before it. The number of keys read is bounded.
 */
export class KeyLists {
  scanned = 0;
  /** Exact number of keys of the API that was read last, whatever the identity. */
  size = 0;
  readonly #context: OperationContext;
  readonly #want: KeyListsWant;
  readonly #lists: readonly ApiKeys[];
  /** Where every list begins. */
  readonly #start: string | null;
  /** Most keys that the next read asks of a list. */
  #atOnce: number;

  constructor(context: OperationContext, want: KeyListsWant) {
    this.#context = context;
    this.#want = want;
    const { apiIds, after, enough, lowest, descending } = want;
    this.#start = !descending && lowest > (after ?? "") ? lowest : after;
    this.#lists = apiIds.map((apiId) => ({ apiId, after: this.#start, hasMore: true, read: [] }));
    this.#atOnce = Math.min(enough, MOST_AT_ONCE, Math.ceil((2 * enough) / apiIds.length));
  }

  /** Whether every key was read and taken. */
  get isOver(): boolean {
    return this.#lists.every(({ hasMore, read }) => !hasMore && read.length === 0);
  }

  /**
   * Reads on in the lists that have nothing left to take.
   *
   * @returns False if there is no such list, or the budget is used up.
   */
  async readOn(): Promise<boolean> {
    const left = this.#want.budget - this.scanned;
    const lists = this.#lists
      .filter(({ hasMore, read }) => hasMore && read.length === 0)
      .slice(0, left);
    if (lists.length === 0) return false;
    // A store without I/O never lets others through by itself.
    if (this.scanned > 0) await yieldToEventLoop();
    const limit = Math.min(this.#atOnce, Math.floor(left / lists.length));
    this.#atOnce = Math.min(2 * this.#atOnce, MOST_AT_ONCE);
    const { result, keys } = await loadKeys(
      this.#context,
      () => this.#readPages(lists, limit),
      ({ found }) => found,
    );
    let at = 0;
    for (const [index, list] of lists.entries()) {
      const page = result.pages[index] as PageResult;
      this.#keep(list, page, keys.slice(at, at + page.found.length));
      at += page.found.length;
    }
    this.scanned += at;
    return true;
  }

  /** The next keys, in order, as far as no unread key can come before them. */
  take(): readonly ReadKey[] {
    const [only] = this.#lists;
    if (only !== undefined && this.#lists.length === 1) {
      // A single list is already in order; sorting it would make a page of the memory store a third slower.
      const { read } = only;
      only.read = [];
      return read;
    }
    const ends = this.#lists.filter(({ hasMore }) => hasMore).map(({ after }) => after);
    // Nothing is known of a list that was not read yet.
    if (ends.includes(this.#start)) return [];
    const end = (ends as string[]).sort(this.#compare)[0];
    const isNext = ({ id }: ReadKey) => end === undefined || this.#compare(id, end) <= 0;
    const next = this.#lists.flatMap((list) => {
      const taken = list.read.filter(isNext);
      list.read = list.read.slice(taken.length);
      return taken;
    });
    return next.sort((one, other) => this.#compare(one.id, other.id));
  }

  /** @returns Undefined if what keys refer to changed meanwhile: then the caller reads again. */
  async #readPages(lists: readonly ApiKeys[], limit: number) {
    const { store, workspaceId } = this.#context;
    const { identityId: of, descending } = this.#want;
    const pages: PageResult[] = [];
    for (let first = 0; first < lists.length; first += LISTS_AT_ONCE) {
      const reading = lists.slice(first, first + LISTS_AT_ONCE).map(({ apiId, after }) => {
        const list = keysOfApi(apiId);
        return store.page(workspaceId, { kind: "key", list, of, after, limit, descending });
      });
      pages.push(...(await Promise.all(reading)));
    }
    const revision = pages[0]?.revision ?? 0;
    if (pages.some((page) => page.revision !== revision)) return undefined;
    return { revision, pages, found: pages.flatMap(({ found }) => found) };
  }

  #keep(list: ApiKeys, { found, hasMore, size }: PageResult, keys: readonly CatalogKey[]): void {
    const { descending, lowest } = this.#want;
    const read = found.map((each, index) => this.#readKey(list.apiId, each, keys[index] ?? null));
    const last = read.at(-1)?.id;
    list.after = last ?? list.after;
    list.hasMore = hasMore && !(descending && last !== undefined && last < lowest);
    list.read = descending ? read.filter(({ id }) => id >= lowest) : read;
    this.size = size;
  }

  #readKey(apiId: string, { record }: LoadedRecord, key: CatalogKey): ReadKey {
    const { id, link } = record;
    const { identityId } = this.#want;
    if (identityId !== undefined && link !== identityId) return { id, loaded: "gone" };
    if (key === null) {
      // A deleted API takes its keys along. A key that names an API other than that of its list is damaged.
      const named = decodeOrNull(keyType, record, this.#context.workspaceId)?.apiId;
      return { id, loaded: named === apiId ? "gone" : "damaged" };
    }
    const isSound = !(key instanceof LatchkeyError) && key.key.apiId === apiId;
    return { id, loaded: isSound ? key : "damaged" };
  }

  readonly #compare = (one: string, other: string): number =>
    this.#want.descending ? compareIds(other, one) : compareIds(one, other);
}
