import type { HourCount, KeyStore, StatisticsSubject, SubjectCount } from "@latchkey/core";
import { piecesOf } from "../pieces.js";
import { DAY_MS } from "./unowned-sums.js";

/** The sums that a subject should have, and those that the target has. */
export interface SumsDifference {
  readonly subject: StatisticsSubject;
  readonly wanted: readonly HourCount[];
  readonly present: readonly HourCount[];
}

/** Maximum sums added in one batch, sums deleted in one step, and subjects in one deletion. */
const [MOST_SUMS, MOST_DELETED, MOST_SUBJECTS] = [500, 1_000, 200];

/** The start of a day after all others. */
const END_OF_TIME = Math.floor(Number.MAX_SAFE_INTEGER / DAY_MS) * DAY_MS;

/**
 * Adds what is missing to sums, so it can be repeated safely. Sums only grow: where the target has more, because they were deleted at the
 * source meanwhile, all sums of the subject go first. Those of other days come back in the next pass.
 */
export async function writeSums(
  store: KeyStore,
  workspaceId: string,
  differences: readonly SumsDifference[],
): Promise<void> {
  const beyond = new Set(differences.filter(isBeyond));
  const subjects = Array.from(beyond, ({ subject }) => subject);
  for (const some of piecesOf(subjects, MOST_SUBJECTS)) await deleteSums(store, workspaceId, some);
  const counts = differences.flatMap((difference): SubjectCount[] => {
    const { subject, wanted, present } = difference;
    const known = countsOf(beyond.has(difference) ? [] : present);
    return wanted.flatMap((sum) => {
      const count = sum.count - (known.get(placeOf(sum)) ?? 0);
      return count > 0 ? [{ ...sum, subject, count }] : [];
    });
  });
  for (const some of piecesOf(counts, MOST_SUMS))
    await store.addStatistics(workspaceId, { counts: some, uses: [] });
}

/** `of`: only sums of these subjects, at most 200. Default: all. */
export async function deleteSums(
  store: KeyStore,
  workspaceId: string,
  of?: readonly StatisticsSubject[],
): Promise<void> {
  for (let hasMore = true; hasMore; )
    ({ hasMore } = await store.deleteStatistics(workspaceId, END_OF_TIME, MOST_DELETED, of));
}

/** Whether the target has more than it should. */
function isBeyond({ wanted, present }: SumsDifference): boolean {
  const counts = countsOf(wanted);
  return present.some((sum) => sum.count > (counts.get(placeOf(sum)) ?? 0));
}

function countsOf(sums: readonly HourCount[]): ReadonlyMap<string, number> {
  return new Map(sums.map((sum) => [placeOf(sum), sum.count]));
}

function placeOf({ hourAt, code }: HourCount): string {
  return `${hourAt} ${code}`;
}
