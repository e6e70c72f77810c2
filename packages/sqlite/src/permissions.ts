import type { PermissionRecord } from "@latchkey/core";
import { Command, Query, type RawRow, type SqliteDatabase } from "./database.js";
import type { GrantTable } from "./grant-references.js";
import { nullable, readStored, text, whole } from "./values.js";
import type { Workspaces } from "./workspaces.js";

const COLUMNS = "id, workspace_id, name, description, created_at FROM latchkey_permission";

export const PERMISSION_SQL = {
  find: `SELECT ${COLUMNS} WHERE workspace_id = ? AND id = ? AND is_live = 1`,
  all: `SELECT ${COLUMNS} WHERE workspace_id = ? AND is_live = 1 ORDER BY id`,
  seqOfId: "SELECT seq FROM latchkey_permission WHERE workspace_id = ? AND id = ? AND is_live = 1",
  seqOfName:
    "SELECT seq FROM latchkey_permission WHERE workspace_id = ? AND name = ? AND is_live = 1",
} as const;

/** Permissions. Writes are to be called inside a write transaction. */
export class Permissions implements GrantTable<PermissionRecord> {
  readonly #workspaces: Workspaces;
  readonly #find: Query;
  readonly #all: Query;
  readonly #seqOfId: Query;
  readonly #seqOfName: Query;
  readonly #insert: Command;
  readonly #delete: Command;

  constructor(database: SqliteDatabase, workspaces: Workspaces) {
    this.#workspaces = workspaces;
    this.#find = new Query(database, PERMISSION_SQL.find);
    this.#all = new Query(database, PERMISSION_SQL.all);
    this.#seqOfId = new Query(database, PERMISSION_SQL.seqOfId);
    this.#seqOfName = new Query(database, PERMISSION_SQL.seqOfName);
    this.#insert = new Command(
      database,
      `INSERT INTO latchkey_permission (id, workspace_id, name, description, created_at)
        VALUES (?, ?, ?, ?, ?)`,
    );
    this.#delete = new Command(
      database,
      "UPDATE latchkey_permission SET is_live = 0 WHERE seq = ?",
    );
  }

  get(workspaceId: string, permissionId: string): PermissionRecord | null {
    const row = this.#find.first(workspaceId, permissionId);
    return row === undefined ? null : permissionRecord(row);
  }

  list(workspaceId: string): readonly PermissionRecord[] {
    return this.#all.all(workspaceId).map(permissionRecord);
  }

  insert(permission: PermissionRecord): "inserted" | "name-taken" {
    if (this.seqOfName(permission.workspaceId, permission.name) !== null) return "name-taken";
    this.add(permission);
    return "inserted";
  }

  /** Marks it as deleted: whoever follows a link to it passes it over. */
  delete(workspaceId: string, permissionId: string): "deleted" | "not-found" {
    const seq = this.seqOfId(workspaceId, permissionId);
    if (seq === null) return "not-found";
    this.#delete.run(seq);
    this.#workspaces.raiseEpoch(workspaceId);
    return "deleted";
  }

  seqOfId(workspaceId: string, id: string): number | null {
    return seqIn(this.#seqOfId.first(workspaceId, id));
  }

  seqOfName(workspaceId: string, name: string): number | null {
    return seqIn(this.#seqOfName.first(workspaceId, name));
  }

  add({ id, workspaceId, name, description, createdAt }: PermissionRecord): number {
    return this.#insert.insert(id, workspaceId, name, description, createdAt);
  }
}

/** The row number that a look-up found, or null. */
export function seqIn(row: RawRow | undefined): number | null {
  return row === undefined ? null : readStored("row number", null, () => whole(row[0]));
}

function permissionRecord(row: RawRow): PermissionRecord {
  return readStored("permission", row[0], () => ({
    id: text(row[0]),
    workspaceId: text(row[1]),
    name: text(row[2]),
    description: nullable(row[3], text),
    createdAt: whole(row[4]),
  }));
}
