import { lowestIdAt } from "../../../lib/id.js";
import { isKept } from "../../../rules/keys/filter.js";
import type { EpochMs } from "../../../time.js";
import type { LoadedKey } from "../../../verification/loaded-key.js";
import type { OperationContext } from "../../context.js";
import { isShownEnabled } from "../view.js";
import type { KeyListsWant, ReadKey } from "./key-lists.js";
import type { KeyQuestion } from "./question.js";

/** Most keys that are read for a page, and most keys of an API or owner that can be put in another order than that of creation. */
export const MAX_READ = 2_000;

/** An impossible id stands for an unknown `externalId`: an empty list, with the real total. */
export const NO_IDENTITY = "id_none";

/** Which page is wanted. */
export interface PageWant {
  readonly context: OperationContext;
  readonly question: KeyQuestion;
  /** The owner that the question names by whichever id; undefined for none. */
  readonly identityId: string | undefined;
  readonly limit: number;
  /** `next` of the previous page; null for the first one. */
  readonly position: readonly string[] | null;
  readonly now: EpochMs;
}

/** A page before it is shown. */
export interface FoundPage {
  readonly keys: readonly LoadedKey[];
  readonly damaged: number;
  /** Keys that were read. */
  readonly scanned: number;
  /** Number of all keys of the API. */
  readonly size: number;
  /** Where the next page begins; null on the last one. */
  readonly next: readonly string[] | null;
}

/** Most APIs whose keys are read side by side for a page. */
const MAX_APIS = 1_000;

/**
 * APIs whose keys are put in one order. A workspace with more of them has its keys listed group by group: to put all in one order, a page
 * would have to read a key of each.
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

/**
 * The APIs after `start`, up to `end`.
 *
 * @param end - As the page before has it; empty for a group that begins.
 */
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
    // APIs with ids between those of others come from a process whose clock is behind, or from a copy: they are few.
    if (end === "" || after >= end || !hasMore || apiIds.length > MAX_APIS)
      return { apiIds, start, end: end || (apiIds.at(-1) ?? ""), hasMore };
  }
}

/** The APIs that may have matching keys; `start` and `end` as for {@link readApiGroup}. */
export async function apisOf(
  { context, question, identityId }: PageWant,
  start = "",
  end = "",
): Promise<ApiGroup> {
  const { apiId } = question;
  if (apiId === undefined && identityId !== NO_IDENTITY) return readApiGroup(context, start, end);
  return { apiIds: apiId === undefined ? [] : [apiId], start, end, hasMore: false };
}

/** How the lists of these APIs are read from their beginning. */
export function listsWant(
  { question, identityId, now }: PageWant,
  { apiIds }: ApiGroup,
): Omit<KeyListsWant, "enough" | "budget"> {
  const { createdAfter, descending } = question;
  // No key was created later than its id was made; only one that was imported may have been created long before.
  const lowest = createdAfter === null ? "" : lowestIdAt("key", Math.min(createdAfter, now));
  return { apiIds, identityId, descending, after: null, lowest };
}

/** Whether a key that was read is wanted, at `now`. */
export function wantedBy({ question: { filters }, now }: PageWant) {
  return (read: ReadKey["loaded"]): read is LoadedKey => {
    if (typeof read === "string") return false;
    if (filters.length === 0) return true;
    const { key, roles, held, lastUsedAt } = read;
    const enabled = isShownEnabled(read, now);
    return isKept({ ...key, enabled, lastUsedAt, roles, held }, filters);
  };
}
