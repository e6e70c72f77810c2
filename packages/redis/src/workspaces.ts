import type { ApiRecord, WorkspaceRecord } from "@latchkey/core";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { workspaceRecord } from "./records.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { json, object, readStored, safe, text } from "./values.js";

/** Workspaces and their APIs. */
export class Workspaces {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async get(workspaceId: string): Promise<WorkspaceRecord> {
    const { workspace } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(SCRIPTS.getWorkspace, [workspace], []);
    return workspaceRecord(workspaceId, reply[0], reply[1]);
  }

  async setEnabled(workspaceId: string, enabled: boolean): Promise<void> {
    const { workspace } = this.#names.of(workspaceId);
    const args = [enabled ? "1" : "0"];
    const [status] = await this.#connection.run(SCRIPTS.setWorkspaceEnabled, [workspace], args);
    if (status === "CORRUPT") workspaceRecord(workspaceId, "1", "CORRUPT");
    if (status !== "OK") throw unexpected(status);
  }

  async insertApi({ id, workspaceId, name, createdAt }: ApiRecord): Promise<void> {
    const { apis } = this.#names.of(workspaceId);
    const args = [id, JSON.stringify({ name, createdAt })];
    const [status] = await this.#connection.run(SCRIPTS.insertApi, [apis], args);
    if (status !== "OK") throw unexpected(status);
  }

  async getApi(workspaceId: string, apiId: string): Promise<ApiRecord | null> {
    const { apis } = this.#names.of(workspaceId);
    const [stored] = await this.#connection.run(SCRIPTS.getApi, [apis], [apiId]);
    if (stored === undefined) return null;
    return readStored("api", apiId, () => {
      const { name, createdAt } = object(json(stored));
      return { id: apiId, workspaceId, name: text(name), createdAt: safe(createdAt, 0) };
    });
  }

  async deleteApi(workspaceId: string, apiId: string): Promise<"deleted" | "not-found"> {
    const { apis, workspace } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(SCRIPTS.deleteApi, [apis, workspace], [apiId]);
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "CORRUPT") workspaceRecord(workspaceId, "1", "CORRUPT");
    throw unexpected(status);
  }
}
