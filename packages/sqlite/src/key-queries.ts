import type { LoadedKey, Page, PageRequest } from "@latchkey/core";
import { Query, type SqliteDatabase } from "./database.js";
import { totalOf } from "./identities.js";
import { IS_LIVE_KEY, LOADED_KEY_COLUMNS, LOADED_KEY_SOURCE, loadedKey } from "./records.js";

export const KEY_SQL = {
  byHash: `SELECT ${LOADED_KEY_COLUMNS} FROM ${LOADED_KEY_SOURCE}
    WHERE k.hash = ? AND k.workspace_id = ? AND ${IS_LIVE_KEY}`,
  byId: `SELECT ${LOADED_KEY_COLUMNS} FROM ${LOADED_KEY_SOURCE}
    WHERE k.id = ? AND k.workspace_id = ? AND ${IS_LIVE_KEY}`,
  page: `SELECT ${LOADED_KEY_COLUMNS} FROM ${LOADED_KEY_SOURCE}
    WHERE k.api_id = ? AND k.id > ? AND ${IS_LIVE_KEY} AND k.workspace_id = ?
    ORDER BY k.id LIMIT ?`,
  pageOfIdentity: `SELECT ${LOADED_KEY_COLUMNS} FROM ${LOADED_KEY_SOURCE}
    WHERE k.identity_id = ? AND k.api_id = ? AND k.id > ? AND ${IS_LIVE_KEY}
    AND k.workspace_id = ? ORDER BY k.id LIMIT ?`,
  total: "SELECT key_count FROM latchkey_api WHERE id = ? AND workspace_id = ? AND is_live = 1",
} as const;

/** Reads of live keys. */
export class KeyQueries {
  readonly #byHash: Query;
  readonly #byId: Query;
  readonly #page: Query;
  readonly #pageOfIdentity: Query;
  readonly #total: Query;

  constructor(database: SqliteDatabase) {
    this.#byHash = new Query(database, KEY_SQL.byHash);
    this.#byId = new Query(database, KEY_SQL.byId);
    this.#page = new Query(database, KEY_SQL.page);
    this.#pageOfIdentity = new Query(database, KEY_SQL.pageOfIdentity);
    this.#total = new Query(database, KEY_SQL.total);
  }

  findByHash(hash: string, workspaceId: string): LoadedKey | null {
    const row = this.#byHash.first(hash, workspaceId);
    return row === undefined ? null : loadedKey(row);
  }

  find(workspaceId: string, keyId: string): LoadedKey | null {
    const row = this.#byId.first(keyId, workspaceId);
    return row === undefined ? null : loadedKey(row);
  }

  /** To be called on one snapshot. */
  list(
    workspaceId: string,
    apiId: string,
    identityId: string | null,
    { afterId, limit }: PageRequest,
  ): Page<LoadedKey> {
    const after = afterId ?? "";
    const rows =
      identityId === null
        ? this.#page.all(apiId, after, workspaceId, limit + 1)
        : this.#pageOfIdentity.all(identityId, apiId, after, workspaceId, limit + 1);
    return {
      items: rows.slice(0, limit).map(loadedKey),
      hasMore: rows.length > limit,
      total: totalOf("api", apiId, this.#total.first(apiId, workspaceId)),
    };
  }
}
