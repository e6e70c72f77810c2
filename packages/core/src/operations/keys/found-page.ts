import { LatchkeyError, unmet } from "../../errors.js";
import { lowestIdAt } from "../../lib/id.js";
import { yieldToEventLoop } from "../../lib/promises.js";
import { keysOfApi, keyType } from "../../records/key.js";
import {
  compareIds,
  comparePlaces,
  isKept,
  type KeyPlace,
  type ValueOrder,
} from "../../rules/keys/listing.js";
import type { LoadedRecord, PageResult } from "../../store/key-store.js";
import type { EpochMs } from "../../time.js";
import type { CatalogKey, LoadedKey } from "../../verification/loaded-key.js";
import type { OperationContext } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { readList } from "../read.js";
import type { KeyQuestion } from "./list-question.js";
import { loadKeys } from "./load.js";
import { isShownEnabled } from "./view.js";

/** Keys read from a list in one step: some milliseconds on every store. */
const MOST_AT_ONCE = 500;

/** Lists read at the same time: other calls must get through, too. */
const LISTS_AT_ONCE = 50;

interface KeyListsWant {
  readonly apiIds: readonly string[];
  /** Only keys of this identity; undefined: all keys of the APIs. */
  readonly identityId: string | undefined;
  readonly descending: boolean;
  /** Only ids after this one in the order; null: from the beginning. */
  readonly after: string | null;
  /** Ids below this text are not wanted; an empty one is below all. */
  readonly lowest: string;
  readonly budget: number;
  /** How many keys will probably be enough: 1 or more. */
  readonly enough: number;
}

interface FoundKey {
  readonly id: string;
  /** `gone`: the key is no longer in these lists. */
  readonly loaded: LoadedKey | "damaged" | "gone";
}

/** The list of one API, as far as it was read. */
interface ApiKeys {
  readonly apiId: string;
  after: string | null;
  hasMore: boolean;
  /** Read, and not yet taken. */
  read: readonly FoundKey[];
  /** Most keys that the next read asks for. It doubles with each read: a list that is read often has many of the wanted keys. */
  atOnce: number;
}

/**
 * Whether little is left: at most half of the last read, after which `atOnce` doubled. Lists that run out at about the same time are read
 * together. If only empty ones were read, a page over lists of similar size would read one list after the other, each further than needed.
 */
function isLow({ hasMore, read, atOnce }: ApiKeys): boolean {
  return hasMore && read.length <= atOnce / 4;
}

/** Merges the lists of several APIs into one order: a key is taken once no unread one can come before it. What it reads is bounded. */
class KeyLists {
  scanned = 0;
  /** Exact number of keys of the API that was read last, whatever the identity. */
  size = 0;
  readonly #context: OperationContext;
  readonly #want: KeyListsWant;
  readonly #lists: readonly ApiKeys[];
  /** Where every list begins. */
  readonly #start: string | null;

