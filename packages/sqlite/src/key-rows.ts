import type { KeyRecord, Usage } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { IS_LIVE_KEY } from "./key-records.js";
import { encodeKeyLimits } from "./limits.js";
import { refillColumns } from "./refill.js";
import { flag, nullable, readStored, text, whole } from "./values.js";

export const KEY_ROW_SQL = {
  findApi: "SELECT 1 FROM latchkey_api WHERE id = ? AND workspace_id = ? AND is_live = 1",
  findHash: "SELECT 1 FROM latchkey_key WHERE hash = ? AND workspace_id = ? AND deleted_at IS NULL",
  state: `SELECT k.seq, k.version, k.counters_seq, k.counters_id, k.api_id,
    k.sealed_secret IS NOT NULL FROM latchkey_key k
    WHERE k.id = ? AND k.workspace_id = ? AND ${IS_LIVE_KEY}`,
} as const;

/** What a write needs to know of a live key. */
export interface KeyState {
  readonly seq: number;
  readonly version: number;
  readonly countersSeq: number;
  /** Not null where the counters are, or once were, shared with other keys. */
  readonly countersId: string | null;
  readonly apiId: string;
  /** Whether there is an encrypted secret. */
  readonly hasSecret: boolean;
}

/** Rows of keys, one by one. Writes are to be called inside a write transaction. */
export class KeyRows {
  readonly #findApi: Query;
  readonly #findHash: Query;
  readonly #state: Query;
  readonly #insert: Command;
  readonly #count: Command;

  constructor(database: SqliteDatabase) {
    this.#findApi = new Query(database, KEY_ROW_SQL.findApi);
    this.#findHash = new Query(database, KEY_ROW_SQL.findHash);
    this.#state = new Query(database, KEY_ROW_SQL.state);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_key (version, is_counted, counters_seq, counters_id, id, workspace_id,
        api_id, identity_id, hash, start, name, created_at, updated_at, expires_at, switched_on,
        refill_interval, refill_amount, refill_day, environment, uses_from, rotated_from,
        rotated_to, ratelimits, sealed_secret, meta)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#count = new Command(
      database,
      "UPDATE latchkey_api SET key_count = key_count + ? WHERE id = ?",
    );
  }

  hasApi(workspaceId: string, apiId: string): boolean {
    return this.#findApi.first(apiId, workspaceId) !== undefined;
  }

  hasHash(workspaceId: string, hash: string): boolean {
    return this.#findHash.first(hash, workspaceId) !== undefined;
  }

  /** The live key with this id, or null. */
  stateOf(workspaceId: string, keyId: string): KeyState | null {
    const row = this.#state.first(keyId, workspaceId);
    if (row === undefined) return null;
    return readStored("key", keyId, () => ({
      seq: whole(row[0]),
      version: whole(row[1]),
      countersSeq: whole(row[2]),
      countersId: nullable(row[3], text),
      apiId: text(row[4]),
      hasSecret: flag(row[5]),
    }));
  }

  /**
   * @param isCounted - Whether the counters have to be read to judge the key.
   * @returns The number of the new row.
   */
  insert(
    key: KeyRecord,
    identityId: string | null,
    countersSeq: number,
    isCounted: boolean,
  ): number {
    return this.#insert.insert(
      key.version,
      isCounted ? 1 : 0,
      countersSeq,
      key.countersId,
      key.id,
      key.workspaceId,
      key.apiId,
      identityId,
      key.hash,
      key.start,
      key.name,
      key.createdAt,
      key.updatedAt,
      key.expiresAt,
      key.switchedOn ? 1 : 0,
      ...refillColumns(key.refill),
      key.environment,
      key.usesFrom,
      key.rotatedFrom,
      key.rotatedTo,
      encodeKeyLimits(key.ratelimits),
      key.sealedSecret,
      key.meta === null ? null : JSON.stringify(key.meta),
    );
  }

  /** Says that an API has so many live keys more, or less. */
  count(apiId: string, by: number): void {
    this.#count.run(by, apiId);
  }
}

/** Whether a key has a number of uses or a limit. */
export function isCounted(usage: Usage, limits: KeyRecord["ratelimits"]): boolean {
  return usage.remaining !== null || limits.length > 0;
}
