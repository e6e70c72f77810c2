import type { LimitCharge, RateWindow } from "@latchkey/core";
import type { ChargeRow } from "./charge-memo.js";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { readStored } from "./values.js";
import { decodeWindows, encodeWindows, type StoredWindows, withWindow } from "./windows.js";

/** Windows of an identity's limits, shared by all of its keys: always read afresh, inside the transaction. */
export class IdentityWindows {
  readonly #find: Query;
  readonly #set: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(
      database,
      "SELECT windows FROM latchkey_identity_usage WHERE identity_seq = ?",
    );
    this.#set = new Command(
      database,
      "INSERT OR REPLACE INTO latchkey_identity_usage (identity_seq, windows) VALUES (?, ?)",
    );
  }

  get({ identityId, identitySeq }: ChargeRow): StoredWindows {
    const row = this.#find.first(identitySeq);
    return row === undefined ? [] : readStored("identity", identityId, () => decodeWindows(row[0]));
  }

  set(key: ChargeRow, limit: LimitCharge, window: RateWindow): void {
    if (key.identitySeq === null) return;
    this.#set.run(key.identitySeq, encodeWindows(withWindow(this.get(key), limit, window)));
  }
}
