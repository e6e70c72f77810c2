import {
  type DeletedCount,
  type EpochMs,
  hourCount,
  MOST_SUMS_A_DAY,
  parseWhole,
  type StatisticsBatch,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsRange,
  type StatisticsSubject,
  SUBJECT_CODE,
  wholeSubjects,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { addressOf } from "./engine/statements.js";

/** Adds to sums, and raises the latest use of records. Call it inside a write transaction. */
export function addStatistics(at: Connection, workspaceId: string, batch: StatisticsBatch): void {
  const workspace = at.names.workspace(workspaceId, batch.counts.length > 0);
  for (const { subject, hourAt, code, count } of batch.counts)
    at.run.addSum.run(workspace, SUBJECT_CODE[subject.kind], subject.id, hourAt, code, count);
  for (const use of batch.uses) at.run.raiseUse.run(use.usedAt, ...addressOf(workspace, use));
}

/** The sums of a range, by hour. */
export function readStatistics(at: Connection, workspaceId: string, range: StatisticsRange) {
  const { subject, startAt, endAt } = range;
  at.memo.confirm();
  const subjectKey = [at.names.workspace(workspaceId), SUBJECT_CODE[subject.kind], subject.id];
  return at.run.sums
    .all(...subjectKey, startAt, endAt)
    .map((row) => hourCount(row[0], row[1], row[2]));
}

/** The sums of a day, subject by subject. */
export function pageStatistics(
  at: Connection,
  workspaceId: string,
  { kind, dayAt, from, limit }: StatisticsPageWant,
): StatisticsPage {
  at.memo.confirm();
  const ofDay = [at.names.workspace(workspaceId), dayAt, SUBJECT_CODE[kind], from];
  const rows = at.run.daySums.all(...ofDay, limit + MOST_SUMS_A_DAY);
  const sums = rows.map((row) => {
    const subject = { kind, id: String(row[0]) };
    return { subject, ...hourCount(row[1], row[2], row[3]) };
  });
  return wholeSubjects(sums, limit);
}

/** The first day at or after `from` that has sums; null if there is none. */
export function nextStatisticsDay(
  at: Connection,
  workspaceId: string,
  from: EpochMs,
): EpochMs | null {
  at.memo.confirm();
  return parseWhole(at.run.nextDay.get(at.names.workspace(workspaceId), from)?.[0]);
}

/** Deletes the oldest sums of hours before `beforeAt`, or those of some subjects, up to `limit`. Call it inside a write transaction. */
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
        SUBJECT_CODE[kind],
        id,
        beforeAt,
        limit - deleted,
      ).changes;
    // There may be none left: the next call finds out.
    return { deleted, hasMore: deleted === limit };
  }
  const old = [workspace, beforeAt];
  const { changes } = run.deleteSums.run(...old, limit);
  return { deleted: changes, hasMore: run.oldSum.get(...old) !== undefined };
}
