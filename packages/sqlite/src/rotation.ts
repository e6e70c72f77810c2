import type { Rotation } from "@latchkey/core";
import { Command, type SqliteDatabase } from "./database.js";
import type { KeyGrants } from "./key-grants.js";
import type { KeyRows } from "./key-rows.js";

/** Puts keys beside others whose counters they share. To be called inside a write transaction. */
export class KeyRotation {
  readonly #rows: KeyRows;
  readonly #grants: KeyGrants;
  readonly #succeed: Command;

  constructor(database: SqliteDatabase, rows: KeyRows, grants: KeyGrants) {
    this.#rows = rows;
    this.#grants = grants;
    // Counted from now on: any of the keys that share the counters may be given a number of uses.
    this.#succeed = new Command(
      database,
      `UPDATE latchkey_key SET rotated_to = ?, counters_id = ?, expires_at = ?, updated_at = ?,
        is_counted = 1, version = version + 1 WHERE seq = ?`,
    );
  }

  rotate(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    { successor, expiresAt, updatedAt }: Rotation,
  ): "rotated" | "not-found" | "stale" | "hash-taken" {
    const stored = this.#rows.stateOf(workspaceId, keyId);
    if (stored === null) return "not-found";
    if (stored.version !== expectedVersion) return "stale";
    if (this.#rows.hasHash(workspaceId, successor.hash)) return "hash-taken";
    const { seq, countersSeq, apiId } = stored;
    const successorSeq = this.#rows.insert(successor, successor.identityId, countersSeq, true);
    this.#grants.copy(seq, successorSeq);
    this.#succeed.run(successor.id, successor.countersId, expiresAt, updatedAt, seq);
    this.#rows.count(apiId, 1);
    return "rotated";
  }
}
