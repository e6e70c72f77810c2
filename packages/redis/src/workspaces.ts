import { type ChangeLog, corruptRecord, type WorkspaceRecord } from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { workspaceRecord } from "./workspace-record.js";

/** Workspaces: whether they are on, and the epoch that decisions rest on. */
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
    return workspaceRecord(workspaceId, reply);
  }

  async insert(
    { id, name, enabled, epoch }: WorkspaceRecord,
    log: ChangeLog,
  ): Promise<"inserted" | "taken"> {
    const { workspace, apiList, changes, changeList } = this.#names.of(id);
    const [status] = await this.#connection.run(
      SCRIPTS.insertWorkspace,
      [workspace, apiList, changes, changeList],
      [
        enabled ? "1" : "0",
        String(epoch),
        name === null ? "" : JSON.stringify(name),
        ...logArguments(log),
      ],
    );
    if (status === "INSERTED") return "inserted";
    if (status === "TAKEN") return "taken";
    if (status === "CORRUPT") throw corruptRecord("workspace");
    throw unexpected(status);
  }

  async setEnabled(workspaceId: string, enabled: boolean, log: ChangeLog): Promise<void> {
    const { workspace, changes, changeList } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.setWorkspaceEnabled,
      [workspace, changes, changeList],
      [enabled ? "1" : "0", ...logArguments(log)],
    );
    if (status === "CORRUPT") throw corruptRecord("workspace");
    if (status !== "OK") throw unexpected(status);
  }
}
