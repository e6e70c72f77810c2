import {
  type DeletedCount,
  type EpochMs,
  type HourCount,
  hourCount,
  KIND_CODE,
  parseWhole,
  type StatisticsBatch,
  type StatisticsRange,
  type StatisticsSubject,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { storedText } from "./engine/names.js";

/** Adds to sums, and raises the latest use of records. */
export async function addStatistics(
  connection: Connection,
  workspaceId: string,
  { counts, uses }: StatisticsBatch,
): Promise<void> {
  const batch = {
    counts: counts.map(({ subject: { kind, id }, hourAt, code, count }) => ({
      kind: KIND_CODE[kind],
      subject: storedText(id),
      hourAt,
      code,
      count,
    })),
    uses: uses.map(({ kind, id, usedAt }) => ({ kind: KIND_CODE[kind], id, usedAt })),
  };
  await connection.ask(connection.sql.addStatistics, [workspaceId, JSON.stringify(batch)], true);
}

/** The sums of a range, by hour. */
export async function readStatistics(
  connection: Connection,
  workspaceId: string,
  { subject, startAt, endAt }: StatisticsRange,
): Promise<readonly HourCount[]> {
  const subjectKey = [workspaceId, String(KIND_CODE[subject.kind]), storedText(subject.id)];
  const range = [String(startAt), String(endAt)];
  const rows = await connection.ask(connection.sql.sums, [...subjectKey, ...range]);
  return rows.map(([hourAt, code, count]) =>
    hourCount(parseWhole(hourAt), code, parseWhole(count)),
  );
}

/** Forgets the oldest sums of hours before `beforeAt`, or those of some subjects, up to `limit`. */
export async function deleteStatistics(
  connection: Connection,
  workspaceId: string,
  beforeAt: EpochMs,
  limit: number,
  of?: readonly StatisticsSubject[],
): Promise<DeletedCount> {
  const values = [workspaceId, String(beforeAt), String(limit)];
  const subjects = of?.map(({ kind, id }) => ({ kind: KIND_CODE[kind], subject: storedText(id) }));
  const [[gone, old] = []] = await (subjects === undefined
    ? connection.ask(connection.sql.deleteSums, values, true)
    : connection.ask(connection.sql.deleteSumsOf, [...values, JSON.stringify(subjects)], true));
  const deleted = parseWhole(gone) ?? 0;
  return { deleted, hasMore: (parseWhole(old) ?? 0) > deleted };
}
