import type { RootKeyRecord, WorkspaceRecord } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { rootKeyRecord, workspaceRecord } from "./records.js";

const RECORD_WIDTH = 9;

/** Keys that authorise management calls. Writes are to be called inside a write transaction. */
export class RootKeys {
  readonly #insert: Command;
  readonly #find: Query;

  constructor(database: SqliteDatabase) {
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_root_key
        (id, workspace_id, hash, start, name, permissions, expires_at, switched_on, created_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#find = new Query(
      database,
      `SELECT r.id, r.workspace_id, r.hash, r.start, r.name, r.permissions, r.expires_at,
        r.switched_on, r.created_at, w.enabled, w.epoch
        FROM latchkey_root_key r LEFT JOIN latchkey_workspace w ON w.id = r.workspace_id
        WHERE r.hash = ?`,
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
  }

  find(hash: string): { rootKey: RootKeyRecord; workspace: WorkspaceRecord } | null {
    const row = this.#find.first(hash);
    if (row === undefined) return null;
    const rootKey = rootKeyRecord(row);
    return { rootKey, workspace: workspaceRecord(rootKey.workspaceId, row.slice(RECORD_WIDTH)) };
  }
}
