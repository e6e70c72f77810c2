import type { Usage } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { nullable, readStored, whole } from "./values.js";
import { decodeWindows, encodeWindows, type StoredWindows } from "./windows.js";

/** The counters of a key, of the keys of a rotation together, or of an identity. */
export interface StoredCounters {
  readonly usage: Usage;
  /** Windows of configured limits. */
  readonly windows: StoredWindows;
}

export const COUNTERS_SQL = {
  find: "SELECT remaining, refilled_at, windows FROM latchkey_counters WHERE seq = ?",
  set: "UPDATE latchkey_counters SET remaining = ?, refilled_at = ?, windows = ? WHERE seq = ?",
} as const;

/** The table of counters, by number. Writes are to be called inside a write transaction. */
export class Counters {
  readonly #find: Query;
  readonly #insert: Command;
  readonly #set: Command;
  readonly #delete: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(database, COUNTERS_SQL.find);
    this.#insert = new Command(
      database,
      "INSERT INTO latchkey_counters (remaining, refilled_at, windows) VALUES (?, ?, '[]')",
    );
    this.#set = new Command(database, COUNTERS_SQL.set);
    this.#delete = new Command(database, "DELETE FROM latchkey_counters WHERE seq = ?");
  }

  /** @returns The number of the new counters. */
  insert({ remaining, refilledAt }: Usage): number {
    return this.#insert.insert(remaining, refilledAt);
  }

  /**
   * @param kind - Whose they are: `key`, `identity`.
   * @throws LatchkeyError `STORE_CORRUPT` also where there are none: whoever has a number has counters.
   */
  get(seq: number, kind: string, ownerId: string | null): StoredCounters {
    const row = this.#find.first(seq);
    return readStored(kind, ownerId, () => ({
      usage: { remaining: nullable(row?.[0] ?? null, whole), refilledAt: whole(row?.[1]) },
      windows: decodeWindows(row?.[2]),
    }));
  }

  set(seq: number, { remaining, refilledAt }: Usage, windows: StoredWindows): void {
    this.#set.run(remaining, refilledAt, encodeWindows(windows), seq);
  }

  delete(seq: number): void {
    this.#delete.run(seq);
  }
}
