import {
  type DeletedCount,
  type EpochMs,
  type HourCount,
  hourCount,
  KIND_CODE,
  MOST_SUMS_A_DAY,
  parseWhole,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsRange,
  type StatisticsSubject,
  SUBJECT_CODE,
  wholeSubjects,
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
      kind: SUBJECT_CODE[kind],
      subject: subjectText(id),
      hourAt,
      code,
      count,
    })),
    uses: uses.map(({ kind, id, usedAt }) => ({ kind: KIND_CODE[kind], id, usedAt })),
  };
  await connection.ask(connection.sql.addStatistics, [workspaceId, JSON.stringify(batch)], true);
}

/** The subjects and the hour whose sums another statement also adds to. */
export function countedAt(
  workspaceId: string,
  subjects: readonly StatisticsSubject[],
  now: EpochMs,
) {
  return {
    workspace: workspaceId,
    hourAt: now - (now % STATISTICS_SPAN_MS),
    subjects: subjects.map(({ kind, id }) => [SUBJECT_CODE[kind], subjectText(id)]),
  };
}

/** The sums of a range, by hour. */
export async function readStatistics(
  connection: Connection,
  workspaceId: string,
  { subject, startAt, endAt }: StatisticsRange,
): Promise<readonly HourCount[]> {
  const subjectKey = [workspaceId, String(SUBJECT_CODE[subject.kind]), subjectText(subject.id)];
  const range = [String(startAt), String(endAt)];
  const rows = await connection.ask(connection.sql.sums, [...subjectKey, ...range]);
  return rows.map(([hourAt, code, count]) =>
    hourCount(parseWhole(hourAt), code, parseWhole(count)),
  );
}

/** The sums of a day, subject by subject. */
export async function pageStatistics(
  connection: Connection,
  workspaceId: string,
  { kind, dayAt, from, limit }: StatisticsPageWant,
): Promise<StatisticsPage> {
  const ofDay = [workspaceId, String(dayAt), String(SUBJECT_CODE[kind]), subjectText(from)];
  const most = String(limit + MOST_SUMS_A_DAY);
  const rows = await connection.ask(connection.sql.daySums, [...ofDay, most]);
  const sums = rows.map(([subject, hourAt, code, count]) => ({
    subject: { kind, id: Buffer.from(String(subject), "hex").toString("utf8", 1) },
    ...hourCount(parseWhole(hourAt), code, parseWhole(count)),
  }));
  return wholeSubjects(sums, limit);
}

/** The first day at or after `from` that has sums; null if there is none. */
export async function nextStatisticsDay(
  connection: Connection,
  workspaceId: string,
  from: EpochMs,
): Promise<EpochMs | null> {
  const [[dayAt] = []] = await connection.ask(connection.sql.nextDay, [workspaceId, String(from)]);
  return parseWhole(dayAt);
}

/** Deletes the oldest sums of hours before `beforeAt`, or those of some subjects, up to `limit`. */
export async function deleteStatistics(
  connection: Connection,
  workspaceId: string,
  beforeAt: EpochMs,
  limit: number,
  of?: readonly StatisticsSubject[],
): Promise<DeletedCount> {
  const values = [workspaceId, String(beforeAt), String(limit)];
  const subjects = of?.map(({ kind, id }) => ({
    kind: SUBJECT_CODE[kind],
    subject: subjectText(id),
  }));
  const [[gone, old] = []] = await (subjects === undefined
    ? connection.ask(connection.sql.deleteSums, values, true)
    : connection.ask(connection.sql.deleteSumsOf, [...values, JSON.stringify(subjects)], true));
  const deleted = parseWhole(gone) ?? 0;
  return { deleted, hasMore: (parseWhole(old) ?? 0) > deleted };
}

/** The stored form of an id, which sorts like the id after the first byte, even if the id could be a digest. */
function subjectText(id: string): string {
  return /^[\w.:-]{0,128} ?$/.test(id) ? `01${Buffer.from(id).toString("hex")}` : storedText(id);
}
