import type { EpochMs, LimitCharge, RateWindow } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { FORGOTTEN_AT_ONCE, KEPT_AFTER_END_MS } from "./ended-windows.js";
import { readStored, whole } from "./values.js";

export const AD_HOC_SQL = {
  find: `SELECT started_at, used FROM latchkey_window
    WHERE counters_seq = ? AND name = ? AND duration_ms = ?`,
  ended: `SELECT counters_seq, name, duration_ms FROM latchkey_window
    WHERE started_at + duration_ms < ? ORDER BY started_at + duration_ms LIMIT ${FORGOTTEN_AT_ONCE}`,
} as const;

/**
 * Windows of limits that requests made up, beside the counters of a key. Nothing configures these limits, so nothing
 * bounds their number: those that ended over 24 hours ago are forgotten, a few with every charge that takes from such
 * a limit.
 */
export class AdHocWindows {
  readonly #find: Query;
  readonly #ended: Query;
  readonly #set: Command;
  readonly #forget: Command;
  readonly #deleteAll: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(database, AD_HOC_SQL.find);
    this.#ended = new Query(database, AD_HOC_SQL.ended);
    this.#set = new Command(
      database,
      `INSERT INTO latchkey_window (counters_seq, name, duration_ms, started_at, used)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (counters_seq, name, duration_ms)
        DO UPDATE SET started_at = excluded.started_at, used = excluded.used`,
    );
    this.#forget = new Command(
      database,
      "DELETE FROM latchkey_window WHERE counters_seq = ? AND name = ? AND duration_ms = ?",
    );
    this.#deleteAll = new Command(database, "DELETE FROM latchkey_window WHERE counters_seq = ?");
  }

  get(countersSeq: number, { name, durationMs }: LimitCharge): RateWindow | null {
    const row = this.#find.first(countersSeq, name, durationMs);
    if (row === undefined) return null;
    return readStored("window", null, () => ({ startedAt: whole(row[0]), used: whole(row[1]) }));
  }

  set(
    countersSeq: number,
    { name, durationMs }: LimitCharge,
    window: RateWindow,
    now: EpochMs,
  ): void {
    this.#set.run(countersSeq, name, durationMs, window.startedAt, window.used);
    for (const ended of this.#ended.all(now - KEPT_AFTER_END_MS)) this.#forget.run(...ended);
  }

  deleteAll(countersSeq: number): void {
    this.#deleteAll.run(countersSeq);
  }
}
