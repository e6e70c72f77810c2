import {
  COUNTED_CODES,
  type CountedCode,
  type CountSubject,
  type EpochMs,
  type HourCount,
  type Removal,
  type VerificationBatch,
} from "@latchkey/core";
import { Command, Query, type RawRow, type SqliteDatabase } from "./database.js";
import { damaged, readStored, whole } from "./values.js";

export const VERIFICATION_SQL = {
  find: `SELECT hour_at, code, count FROM latchkey_verification
    WHERE workspace_id = ? AND kind = ? AND subject_id = ? AND hour_at >= ? AND hour_at < ?
    ORDER BY hour_at`,
  old: `SELECT workspace_id, kind, subject_id, hour_at, code FROM latchkey_verification
    WHERE workspace_id = ? AND hour_at < ? ORDER BY hour_at LIMIT ?`,
  raiseLastUse: `INSERT INTO latchkey_last_use (key_seq, used_at)
    SELECT seq, ? FROM latchkey_key WHERE id = ? AND workspace_id = ? AND deleted_at IS NULL
    ON CONFLICT (key_seq) DO UPDATE SET used_at = excluded.used_at
    WHERE excluded.used_at > used_at`,
} as const;

const CODES: ReadonlyMap<unknown, number> = new Map(
  COUNTED_CODES.map((code, place) => [code, place]),
);

/** How often keys, identities and APIs were verified, by hour. Writes are to be called inside a write transaction. */
export class VerificationCounters {
  readonly #find: Query;
  readonly #old: Query;
  readonly #add: Command;
  readonly #raiseLastUse: Command;
  readonly #forget: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(database, VERIFICATION_SQL.find);
    this.#old = new Query(database, VERIFICATION_SQL.old);
    this.#add = new Command(
      database,
      `INSERT INTO latchkey_verification (workspace_id, kind, subject_id, hour_at, code, count)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (workspace_id, kind, subject_id, hour_at, code)
        DO UPDATE SET count = count + excluded.count`,
    );
    this.#raiseLastUse = new Command(database, VERIFICATION_SQL.raiseLastUse);
    this.#forget = new Command(
      database,
      `DELETE FROM latchkey_verification
        WHERE workspace_id = ? AND kind = ? AND subject_id = ? AND hour_at = ? AND code = ?`,
    );
  }

  add(workspaceId: string, { counts, lastUsed }: VerificationBatch): void {
    for (const { subject, hourAt, code, count } of counts) {
      this.#add.run(workspaceId, subject.kind, subject.id, hourAt, code, count);
    }
    for (const { keyId, usedAt } of lastUsed) this.#raiseLastUse.run(usedAt, keyId, workspaceId);
  }

  /** By hour, then in the order of the codes. */
  get(
    workspaceId: string,
    { kind, id }: CountSubject,
    startAt: EpochMs,
    endAt: EpochMs,
  ): readonly HourCount[] {
    const counts = this.#find.all(workspaceId, kind, id, startAt, endAt).map(hourCount);
    return counts.sort((one, other) => one.hourAt - other.hourAt || placeOf(one) - placeOf(other));
  }

  /** Forgets up to `limit` counters of hours before `beforeAt`, the oldest first. */
  delete(workspaceId: string, beforeAt: EpochMs, limit: number): Removal {
    const rows = this.#old.all(workspaceId, beforeAt, limit + 1);
    const old = rows.slice(0, limit);
    for (const row of old) this.#forget.run(...row);
    return { deleted: old.length, hasMore: rows.length > limit };
  }
}

function hourCount(row: RawRow): HourCount {
  return readStored("verification", null, () => ({
    hourAt: whole(row[0]),
    code: CODES.has(row[1]) ? (row[1] as CountedCode) : damaged(),
    count: whole(row[2], 1),
  }));
}

function placeOf({ code }: HourCount): number {
  return CODES.get(code) ?? 0;
}
