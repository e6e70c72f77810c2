import {
  corruptRecord,
  type EpochMs,
  type RateWindow,
  type RecordAddress,
  type RememberedCharge,
} from "@latchkey/core";
import { prepareAll, type SqliteDatabase } from "./engine/database.js";
import { isWhole } from "./engine/stored-counters.js";

/** How long what has ended is kept: a clock that is set back by less opens no window again, and repeats no request. */
const KEPT_AFTER_END_MS: EpochMs = 86_400_000;

export const PASSING_SQL = {
  find: "SELECT value FROM latchkey_passing WHERE workspace = ? AND name = ?",
  /** More than is added at once, so that forgetting keeps up. */
  ended: "SELECT workspace, name FROM latchkey_passing WHERE until < ? ORDER BY until LIMIT 2",
  set: "INSERT OR REPLACE INTO latchkey_passing (workspace, name, until, value) VALUES (?, ?, ?, ?)",
  forget: "DELETE FROM latchkey_passing WHERE workspace = ? AND name = ?",
  forgetAll: "DELETE FROM latchkey_passing WHERE workspace = ? AND name >= ? AND name < ?",
} as const;

/**
 * What has an end: windows that no record owns, by the name of the window, and remembered requests, by the record that each
 * is remembered beside and its id. Those that ended over a day ago go, two with each one that is written.
 */
export class Passing {
  readonly #run;

  constructor(database: SqliteDatabase) {
    this.#run = prepareAll(database, PASSING_SQL);
  }

  /** @throws LatchkeyError `STORE_CORRUPT` when the row is not one that could have been written. */
  window(workspace: number, name: string): RateWindow | null {
    const { startedAt, used } = this.#read<RateWindow>(workspace, name) ?? { startedAt: null };
    if (startedAt === null) return null;
    return isWhole(startedAt) && isWhole(used) ? { startedAt, used } : damaged();
  }

  /** @throws LatchkeyError `STORE_CORRUPT` when the row is not one that could have been written. */
  request(workspace: number, name: string): RememberedCharge | null {
    const found = this.#read<RememberedCharge>(workspace, name);
    if (found === null) return null;
    const { fingerprint, until, result } = found;
    const isWritten = typeof fingerprint === "string" && isWhole(until);
    return isWritten && Array.isArray(result?.limits) ? { fingerprint, until, result } : damaged();
  }

  set(workspace: number, name: string, until: EpochMs, value: object, now: EpochMs): void {
    for (const ended of this.#run.ended.all(now - KEPT_AFTER_END_MS))
      this.#run.forget.run(...ended);
    this.#run.set.run(workspace, name, until, JSON.stringify(value));
  }

  forget(workspace: number, name: string): void {
    this.#run.forget.run(workspace, name);
  }

  /** Forgets the requests that are remembered beside a record. */
  forgetRequests(workspace: number, beside: RecordAddress): void {
    const first = requestName(beside, "");
    this.#run.forgetAll.run(workspace, first, `${first.slice(0, -1)}!`);
  }

  #read<Value>(workspace: number, name: string): Partial<Value> | null {
    const row = this.#run.find.get(workspace, name);
    if (row === undefined) return null;
    try {
      return JSON.parse(row[0] as string) ?? damaged();
    } catch {
      return damaged();
    }
  }
}

/** The name under which a request is remembered. Those of windows have no space, so that neither is taken for the other. */
export function requestName({ kind, id }: RecordAddress, requestId: string): string {
  return `${kind} ${id} ${requestId}`;
}

function damaged(): never {
  throw corruptRecord("window or request");
}
