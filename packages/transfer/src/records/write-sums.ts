import type { HourCount, KeyStore, StatisticsSubject, SubjectCount } from "@latchkey/core";
import { DAY_MS } from "./unowned-sums.js";

/** The sums that a subject should have, and those that the target has. */
export interface SumsDifference {
  readonly subject: StatisticsSubject;
  readonly wanted: readonly HourCount[];
  readonly present: readonly HourCount[];
}

/** Sums in one batch, sums that are deleted in one step, and subjects whose sums are. */
const [MOST_SUMS, MOST_DELETED, MOST_SUBJECTS] = [500, 1_000, 200];

/** The start of a day behind all days. */
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
  const countIn = (sums: readonly HourCount[], { hourAt, code }: HourCount) =>
    sums.find((one) => one.hourAt === hourAt && one.code === code)?.count ?? 0;
  const isBeyond = ({ wanted, present }: SumsDifference) =>
    present.some((sum) => sum.count > countIn(wanted, sum));
  const beyond = new Set(differences.filter(isBeyond));
  const subjects = Array.from(beyond, ({ subject }) => subject);
  for (let from = 0; from < subjects.length; from += MOST_SUBJECTS) {
    const some = subjects.slice(from, from + MOST_SUBJECTS);
    for (let hasMore = true; hasMore; )
      ({ hasMore } = await store.deleteStatistics(workspaceId, END_OF_TIME, MOST_DELETED, some));
  }
  const counts = differences.flatMap((difference): SubjectCount[] => {
    const { subject, wanted, present } = difference;
    const known = beyond.has(difference) ? [] : present;
    return wanted.flatMap((sum) => {
      const count = sum.count - countIn(known, sum);
      return count > 0 ? [{ ...sum, subject, count }] : [];
    });
  });
  for (let from = 0; from < counts.length; from += MOST_SUMS)
    await store.addStatistics(workspaceId, {
      counts: counts.slice(from, from + MOST_SUMS),
      uses: [],
    });
}
