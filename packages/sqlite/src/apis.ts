import type { ApiPatch, ApiRecord, Page, PageRequest } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { API_COLUMNS, apiRecord } from "./records.js";
import type { Workspaces } from "./workspaces.js";

export const API_SQL = {
  find: `SELECT ${API_COLUMNS} FROM latchkey_api a
    WHERE a.id = ? AND a.workspace_id = ? AND a.is_live = 1`,
  page: `SELECT ${API_COLUMNS} FROM latchkey_api a
    WHERE a.workspace_id = ? AND a.id > ? AND a.is_live = 1 ORDER BY a.id LIMIT ?`,
} as const;

/** APIs. Writes are to be called inside a write transaction. */
export class Apis {
  readonly #workspaces: Workspaces;
  readonly #find: Query;
  readonly #page: Query;
  readonly #insert: Command;
  readonly #update: Command;
  readonly #delete: Command;

  constructor(database: SqliteDatabase, workspaces: Workspaces) {
    this.#workspaces = workspaces;
    this.#find = new Query(database, API_SQL.find);
    this.#page = new Query(database, API_SQL.page);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_api
        (id, workspace_id, name, delete_protection, ip_whitelist, created_at, version)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#update = new Command(
      database,
      `UPDATE latchkey_api SET name = ?, delete_protection = ?, ip_whitelist = ?,
        version = version + 1 WHERE id = ?`,
    );
    this.#delete = new Command(database, "UPDATE latchkey_api SET is_live = 0 WHERE id = ?");
  }

  insert(api: ApiRecord): void {
    this.#insert.run(
      api.id,
      api.workspaceId,
      api.name,
      api.deleteProtection ? 1 : 0,
      JSON.stringify(api.ipWhitelist),
      api.createdAt,
      api.version,
    );
    this.#workspaces.count("apis", api.workspaceId, 1);
  }

  get(workspaceId: string, apiId: string): ApiRecord | null {
    const row = this.#find.first(apiId, workspaceId);
    return row === undefined ? null : apiRecord(row);
  }

  /** To be called on one snapshot. */
  list(workspaceId: string, { afterId, limit }: PageRequest): Page<ApiRecord> {
    const rows = this.#page.all(workspaceId, afterId ?? "", limit + 1);
    return {
      items: rows.slice(0, limit).map((row) => apiRecord(row)),
      hasMore: rows.length > limit,
      total: this.#workspaces.total("apis", workspaceId),
    };
  }

  update(
    workspaceId: string,
    apiId: string,
    expectedVersion: number,
    patch: ApiPatch,
  ): "updated" | "not-found" | "stale" {
    const stored = this.get(workspaceId, apiId);
    if (stored === null) return "not-found";
    if (stored.version !== expectedVersion) return "stale";
    const {
      name = stored.name,
      deleteProtection = stored.deleteProtection,
      ipWhitelist = stored.ipWhitelist,
    } = patch;
    this.#update.run(name, deleteProtection ? 1 : 0, JSON.stringify(ipWhitelist), apiId);
    this.#workspaces.raiseEpoch(workspaceId);
    return "updated";
  }

  delete(workspaceId: string, apiId: string): "deleted" | "not-found" | "protected" {
    const stored = this.get(workspaceId, apiId);
    if (stored === null) return "not-found";
    if (stored.deleteProtection) return "protected";
    this.#delete.run(apiId);
    this.#workspaces.count("apis", workspaceId, -1);
    this.#workspaces.raiseEpoch(workspaceId);
    return "deleted";
  }
}
