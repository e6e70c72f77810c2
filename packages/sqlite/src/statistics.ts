import {
  COUNTED_CODES,
  type CountedCode,
  corruptRecord,
  type DeletedCount,
  type EpochMs,
  type HourCount,
  type StatisticsBatch,
  type StatisticsRange,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { isWhole } from "./engine/counters.js";
import { KIND_CODE } from "./engine/statements.js";

/** Adds to sums, and raises the latest use of records. Call it inside a write transaction. */
export function addStatistics(
  { run, names }: Connection,
  workspaceId: string,
  { counts, uses }: StatisticsBatch,
): void {
  const workspace = names.workspace(workspaceId, true);
  for (const { subject, hourAt, code, count } of counts)
    run.addSum.run(workspace, KIND_CODE[subject.kind], subject.id, hourAt, code, count);
  for (const { kind, id, usedAt } of uses) run.raiseUse.run(usedAt, workspace, KIND_CODE[kind], id);
}

/** The sums of a range, by hour. */
export function readStatistics(
  { run, names }: Connection,
  workspaceId: string,
  { subject, startAt, endAt }: StatisticsRange,
): readonly HourCount[] {
  const place = [names.workspace(workspaceId), KIND_CODE[subject.kind], subject.id];
  return run.sums.all(...place, startAt, endAt).map(([hourAt, code, count]) => {
    const isCode = COUNTED_CODES.includes(code as CountedCode);
    if (!isWhole(hourAt) || !isCode || !isWhole(count)) throw corruptRecord("statistics");
    return { hourAt, code: code as CountedCode, count };
  });
}

/** Forgets up to `limit` sums of hours before `beforeAt`, the oldest first. Call it inside a write transaction. */
export function deleteStatistics(
  { run, names }: Connection,
  workspaceId: string,
  beforeAt: EpochMs,
  limit: number,
): DeletedCount {
  const rows = run.oldSums.all(names.workspace(workspaceId), beforeAt, limit + 1);
  const old = rows.slice(0, limit);
  for (const row of old) run.deleteSum.run(...row);
  return { deleted: old.length, hasMore: rows.length > limit };
}
