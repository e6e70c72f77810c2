import { type LatchkeyError, unmet } from "../../../errors.js";
import { lowestIdAt } from "../../../lib/id.js";
import {
  comparePlaces,
  isKept,
  type KeyPlace,
  type ValueOrder,
} from "../../../rules/keys/listing.js";
import type { EpochMs } from "../../../time.js";
import type { LoadedKey } from "../../../verification/loaded-key.js";
import type { OperationContext } from "../../context.js";
import { isShownEnabled } from "../view.js";
import { KeyLists, type KeyListsWant, type ReadKey } from "./key-lists.js";
import type { KeyQuestion } from "./question.js";

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
  /** Whether APIs follow. */
  readonly hasMore: boolean;
}

/** The APIs after `start`, up to `end`: the one of the page before, or empty for the first page of a group. */
async function readApiGroup(
  { store, workspaceId }: OperationContext,
  start: string,
  end: string,
): Promise<ApiGroup> {
  const apiIds: string[] = [];
  for (let after = start; ; ) {
    const want = { kind: "api", list: "api", after: after || null, limit: MAX_APIS } as const;
    const page = await store.page(workspaceId, want);
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

/** Whether a key that was read is wanted, at `now`. */
function wantedBy({ question: { filters }, now }: PageWant) {
  return (read: ReadKey["loaded"]): read is LoadedKey => {
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

/**
 * A page in an order other than that of creation: each page reads all keys and sorts them. Its position is the {@link KeyPlace} of the last
 * key.
 */
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
async function readAllKeys(want: PageWant): Promise<readonly ReadKey[]> {
  const { context, question, identityId } = want;
  if (question.apiId === undefined && identityId === undefined) throw tooManyKeys();
  const read: ReadKey[] = [];
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
