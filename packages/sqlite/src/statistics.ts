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
import { prepareAll, type Row } from "./engine/database.js";
import type { Names } from "./engine/names.js";
import { isWhole } from "./engine/stored-counters.js";
import { KIND_CODE } from "./stored-record.js";

export const STATISTICS_SQL = {
  find: `SELECT hour_at, code, count FROM latchkey_statistic
    WHERE workspace = ? AND kind = ? AND subject = ? AND hour_at >= ? AND hour_at < ? ORDER BY hour_at`,
  old: `SELECT workspace, kind, subject, hour_at, code FROM latchkey_statistic
    WHERE workspace = ? AND hour_at < ? ORDER BY hour_at LIMIT ?`,
  add: `INSERT INTO latchkey_statistic (workspace, kind, subject, hour_at, code, count)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (workspace, kind, subject, hour_at, code) DO UPDATE SET count = count + excluded.count`,
  raiseUse: `INSERT INTO latchkey_used (record, at)
    SELECT seq, ? FROM latchkey_record WHERE workspace = ? AND kind = ? AND id = ?
    ON CONFLICT (record) DO UPDATE SET at = excluded.at WHERE excluded.at > at`,
  forget: `DELETE FROM latchkey_statistic
    WHERE workspace = ? AND kind = ? AND subject = ? AND hour_at = ? AND code = ?`,
} as const;

const PLACES: ReadonlyMap<unknown, number> = new Map(COUNTED_CODES.map((code, at) => [code, at]));

/** Sums of verifications, and the latest use of records. Call writes inside a write transaction. */
export class Statistics {
  readonly #names: Names;
  readonly #run;

  constructor({ database, names }: Connection) {
    this.#names = names;
    this.#run = prepareAll(database, STATISTICS_SQL);
  }

  add(workspaceId: string, { counts, uses }: StatisticsBatch): void {
    const workspace = this.#names.workspace(workspaceId, true);
    for (const { subject, hourAt, code, count } of counts)
      this.#run.add.run(workspace, KIND_CODE[subject.kind], subject.id, hourAt, code, count);
    for (const { kind, id, usedAt } of uses)
      this.#run.raiseUse.run(usedAt, workspace, KIND_CODE[kind], id);
  }

  /** By hour, then in the order of the codes. */
  read(workspaceId: string, { subject, startAt, endAt }: StatisticsRange): readonly HourCount[] {
    const workspace = this.#names.workspace(workspaceId);
    const rows = this.#run.find.all(workspace, KIND_CODE[subject.kind], subject.id, startAt, endAt);
    const counts = rows.map(hourCount);
    return counts.sort((one, other) => one.hourAt - other.hourAt || placeOf(one) - placeOf(other));
  }

  /** Forgets up to `limit` sums of hours before `beforeAt`, the oldest first. */
  delete(workspaceId: string, beforeAt: EpochMs, limit: number): DeletedCount {
    const rows = this.#run.old.all(this.#names.workspace(workspaceId), beforeAt, limit + 1);
    const old = rows.slice(0, limit);
    for (const row of old) this.#run.forget.run(...row);
    return { deleted: old.length, hasMore: rows.length > limit };
  }
}

function hourCount([hourAt, code, count]: Row): HourCount {
  if (!isWhole(hourAt) || !PLACES.has(code) || !isWhole(count)) throw corruptRecord("statistics");
  return { hourAt, code: code as CountedCode, count };
}

function placeOf({ code }: HourCount): number {
  return PLACES.get(code) ?? 0;
}
