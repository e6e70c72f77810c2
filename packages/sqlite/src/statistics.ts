import {
  hourCount,
  type KeyStore,
  MOST_SUMS_A_DAY,
  parseWhole,
  type StatisticsBatch,
  SUBJECT_CODE,
  wholeSubjects,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { addressOf } from "./engine/statements.js";
import type { Transactions } from "./engine/transactions.js";

/** Adds to sums, and raises the latest use of records. Call it inside a write transaction. */
export function addStatistics(at: Connection, workspaceId: string, batch: StatisticsBatch): void {
  const workspace = at.names.workspace(workspaceId, batch.counts.length > 0);
  for (const { subject, hourAt, code, count } of batch.counts)
    at.run.addSum.run(workspace, SUBJECT_CODE[subject.kind], subject.id, hourAt, code, count);
  for (const use of batch.uses) at.run.raiseUse.run(use.usedAt, ...addressOf(workspace, use));
}

/** The methods of a store about sums of verifications. Each read is one statement. */
export function statisticsOf(at: Connection, steps: Transactions) {
  const { run, names } = at;
  const numberOf = (workspaceId: string) => {
    at.memo.confirm();
    return names.workspace(workspaceId);
  };
  return {
    addStatistics: async (...given) => steps.charge(() => addStatistics(at, ...given)),
    readStatistics: async (workspaceId, { subject: { kind, id }, startAt, endAt }) =>
      steps.read(() =>
        run.sums
          .all(numberOf(workspaceId), SUBJECT_CODE[kind], id, startAt, endAt)
          .map(([hourAt, code, count]) => hourCount(hourAt, code, count)),
      ),
    pageStatistics: async (workspaceId, { kind, dayAt, from, limit }) =>
      steps.read(
        () => {
          const ofDay = [numberOf(workspaceId), dayAt, SUBJECT_CODE[kind], from];
          const rows = run.daySums.all(...ofDay, limit + MOST_SUMS_A_DAY);
          const sums = rows.map(([id, hourAt, code, count]) => {
            return { subject: { kind, id: String(id) }, ...hourCount(hourAt, code, count) };
          });
          return wholeSubjects(sums, limit);
        },
        ({ sums }) => sums.length,
      ),
    nextStatisticsDay: async (workspaceId, from) =>
      steps.read(() => parseWhole(run.nextDay.get(numberOf(workspaceId), from)?.[0])),
    deleteStatistics: (workspaceId, beforeAt, limit, of) =>
      steps.commit(() => {
        const workspace = names.workspace(workspaceId);
        if (of === undefined) {
          const { changes } = run.deleteSums.run(workspace, beforeAt, limit);
          const isLeft = run.oldSum.get(workspace, beforeAt) !== undefined;
          return { deleted: changes, hasMore: isLeft };
        }
        let deleted = 0;
        for (const { kind, id } of of) {
          const subject = [workspace, SUBJECT_CODE[kind], id];
          deleted += run.deleteSumsOf.run(...subject, beforeAt, limit - deleted).changes;
        }
        // There may be none left: the next call finds out.
        return { deleted, hasMore: deleted === limit };
      }),
  } satisfies Partial<KeyStore>;
}
