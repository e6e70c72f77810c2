import type { ApiRecord, WorkspaceRecord } from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { workspaceRecord } from "./records.js";
import { readStored, text, whole } from "./values.js";

/** Workspaces and their APIs. Writes are to be called inside a write transaction. */
export class Workspaces {
  readonly #find: Query;
  readonly #setEnabled: Command;
  readonly #insertApi: Command;
  readonly #findApi: Query;
  readonly #deleteApi: Command;
  readonly #raiseEpoch: Command;

  constructor(database: SqliteDatabase) {
    this.#find = new Query(database, "SELECT enabled, epoch FROM latchkey_workspace WHERE id = ?");
    this.#setEnabled = new Command(
      database,
      `INSERT INTO latchkey_workspace (id, enabled, epoch) VALUES (?, ?, 1)
        ON CONFLICT (id) DO UPDATE SET enabled = excluded.enabled, epoch = epoch + 1`,
    );
    this.#insertApi = new Command(
      database,
      "INSERT INTO latchkey_api (id, workspace_id, name, created_at) VALUES (?, ?, ?, ?)",
    );
    this.#findApi = new Query(
      database,
      "SELECT id, workspace_id, name, created_at FROM latchkey_api WHERE id = ? AND workspace_id = ? AND is_live = 1",
    );
    this.#deleteApi = new Command(database, "UPDATE latchkey_api SET is_live = 0 WHERE id = ?");
    this.#raiseEpoch = new Command(
      database,
      `INSERT INTO latchkey_workspace (id, epoch) VALUES (?, 1)
        ON CONFLICT (id) DO UPDATE SET epoch = epoch + 1`,
    );
  }

  get(workspaceId: string): WorkspaceRecord {
    return workspaceRecord(workspaceId, this.#find.first(workspaceId));
  }

  setEnabled(workspaceId: string, enabled: boolean): void {
    this.#setEnabled.run(workspaceId, enabled ? 1 : 0);
  }

  insertApi(api: ApiRecord): void {
    this.#insertApi.run(api.id, api.workspaceId, api.name, api.createdAt);
  }

  getApi(workspaceId: string, apiId: string): ApiRecord | null {
    const row = this.#findApi.first(apiId, workspaceId);
    if (row === undefined) return null;
    return readStored("api", apiId, () => ({
      id: text(row[0]),
      workspaceId: text(row[1]),
      name: text(row[2]),
      createdAt: whole(row[3]),
    }));
  }

  deleteApi(workspaceId: string, apiId: string): "deleted" | "not-found" {
    if (this.#findApi.first(apiId, workspaceId) === undefined) return "not-found";
    this.#deleteApi.run(apiId);
    this.#raiseEpoch.run(workspaceId);
    return "deleted";
  }
}
