import type { LoadedKey, Page, PageRequest } from "@latchkey/core";
import { Query, type SqliteDatabase } from "./database.js";
import type { Identities } from "./identities.js";
import { LOADED_KEY_COLUMNS, LOADED_KEY_SOURCE, loadedKey } from "./key-records.js";
import { readStored, whole } from "./values.js";

const LOADED = `SELECT ${LOADED_KEY_COLUMNS} FROM ${LOADED_KEY_SOURCE}`;

export const KEY_SQL = {
  byHash: `${LOADED} WHERE k.hash = ? AND k.workspace_id = ? AND k.deleted_at IS NULL`,
  byId: `${LOADED} WHERE k.id = ? AND k.workspace_id = ? AND k.deleted_at IS NULL`,
  page: `${LOADED} WHERE k.api_id = ? AND k.id > ? AND k.deleted_at IS NULL
    AND k.workspace_id = ? ORDER BY k.id LIMIT ?`,
  pageOfIdentity: `${LOADED} WHERE k.identity_id = ? AND k.api_id = ? AND k.id > ?
    AND k.deleted_at IS NULL AND k.workspace_id = ? ORDER BY k.id LIMIT ?`,
  total: "SELECT key_count FROM latchkey_api WHERE id = ? AND workspace_id = ? AND is_live = 1",
} as const;

/** Reads of live keys. */
export class KeyQueries {
  readonly #identities: Identities;
  readonly #byHash: Query;
  readonly #byId: Query;
  readonly #page: Query;
  readonly #pageOfIdentity: Query;
  readonly #total: Query;

  constructor(database: SqliteDatabase, identities: Identities) {
    this.#identities = identities;
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
    const rows = this.#rows(workspaceId, apiId, identityId, afterId ?? "", limit + 1);
    return {
      items: rows.slice(0, limit).map(loadedKey),
      hasMore: rows.length > limit,
      total: this.#totalOf(workspaceId, apiId),
    };
  }

  #rows(
    workspaceId: string,
    apiId: string,
    identityId: string | null,
    afterId: string,
    limit: number,
  ) {
    if (identityId === null) return this.#page.all(apiId, afterId, workspaceId, limit);
    // Keys of an identity that was deleted still name it, and are linked to none.
    if (!this.#identities.has(workspaceId, identityId)) return [];
    return this.#pageOfIdentity.all(identityId, apiId, afterId, workspaceId, limit);
  }

  #totalOf(workspaceId: string, apiId: string): number {
    const row = this.#total.first(apiId, workspaceId);
    return row === undefined ? 0 : readStored("api", apiId, () => whole(row[0]));
  }
}
