import {
  COUNTED_CODES,
  type CountedCode,
  corruptRecord,
  type DeletedCount,
  type EpochMs,
  type HourCount,
  type StatisticsBatch,
  type StatisticsRange,
  type StatisticsSubject,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { prepare, prepareQuery, type Row, type SqliteStatement } from "./engine/database.js";
import type { Names } from "./engine/names.js";
import { isWhole } from "./engine/stored-counters.js";
import { KIND_CODE } from "./stored-record.js";

export const STATISTICS_SQL = {
  find: `SELECT hour_at, code, count FROM latchkey_statistic
    WHERE workspace = ? AND kind = ? AND subject = ? AND hour_at >= ? AND hour_at < ?
    ORDER BY hour_at`,
  old: `SELECT workspace, kind, subject, hour_at, code FROM latchkey_statistic
    WHERE workspace = ? AND hour_at < ? ORDER BY hour_at LIMIT ?`,
} as const;

const RAISE_USE = `INSERT INTO latchkey_used (record, at)
  SELECT seq, ? FROM latchkey_record WHERE workspace = ? AND kind = ? AND id = ?
  ON CONFLICT (record) DO UPDATE SET at = excluded.at WHERE excluded.at > at`;

const ADD = `INSERT INTO latchkey_statistic (workspace, kind, subject, hour_at, code, count)
  VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT (workspace, kind, subject, hour_at, code) DO UPDATE SET count = count + excluded.count`;

const FORGET = `DELETE FROM latchkey_statistic
  WHERE workspace = ? AND kind = ? AND subject = ? AND hour_at = ? AND code = ?`;

const SUBJECT_CODE: { readonly [Kind in StatisticsSubject["kind"]]: number } = KIND_CODE;
const PLACES: ReadonlyMap<unknown, number> = new Map(COUNTED_CODES.map((code, at) => [code, at]));

/** Sums of verifications, and the latest use of records. Call writes inside a write transaction. */
export class Statistics {
  readonly #names: Names;
  readonly #find: SqliteStatement;
  readonly #old: SqliteStatement;
  readonly #add: SqliteStatement;
  readonly #raiseUse: SqliteStatement;
  readonly #forget: SqliteStatement;

  constructor({ database, names }: Connection) {
    this.#names = names;
    this.#find = prepareQuery(database, STATISTICS_SQL.find);
    this.#old = prepareQuery(database, STATISTICS_SQL.old);
    this.#add = prepare(database, ADD);
    this.#raiseUse = prepare(database, RAISE_USE);
    this.#forget = prepare(database, FORGET);
  }

  add(workspaceId: string, { counts, uses }: StatisticsBatch): void {
    const workspace = this.#names.numberedWorkspace(workspaceId);
    for (const { subject, hourAt, code, count } of counts)
      this.#add.run(workspace, SUBJECT_CODE[subject.kind], subject.id, hourAt, code, count);
    for (const { kind, id, usedAt } of uses)
      this.#raiseUse.run(usedAt, workspace, KIND_CODE[kind], id);
  }

  /** By hour, then in the order of the codes. */
  read(workspaceId: string, { subject, startAt, endAt }: StatisticsRange): readonly HourCount[] {
    const workspace = this.#names.workspace(workspaceId);
    const kind = SUBJECT_CODE[subject.kind];
    const counts = this.#find.all(workspace, kind, subject.id, startAt, endAt).map(hourCount);
    return counts.sort((one, other) => one.hourAt - other.hourAt || placeOf(one) - placeOf(other));
  }

  /** Forgets up to `limit` sums of hours before `beforeAt`, the oldest first. */
  delete(workspaceId: string, beforeAt: EpochMs, limit: number): DeletedCount {
    const rows = this.#old.all(this.#names.workspace(workspaceId), beforeAt, limit + 1) as Row[];
    const old = rows.slice(0, limit);
    for (const row of old) this.#forget.run(...row);
    return { deleted: old.length, hasMore: rows.length > limit };
  }
}

function hourCount(row: unknown): HourCount {
  const [hourAt, code, count] = row as Row;
  if (!isWhole(hourAt) || !PLACES.has(code) || !isWhole(count)) throw corruptRecord("statistics");
  return { hourAt, code: code as CountedCode, count };
}

function placeOf({ code }: HourCount): number {
  return PLACES.get(code) ?? 0;
}