  constructor(context: OperationContext, want: KeyListsWant) {
    this.#context = context;
    this.#want = want;
    const { apiIds, after, enough, lowest, descending } = want;
    this.#start = !descending && lowest > (after ?? "") ? lowest : after;
    const atOnce = Math.min(enough, MOST_AT_ONCE, Math.ceil((2 * enough) / apiIds.length));
    const unread = { after: this.#start, hasMore: true, read: [], atOnce };
    this.#lists = apiIds.map((apiId) => ({ apiId, ...unread }));
  }

  get isOver(): boolean {
    return this.#lists.every(({ hasMore, read }) => !hasMore && read.length === 0);
  }

  /**
   * Reads on in the lists that have nothing left to take, and in those that are about to.
   *
   * @returns False if no list has run out, or the budget is used up.
   */
  async readOn(): Promise<boolean> {
    const left = this.#want.budget - this.scanned;
    const isBare = ({ hasMore, read }: ApiKeys) => hasMore && read.length === 0;
    if (left === 0 || !this.#lists.some(isBare)) return false;
    // Those that have run out come first, in case the budget is small.
    const lists = [
      ...this.#lists.filter(isBare),
      ...this.#lists.filter((list) => !isBare(list) && isLow(list)),
    ].slice(0, left);
    // A store without I/O never lets others through by itself.
    if (this.scanned > 0) await yieldToEventLoop();
    const share = Math.floor(left / lists.length);
    const { result, keys } = await loadKeys(
      this.#context,
      () => this.#readPages(lists, share),
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
  take(): readonly FoundKey[] {
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
    const isNext = ({ id }: FoundKey) => end === undefined || this.#compare(id, end) <= 0;
    const next = this.#lists.flatMap((list) => {
      const taken = list.read.filter(isNext);
      list.read = list.read.slice(taken.length);
      return taken;
    });
    return next.sort((one, other) => this.#compare(one.id, other.id));
  }

  /** @returns Undefined if what keys refer to changed meanwhile: then the caller reads again. */
  async #readPages(lists: readonly ApiKeys[], share: number) {
    const { store, workspaceId } = this.#context;
    const { identityId: of, descending } = this.#want;
    const pages: PageResult[] = [];
    for (let first = 0; first < lists.length; first += LISTS_AT_ONCE) {
      // A store that answers at once would read all of them in one turn.
      if (first > 0) await yieldToEventLoop();
      const reading = lists.slice(first, first + LISTS_AT_ONCE).map(({ apiId, after, atOnce }) => {
        const list = keysOfApi(apiId);
        const limit = Math.min(atOnce, share);
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
    list.read = [...list.read, ...(descending ? read.filter(({ id }) => id >= lowest) : read)];
    list.atOnce = Math.min(2 * list.atOnce, MOST_AT_ONCE);
    this.size = size;
  }

  #readKey(apiId: string, { record }: LoadedRecord, key: CatalogKey): FoundKey {
    const { id, link } = record;
    const { identityId } = this.#want;
    if (identityId !== undefined && link !== identityId) return { id, loaded: "gone" };
    if (key === null) {
      // A deleted API takes its keys along. A key that names an API other than that of its list is damaged.
      const named = decodeOrNull(keyType, record, this.#context)?.apiId;
      return { id, loaded: named === apiId ? "gone" : "damaged" };
    }
    const isSound = !(key instanceof LatchkeyError) && key.key.apiId === apiId;
    return { id, loaded: isSound ? key : "damaged" };
  }

  readonly #compare = (one: string, other: string): number =>
    this.#want.descending ? compareIds(other, one) : compareIds(one, other);
}

/** Most keys read for a page, and most keys of an API or owner that can be listed in an order other than that of creation. */
const MAX_READ = 2_000;

/** An impossible id stands for an unknown `externalId`: an empty list, with the real total. */
export const NO_IDENTITY = "id_none";

/** Which page is wanted. */
interface PageWant {
  readonly context: OperationContext;
  readonly question: KeyQuestion;
  /** The owner that the question names, by either id; undefined for none. */
  readonly identityId: string | undefined;
  readonly limit: number;
  /** `next` of the previous page; null for the first one. */
  readonly position: readonly string[] | null;
  readonly now: EpochMs;
}

/** A page before it is shown. */
interface FoundPage {
  readonly keys: readonly LoadedKey[];
  readonly damaged: number;
  readonly scanned: number;
  /** Number of all keys of the API. */
  readonly size: number;
  /** Where the next page begins; null on the last one. */
  readonly next: readonly string[] | null;
}

/** Most APIs whose keys are read side by side for a page. */
const MAX_APIS = 1_000;

/**
 * APIs whose keys are listed in one order. If a workspace has more APIs, its keys are listed group by group: for a single order, a page
 * would have to read a key of each API.
 */
interface ApiGroup {
  readonly apiIds: readonly string[];
  /** The last API of the group before; empty for none. */
  readonly start: string;
  /** The last API of this group, fixed by its first page. Empty without any API. */
  readonly end: string;
  readonly hasMore: boolean;
}

/** The APIs after `start`, up to `end`: the one of the page before, or empty for the first page of a group. */
async function readApiGroup(
  context: OperationContext,
  start: string,
  end: string,
): Promise<ApiGroup> {
  const apiIds: string[] = [];
  for (let after = start; ; ) {
    const want = { kind: "api", after: after || null, limit: MAX_APIS } as const;
    const page = await readList(context, want);
    const ids = page.found.map(({ record }) => record.id);
    const within = end === "" ? ids : ids.filter((id) => id <= end);
    apiIds.push(...within);
    const hasMore = page.hasMore || within.length < ids.length;
    after = ids.at(-1) ?? end;
    // Few APIs get an id between those of others: such ids come only from a process whose clock is behind, or from a copy.
    if (end === "" || after >= end || !hasMore || apiIds.length > MAX_APIS)
      return { apiIds, start, end: end || (apiIds.at(-1) ?? ""), hasMore };
  }
}

/** The APIs that may have matching keys; `start` and `end` as for {@link readApiGroup}. */
async function apisOf(
  { context, question, identityId }: PageWant,
  start = "",
  end = "",
): Promise<ApiGroup> {
  const { apiId } = question;
  if (apiId === undefined && identityId !== NO_IDENTITY) return readApiGroup(context, start, end);
  return { apiIds: apiId === undefined ? [] : [apiId], start, end, hasMore: false };
}

/** How the lists of these APIs are read from their beginning. */
function listsWant(
  { question, identityId, now }: PageWant,
  { apiIds }: ApiGroup,
): Omit<KeyListsWant, "enough" | "budget"> {
  const { createdAfter, descending } = question;
  // The `createdAt` of a key is never later than the time in its id; that of an imported key may be much earlier.
  const lowest = createdAfter === null ? "" : lowestIdAt("key", Math.min(createdAfter, now));
  return { apiIds, identityId, descending, after: null, lowest };
}

function wantedBy({ question: { filters }, now }: PageWant) {
  return (read: FoundKey["loaded"]): read is LoadedKey => {
    if (typeof read === "string") return false;
    if (filters.length === 0) return true;
    const { key, roles, held, lastUsedAt } = read;
    const enabled = isShownEnabled(read, now);
    return isKept({ ...key, enabled, lastUsedAt, roles, held }, filters);
  };
}

/** Keys that a page reads first if it has filters, which may keep few. */
const FIRST_READ = 50;

/**
 * A page in the order of ids, which is that of creation. Its position is the last id; without an API, the start and the end of the group of
 * APIs precede it.
 *
 * A page ends after the last key that it looked at, not after the last one that it keeps, so keys that a filter drops are read once.
 */
export async function pageInCreationOrder(want: PageWant): Promise<FoundPage> {
  const { context, question, limit, position } = want;
  const [start = "", end = ""] = question.apiId === undefined ? (position ?? []) : [];
  const group = await apisOf(want, start, end);
  const after = position?.at(-1) || null;
  const isFiltered = question.filters.length > 0;
  const enough = isFiltered ? Math.max(limit, FIRST_READ) : limit;
  const budget = isFiltered || question.apiId === undefined ? MAX_READ : limit;
  const lists = new KeyLists(context, { ...listsWant(want, group), after, enough, budget });
  const isWanted = wantedBy(want);
  const keys: LoadedKey[] = [];
  let damaged = 0;
  let last = after ?? "";
  let isFull = false;
  while (keys.length < limit && (await lists.readOn()))
    for (const { id, loaded } of lists.take()) {
      const isKept = isWanted(loaded);
      isFull = isKept && keys.length === limit;
      if (isFull) break;
      if (isKept) keys.push(loaded);
      if (loaded === "damaged") damaged += 1;
      last = id;
    }
  const { scanned, size, isOver } = lists;
  const place = question.apiId === undefined ? [start, group.end] : [];
  const nextGroup = group.hasMore ? [group.end, "", ""] : null;
  return { keys, damaged, scanned, size, next: isFull || !isOver ? [...place, last] : nextGroup };
}

/** A page in another order than that of creation: each reads and sorts all keys. Its position is the {@link KeyPlace} of the last key. */
export async function pageInValueOrder(want: PageWant, orderBy: ValueOrder): Promise<FoundPage> {
  const { limit, position, question } = want;
  const [value, id = ""] = position ?? [];
  const after = position === null ? null : { value: value ? Number(value) : null, id };
  const read = await readAllKeys(want);
  const sign = question.descending ? -1 : 1;
  const compare = (one: KeyPlace, other: KeyPlace) => sign * comparePlaces(orderBy, one, other);
  const following = read
    .map(({ loaded }) => loaded)
    .filter(wantedBy(want))
    .map((loaded) => {
      const { key, lastUsedAt } = loaded;
      return { loaded, id: key.id, value: orderBy === "expires" ? key.expires : lastUsedAt };
    })
    .filter((place) => after === null || compare(place, after) > 0)
    .sort(compare);
  const page = following.slice(0, limit);
  const last = following.length > limit ? page.at(-1) : undefined;
  return {
    keys: page.map(({ loaded }) => loaded),
    // Damaged keys have no value, and so no place: the first page counts all of them.
    damaged: after === null ? read.filter(({ loaded }) => loaded === "damaged").length : 0,
    scanned: read.length,
    size: read.length,
    next: last === undefined ? null : [`${last.value ?? ""}`, last.id],
  };
}

/** All keys of an API or owner. @throws LatchkeyError `PRECONDITION_FAILED` if there are too many. */
async function readAllKeys(want: PageWant): Promise<readonly FoundKey[]> {
  const { context, question, identityId } = want;
  if (question.apiId === undefined && identityId === undefined) throw tooManyKeys();
  const read: FoundKey[] = [];
  let start = "";
  for (;;) {
    const group = await apisOf(want, start);
    // One more than allowed, to notice that there are too many.
    const budget = MAX_READ + 1 - read.length;
    const limits = { budget, enough: MAX_READ, descending: false };
    const lists = new KeyLists(context, { ...listsWant(want, group), ...limits });
    while (await lists.readOn()) read.push(...lists.take());
    if (read.length > MAX_READ || !lists.isOver) throw tooManyKeys();
    if (!group.hasMore) return read;
    start = group.end;
  }
}

function tooManyKeys(): LatchkeyError {
  return unmet(
    "too-many-keys",
    `only the keys of an API or owner with at most ${MAX_READ} keys can be listed in an order other than that of creation`,
    { limit: MAX_READ },
  );
}
