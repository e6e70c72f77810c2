import type { EpochMs } from "@latchkey/core";
import type { AdHocWindows } from "./ad-hoc-windows.js";
import type { Counters } from "./counters.js";
import { Command, Query, type SqliteDatabase } from "./database.js";
import type { KeyGrants } from "./key-grants.js";
import type { KeyRows } from "./key-rows.js";
import { flag, nullable, readStored, text, whole } from "./values.js";

export const KEY_DELETION_SQL = {
  some: `SELECT k.seq, k.counters_seq, k.counters_id, k.id, k.sealed_secret IS NOT NULL
    FROM latchkey_key k
    WHERE k.api_id = ? AND k.workspace_id = ? AND k.deleted_at IS NULL ORDER BY k.id LIMIT ?`,
  sharer: `SELECT 1 FROM latchkey_key WHERE counters_seq = ? AND seq <> ?
    AND deleted_at IS NULL AND counters_id IS NOT NULL LIMIT 1`,
} as const;

interface Doomed {
  readonly seq: number;
  readonly countersSeq: number;
  readonly countersId: string | null;
}

/** Deletes keys. To be called inside a write transaction. */
export class KeyDeletion {
  readonly #rows: KeyRows;
  readonly #counters: Counters;
  readonly #grants: KeyGrants;
  readonly #adHocWindows: AdHocWindows;
  readonly #some: Query;
  readonly #sharer: Query;
  readonly #deleteLastUse: Command;
  readonly #retire: Command;
  readonly #deleteRequests: Command;
  readonly #deleteRow: Command;

  constructor(
    database: SqliteDatabase,
    rows: KeyRows,
    counters: Counters,
    grants: KeyGrants,
    adHocWindows: AdHocWindows,
  ) {
    this.#rows = rows;
    this.#counters = counters;
    this.#grants = grants;
    this.#adHocWindows = adHocWindows;
    this.#some = new Query(database, KEY_DELETION_SQL.some);
    this.#sharer = new Query(database, KEY_DELETION_SQL.sharer);
    this.#deleteLastUse = new Command(database, "DELETE FROM latchkey_last_use WHERE key_seq = ?");
    this.#retire = new Command(
      database,
      `UPDATE latchkey_key SET deleted_at = ?, sealed_secret = NULL, counters_seq = NULL
        WHERE seq = ?`,
    );
    this.#deleteRequests = new Command(database, "DELETE FROM latchkey_request WHERE key_seq = ?");
    this.#deleteRow = new Command(database, "DELETE FROM latchkey_key WHERE seq = ?");
  }

  /** `hadSecret`: whether an encrypted secret was erased with the key. */
  delete(
    workspaceId: string,
    keyId: string,
    { deletedAt, permanent }: { readonly deletedAt: EpochMs; readonly permanent: boolean },
  ): { readonly kind: "deleted"; readonly hadSecret: boolean } | { readonly kind: "not-found" } {
    const stored = this.#rows.stateOf(workspaceId, keyId);
    if (stored === null) return { kind: "not-found" };
    if (permanent) this.#erase(stored);
    else this.#remove(stored, deletedAt);
    this.#rows.count(stored.apiId, -1);
    return { kind: "deleted", hadSecret: stored.hasSecret };
  }

  /** Deletes up to `limit` keys of an API, whether or not the API itself still lives. */
  deleteSome(workspaceId: string, apiId: string, limit: number, deletedAt: EpochMs) {
    const rows = this.#some.all(apiId, workspaceId, limit + 1);
    const doomed = rows.slice(0, limit).map((row) =>
      readStored("key", row[3], () => ({
        seq: whole(row[0]),
        countersSeq: whole(row[1]),
        countersId: nullable(row[2], text),
        id: text(row[3]),
        hasSecret: flag(row[4]),
      })),
    );
    for (const key of doomed) this.#remove(key, deletedAt);
    if (doomed.length > 0) this.#rows.count(apiId, -doomed.length);
    return {
      deleted: doomed.map(({ id }) => id),
      hasMore: rows.length > limit,
      hadSecret: doomed.some(({ hasSecret }) => hasSecret),
    };
  }

  /** Leaves the row behind, where nothing finds it. What requests left elsewhere is forgotten in its time. */
  #remove(key: Doomed, deletedAt: EpochMs): void {
    this.#unhang(key);
    this.#retire.run(deletedAt, key.seq);
  }

  /** Leaves nothing behind. */
  #erase(key: Doomed): void {
    if (!this.#unhang(key)) this.#adHocWindows.deleteAll(key.countersSeq);
    this.#deleteRequests.run(key.seq);
    this.#deleteRow.run(key.seq);
  }

  /** @returns Whether other keys go on with its counters. */
  #unhang({ seq, countersSeq, countersId }: Doomed): boolean {
    this.#grants.unlinkAll(seq);
    this.#deleteLastUse.run(seq);
    const isShared = countersId !== null && this.#sharer.first(countersSeq, seq) !== undefined;
    if (!isShared) this.#counters.delete(countersSeq);
    return isShared;
  }
}
