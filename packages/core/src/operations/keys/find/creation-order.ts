import type { LoadedKey } from "../../../verification/loaded-key.js";
import {
  apisOf,
  type FoundPage,
  listsWant,
  MAX_READ,
  type PageWant,
  wantedBy,
} from "./found-page.js";
import { KeyLists } from "./key-lists.js";

/** Keys that a page reads first, where a filter may keep few. */
const FIRST_READ = 50;

/**
 * A page in the order of ids, which is that of creation. Its position is the last id; without an API what begins and ends the group of
 * APIs stands before that.
 *
 * A page ends behind the last key that it looked at, not behind the last that it keeps: so what a filter passes over is read once.
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
