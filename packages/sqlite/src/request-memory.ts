import type { ChargeState, EpochMs, LimitReading } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { damaged, json, list, nullable, object, readStored, text, whole } from "./values.js";

type RememberedCharge = NonNullable<ChargeState["remembered"]>;
type SettledCharge = RememberedCharge["result"];

/** More than is added at once, so that forgetting keeps up. */
const FORGOTTEN_AT_ONCE = 2;

const KINDS: ReadonlySet<unknown> = new Set(["charged", "rate-limited", "usage-exceeded"]);

export const REQUEST_SQL = {
  find: `SELECT fingerprint, until, result FROM latchkey_request
    WHERE key_seq = ? AND request_id = ?`,
  ended: `SELECT key_seq, request_id FROM latchkey_request
    WHERE until <= ? ORDER BY until LIMIT ${FORGOTTEN_AT_ONCE}`,
} as const;

/** What became of charges that carried a request id, until they may be forgotten. */
export class RequestMemory {
  readonly #find: Query;
  readonly #ended: Query;
  readonly #set: Command;
  readonly #forget: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(database, REQUEST_SQL.find);
    this.#ended = new Query(database, REQUEST_SQL.ended);
    this.#set = new Command(
      database,
      `INSERT OR REPLACE INTO latchkey_request (key_seq, request_id, fingerprint, until, result)
        VALUES (?, ?, ?, ?, ?)`,
    );
    this.#forget = new Command(
      database,
      "DELETE FROM latchkey_request WHERE key_seq = ? AND request_id = ?",
    );
  }

  /** @throws LatchkeyError `STORE_CORRUPT` when the row is not one that could have been written. */
  get(keySeq: number, requestId: string): RememberedCharge | null {
    const row = this.#find.first(keySeq, requestId);
    if (row === undefined) return null;
    return readStored("request", null, () => ({
      fingerprint: text(row[0]),
      until: whole(row[1]),
      result: settledCharge(json(row[2])),
    }));
  }

  /** Remembers one charge, and forgets a few that have ended before `now`. */
  set(keySeq: number, requestId: string, charge: RememberedCharge, now: EpochMs): void {
    for (const ended of this.#ended.all(now)) this.#forget.run(...ended);
    const { fingerprint, until, result } = charge;
    this.#set.run(keySeq, requestId, fingerprint, until, JSON.stringify(result));
  }
}

function settledCharge(value: unknown): SettledCharge {
  const { kind, remaining, limits } = object(value);
  return {
    kind: KINDS.has(kind) ? (kind as SettledCharge["kind"]) : damaged(),
    remaining: nullable(remaining, whole),
    limits: list(limits, limitReading),
  };
}

function limitReading(value: unknown): LimitReading {
  const { name, limit, remaining, resetAt, exceeded } = object(value);
  if (typeof exceeded !== "boolean") return damaged();
  return {
    name: text(name),
    limit: whole(limit),
    remaining: whole(remaining),
    resetAt: whole(resetAt),
    exceeded,
  };
}
