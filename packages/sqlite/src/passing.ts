import {
  corruptRecord,
  type EpochMs,
  type LimitCharge,
  type RateWindow,
  type RecordAddress,
  type RememberedCharge,
} from "@latchkey/core";
import {
  prepare,
  prepareQuery,
  type SqliteDatabase,
  type SqliteStatement,
} from "./engine/database.js";
import { isWhole } from "./engine/stored-counters.js";

/** How long what has ended is kept: a clock that is set back by less opens no window again, and repeats no request. */
const KEPT_AFTER_END_MS: EpochMs = 86_400_000;

export const PASSING_SQL = {
  find: "SELECT value FROM latchkey_passing WHERE workspace = ? AND name = ?",
  /** More than is added at once, so that forgetting keeps up. */
  ended: "SELECT workspace, name FROM latchkey_passing WHERE until < ? ORDER BY until LIMIT 2",
} as const;

/**
 * What has an end: windows that no record owns, by the name of the window, and remembered requests, by the record that each
 * is remembered beside and its id. Those that ended over a day ago go, two with each one that is written.
 */
export class Passing {
  readonly #find: SqliteStatement;
  readonly #ended: SqliteStatement;
  readonly #set: SqliteStatement;
  readonly #forget: SqliteStatement;
  readonly #forgetAll: SqliteStatement;

  constructor(database: SqliteDatabase) {
    this.#find = prepare(database, PASSING_SQL.find).pluck(true);
    this.#ended = prepareQuery(database, PASSING_SQL.ended);
    this.#set = prepare(
      database,
      "INSERT OR REPLACE INTO latchkey_passing (workspace, name, until, value) VALUES (?, ?, ?, ?)",
    );
    const forget = "DELETE FROM latchkey_passing WHERE workspace = ? AND name";
    this.#forget = prepare(database, `${forget} = ?`);
    this.#forgetAll = prepare(database, `${forget} >= ? AND name < ?`);
  }

  /** @throws LatchkeyError `STORE_CORRUPT` when the row is not one that could have been written. */
  window(workspace: number, name: string): RateWindow | null {
    const found = this.#read(workspace, name);
    if (found === null) return null;
    const { startedAt, used } = found as Partial<RateWindow>;
    return isWhole(startedAt) && isWhole(used) ? { startedAt, used } : damaged();
  }

  setWindow(
    workspace: number,
    { window: name, duration }: LimitCharge,
    window: RateWindow,
    now: EpochMs,
  ): void {
    this.#write(workspace, name, window.startedAt + duration, window, now);
  }

  forgetWindow(workspace: number, name: string): void {
    this.#forget.run(workspace, name);
  }

  /** @throws LatchkeyError `STORE_CORRUPT` when the row is not one that could have been written. */
  request(workspace: number, beside: RecordAddress, id: string): RememberedCharge | null {
    const found = this.#read(workspace, requestsOf(beside) + id);
    if (found === null) return null;
    const { fingerprint, until, result } = found as Partial<RememberedCharge>;
    if (typeof fingerprint !== "string" || !isWhole(until)) return damaged();
    if (!Array.isArray(result?.limits) || typeof result.kind !== "string") return damaged();
    return { fingerprint, until, result };
  }

  setRequest(
    workspace: number,
    beside: RecordAddress,
    id: string,
    remembered: RememberedCharge,
    now: EpochMs,
  ): void {
    this.#write(workspace, requestsOf(beside) + id, remembered.until, remembered, now);
  }

  /** Forgets the requests that are remembered beside a record. */
  forgetRequests(workspace: number, beside: RecordAddress): void {
    const start = requestsOf(beside);
    this.#forgetAll.run(workspace, start, `${start.slice(0, -1)}!`);
  }

  #read(workspace: number, name: string): object | null {
    const stored = this.#find.get(workspace, name);
    if (stored === undefined) return null;
    let value: unknown;
    try {
      value = JSON.parse(stored as string);
    } catch {
      return damaged();
    }
    return typeof value === "object" && value !== null ? value : damaged();
  }

  #write(workspace: number, name: string, until: EpochMs, value: object, now: EpochMs): void {
    for (const ended of this.#ended.all(now - KEPT_AFTER_END_MS) as unknown[][])
      this.#forget.run(...ended);
    this.#set.run(workspace, name, until, JSON.stringify(value));
  }
}

/** What the names of requests begin with. Names of windows have no space, so that neither is taken for the other. */
function requestsOf({ kind, id }: RecordAddress): string {
  return `${kind} ${id} `;
}

function damaged(): never {
  throw corruptRecord("window or request");
}
