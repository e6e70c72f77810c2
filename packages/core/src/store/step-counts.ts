import type { ChargeMoment, ChargePlan, ChargeResult } from "./charge.js";
import type { HoldMoment, HoldResult } from "./settle.js";
import {
  type CodeSums,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsSubject,
  type SumCode,
} from "./statistics.js";

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
