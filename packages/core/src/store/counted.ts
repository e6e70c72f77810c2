import type { AppliedCharge, ChargeMoment, ChargePlan, ChargeResult } from "./charge.js";
import type { HoldMoment, HoldResult } from "./settle.js";
import {
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsSubject,
  type SumCode,
} from "./statistics.js";

/** What is added to sums of one subject and hour: whole numbers >= 1. */
export type CodeSums = Readonly<Partial<Record<SumCode, number>>>;

/** What the step of a charge adds to sums: the same to those of each subject, in the hour of its moment. */
export interface ChargeCounts {
  /** No two are the same. */
  readonly subjects: readonly StatisticsSubject[];
  /**
   * By what the plan came to, `repeat` where that was charged before under the same request id. Where it was no repeat and a shadow had no
   * room, 1 is added to `SHADOW_LIMITED` as well. A plan that came to anything else adds nothing.
   */
  readonly sums: Readonly<Record<AppliedCharge["kind"] | "repeat", CodeSums>>;
}

/** What a store adds to sums in the step of a charge; null for nothing. */
export function countedByCharge(
  { counts, limits }: Pick<ChargePlan, "counts" | "limits">,
  { now }: Pick<ChargeMoment, "now">,
  result: ChargeResult,
): StatisticsBatch | null {
  if (counts === undefined || !("limits" in result)) return null;
  const { kind, isRepeat, limits: readings } = result;
  const sums = counts.sums[kind === "charged" && isRepeat ? "repeat" : kind];
  const isShadowed =
    !isRepeat && readings.some(({ exceeded }, at) => exceeded && limits[at]?.shadow);
  return batchOf(counts.subjects, isShadowed ? { ...sums, SHADOW_LIMITED: 1 } : sums, now);
}

/** What a store adds to sums in the step that ends a hold; null for nothing. */
export function countedBySettle(
  { counts, now }: Pick<HoldMoment, "counts" | "now">,
  result: HoldResult,
): StatisticsBatch | null {
  if (counts === undefined || result.kind !== "ended" || result.isRepeat) return null;
  const { uses } = result.used;
  return uses === 0 ? null : batchOf(counts, { EXTRA_USES: uses }, now);
}

function batchOf(
  subjects: readonly StatisticsSubject[],
  sums: CodeSums,
  now: number,
): StatisticsBatch {
  const hourAt = now - (now % STATISTICS_SPAN_MS);
  const codes = Object.entries(sums) as [SumCode, number][];
  const counts = subjects.flatMap((subject) =>
    codes.map(([code, count]) => ({ subject, hourAt, code, count })),
  );
  return { counts, uses: [] };
}
