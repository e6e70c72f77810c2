import {
  type DeletedCount,
  type EpochMs,
  hourCount,
  KIND_CODE,
  type StatisticsBatch,
  type StatisticsRange,
  type StatisticsSubject,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { addressOf } from "./engine/statements.js";

/** Adds to sums, and raises the latest use of records. Call it inside a write transaction. */
export function addStatistics(at: Connection, workspaceId: string, batch: StatisticsBatch): void {
  const workspace = at.names.workspace(workspaceId, true);
  for (const { subject, hourAt, code, count } of batch.counts)
    at.run.addSum.run(workspace, KIND_CODE[subject.kind], subject.id, hourAt, code, count);
  for (const use of batch.uses) at.run.raiseUse.run(use.usedAt, ...addressOf(workspace, use));
}

/** The sums of a range, by hour. */
export function readStatistics(at: Connection, workspaceId: string, range: StatisticsRange) {
  const { subject, startAt, endAt } = range;
  at.memo.confirm();
  const subjectKey = [at.names.workspace(workspaceId), KIND_CODE[subject.kind], subject.id];
  return at.run.sums
    .all(...subjectKey, startAt, endAt)
    .map((row) => hourCount(row[0], row[1], row[2]));
}

/** Forgets the oldest sums of hours before `beforeAt`, or those of some subjects, up to `limit`. Call it inside a write transaction. */
export function deleteStatistics(
  { run, names }: Connection,
  workspaceId: string,
  beforeAt: EpochMs,
  limit: number,
  of?: readonly StatisticsSubject[],
): DeletedCount {
  const workspace = names.workspace(workspaceId);
  if (of !== undefined) {
    let deleted = 0;
    for (const { kind, id } of of)
      deleted += run.deleteSumsOf.run(
        workspace,
        KIND_CODE[kind],
        id,
        beforeAt,
        limit - deleted,
      ).changes;
    // There may be no more: then the next call says so.
    return { deleted, hasMore: deleted === limit };
  }
  const old = [workspace, beforeAt];
  const { changes } = run.deleteSums.run(...old, limit);
  return { deleted: changes, hasMore: run.oldSum.get(...old) !== undefined };
}
