import type { LimitCharge, RateWindow } from "@latchkey/core";
import type { ChargeRow } from "./charge-memo.js";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { readStored } from "./values.js";
import { decodeWindows, encodeWindows, type StoredWindows, withWindow } from "./windows.js";

/** Windows of an identity's limits, shared by all of its keys: always read afresh, inside the transaction. */
export class IdentityWindows {
  readonly #find: Query;
  readonly #update: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(
      database,
      "SELECT windows FROM latchkey_identity WHERE id = ? AND workspace_id = ?",
    );
    this.#update = new Command(
      database,
      "UPDATE latchkey_identity SET windows = ? WHERE id = ? AND workspace_id = ?",
    );
  }

  get({ identityId, workspaceId }: ChargeRow): StoredWindows {
    const row = this.#find.first(identityId, workspaceId);
    return row === undefined ? [] : readStored("identity", identityId, () => decodeWindows(row[0]));
  }

  set(key: ChargeRow, limit: LimitCharge, window: RateWindow): void {
    const windows = encodeWindows(withWindow(this.get(key), limit, window));
    this.#update.run(windows, key.identityId, key.workspaceId);
  }
}
