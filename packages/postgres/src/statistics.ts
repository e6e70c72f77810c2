import {
  type EpochMs,
  hourCount,
  type KeyStore,
  KIND_CODE,
  MOST_SUMS_A_DAY,
  parseWhole,
  STATISTICS_SPAN_MS,
  type StatisticsSubject,
  SUBJECT_CODE,
  wholeSubjects,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { storedText } from "./engine/names.js";

/** The methods of a store about sums of verifications. */
export function statisticsOf(connection: Connection) {
  const { sql } = connection;
  return {
    async addStatistics(workspaceId, { counts, uses }) {
      const batch = {
        counts: counts.map(({ subject, hourAt, code, count }) => ({
          ...storedSubject(subject),
          hourAt,
          code,
          count,
        })),
        uses: uses.map(({ kind, id, usedAt }) => ({ kind: KIND_CODE[kind], id, usedAt })),
      };
      await connection.ask(sql.addStatistics, [workspaceId, JSON.stringify(batch)], true);
    },
    async readStatistics(workspaceId, { subject: { kind, id }, startAt, endAt }) {
      const subjectKey = [workspaceId, String(SUBJECT_CODE[kind]), subjectText(id)];
      const range = [String(startAt), String(endAt)];
      const rows = await connection.ask(sql.sums, [...subjectKey, ...range]);
      return rows.map(([hourAt, code, count]) =>
        hourCount(parseWhole(hourAt), code, parseWhole(count)),
      );
    },
    async pageStatistics(workspaceId, { kind, dayAt, from, limit }) {
      const ofDay = [workspaceId, String(dayAt), String(SUBJECT_CODE[kind]), subjectText(from)];
      const most = String(limit + MOST_SUMS_A_DAY);
      const rows = await connection.ask(sql.daySums, [...ofDay, most]);
      const sums = rows.map(([subject, hourAt, code, count]) => ({
        subject: { kind, id: Buffer.from(String(subject), "hex").toString("utf8", 1) },
        ...hourCount(parseWhole(hourAt), code, parseWhole(count)),
      }));
      return wholeSubjects(sums, limit);
    },
    async nextStatisticsDay(workspaceId, from) {
      const [[dayAt] = []] = await connection.ask(sql.nextDay, [workspaceId, String(from)]);
      return parseWhole(dayAt);
    },
    async deleteStatistics(workspaceId, beforeAt, limit, of) {
      const values = [workspaceId, String(beforeAt), String(limit)];
      const [[gone, old] = []] = await (of === undefined
        ? connection.ask(sql.deleteSums, values, true)
        : connection.ask(
            sql.deleteSumsOf,
            [...values, JSON.stringify(of.map(storedSubject))],
            true,
          ));
      const deleted = parseWhole(gone) ?? 0;
      return { deleted, hasMore: (parseWhole(old) ?? 0) > deleted };
    },
  } satisfies Partial<KeyStore>;
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

/** In the form of the parameters of statements. */
function storedSubject({ kind, id }: StatisticsSubject) {
  return { kind: SUBJECT_CODE[kind], subject: subjectText(id) };
}

/** The stored form of an id, which sorts like the id after the first byte, even if the id could be a digest. */
function subjectText(id: string): string {
  return /^[\w.:-]{0,128} ?$/.test(id) ? `01${Buffer.from(id).toString("hex")}` : storedText(id);
}
