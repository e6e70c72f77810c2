import { Command, type SqliteDatabase } from "./database.js";

/** One statement for each field of a key that an update may set: no SQL is ever put together from parts. */
const SET_SQL = {
  name: "UPDATE latchkey_key SET name = ? WHERE seq = ?",
  identity: "UPDATE latchkey_key SET identity_id = ? WHERE seq = ?",
  meta: "UPDATE latchkey_key SET meta = ? WHERE seq = ?",
  updatedAt: "UPDATE latchkey_key SET updated_at = ? WHERE seq = ?",
  expiresAt: "UPDATE latchkey_key SET expires_at = ? WHERE seq = ?",
  switchedOn: "UPDATE latchkey_key SET switched_on = ? WHERE seq = ?",
  ratelimits: "UPDATE latchkey_key SET ratelimits = ? WHERE seq = ?",
  environment: "UPDATE latchkey_key SET environment = ? WHERE seq = ?",
  usesFrom: "UPDATE latchkey_key SET uses_from = ? WHERE seq = ?",
  sealedSecret: "UPDATE latchkey_key SET sealed_secret = ? WHERE seq = ?",
} as const;

type Field = keyof typeof SET_SQL;

/** Field updates of one row: the guard is the caller's, in the same transaction. */
export class KeyFields {
  readonly #set: ReadonlyMap<string, Command>;
  readonly #setRefill: Command;
  readonly #count: Command;
  readonly #raiseVersion: Command;

  constructor(database: SqliteDatabase) {
    this.#set = new Map(
      Object.entries(SET_SQL).map(([field, sql]) => [field, new Command(database, sql)]),
    );
    this.#setRefill = new Command(
      database,
      "UPDATE latchkey_key SET refill_interval = ?, refill_amount = ?, refill_day = ? WHERE seq = ?",
    );
    this.#count = new Command(
      database,
      "UPDATE latchkey_key SET is_counted = 1 WHERE seq = ? AND is_counted = 0",
    );
    this.#raiseVersion = new Command(
      database,
      "UPDATE latchkey_key SET version = version + 1 WHERE seq = ?",
    );
  }

  set(seq: number, field: Field, value: string | number | null): void {
    this.#set.get(field)?.run(value, seq);
  }

  setRefill(seq: number, columns: readonly (string | number | null)[]): void {
    this.#setRefill.run(...columns, seq);
  }

  /** Says that the counters of the key have to be read from now on. */
  count(seq: number): void {
    this.#count.run(seq);
  }

  raiseVersion(seq: number): void {
    this.#raiseVersion.run(seq);
  }
}
