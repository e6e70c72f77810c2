import type { Page, PageRequest, RootKeyRecord, WorkspaceRecord } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import {
  ROOT_KEY_COLUMNS,
  ROOT_KEY_WIDTH,
  rootKeyRecord,
  WORKSPACE_COLUMNS,
  workspaceRecord,
} from "./records.js";
import type { Workspaces } from "./workspaces.js";

export const ROOT_KEY_SQL = {
  find: `SELECT ${ROOT_KEY_COLUMNS}, ${WORKSPACE_COLUMNS}
    FROM latchkey_root_key r LEFT JOIN latchkey_workspace w ON w.id = r.workspace_id
    WHERE r.hash = ?`,
  page: `SELECT ${ROOT_KEY_COLUMNS} FROM latchkey_root_key r
    WHERE r.workspace_id = ? AND r.id > ? ORDER BY r.id LIMIT ?`,
} as const;

/** Keys that authorise management calls. Writes are to be called inside a write transaction. */
export class RootKeys {
  readonly #workspaces: Workspaces;
  readonly #find: Query;
  readonly #page: Query;
  readonly #insert: Command;
  readonly #delete: Command;

  constructor(database: SqliteDatabase, workspaces: Workspaces) {
    this.#workspaces = workspaces;
    this.#find = new Query(database, ROOT_KEY_SQL.find);
    this.#page = new Query(database, ROOT_KEY_SQL.page);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_root_key
        (id, workspace_id, hash, start, name, permissions, expires_at, switched_on, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#delete = new Command(
      database,
      "DELETE FROM latchkey_root_key WHERE id = ? AND workspace_id = ?",
    );
  }

  insert(rootKey: RootKeyRecord): void {
    this.#insert.run(
      rootKey.id,
      rootKey.workspaceId,
      rootKey.hash,
      rootKey.start,
      rootKey.name,
      JSON.stringify(rootKey.permissions),
      rootKey.expiresAt,
      rootKey.switchedOn ? 1 : 0,
      rootKey.createdAt,
    );
    this.#workspaces.count("rootKeys", rootKey.workspaceId, 1);
  }

  find(hash: string): { rootKey: RootKeyRecord; workspace: WorkspaceRecord } | null {
    const row = this.#find.first(hash);
    if (row === undefined) return null;
    const rootKey = rootKeyRecord(row);
    return { rootKey, workspace: workspaceRecord(rootKey.workspaceId, row, ROOT_KEY_WIDTH) };
  }

  /** To be called on one snapshot. */
  list(workspaceId: string, { afterId, limit }: PageRequest): Page<RootKeyRecord> {
    const rows = this.#page.all(workspaceId, afterId ?? "", limit + 1);
    return {
      items: rows.slice(0, limit).map((row) => rootKeyRecord(row)),
      hasMore: rows.length > limit,
      total: this.#workspaces.total("rootKeys", workspaceId),
    };
  }

  delete(workspaceId: string, rootKeyId: string): "deleted" | "not-found" {
    if (this.#delete.run(rootKeyId, workspaceId) === 0) return "not-found";
    this.#workspaces.count("rootKeys", workspaceId, -1);
    return "deleted";
  }
}
