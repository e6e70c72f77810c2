import { lowestIdAt } from "../../../lib/id.js";
import { isKept } from "../../../rules/keys/filter.js";
import type { EpochMs } from "../../../time.js";
import type { LoadedKey } from "../../../verification/loaded-key.js";
import type { OperationContext } from "../../context.js";
import { isShownEnabled } from "../view.js";
import { type ApiGroup, readApiGroup } from "./api-group.js";
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
