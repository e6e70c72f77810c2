import { type ChangeLog, corruptRecord, type PermissionRecord } from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import { encodePermission, permissionRecord, recordsById } from "./grant-records.js";
import type { KeyNames } from "./key-names.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";

/** Permissions that a workspace has. */
export class Permissions {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insert(permission: PermissionRecord, log: ChangeLog): Promise<"inserted" | "name-taken"> {
    const { id, workspaceId, name } = permission;
    const { permissions, permissionNames, changes, changeList } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.insertPermission,
      [permissions, permissionNames, changes, changeList],
      [id, name, encodePermission(permission), ...logArguments(log)],
    );
    if (status === "INSERTED") return "inserted";
    if (status === "NAME_TAKEN") return "name-taken";
    throw unexpected(status);
  }

  async get(workspaceId: string, permissionId: string): Promise<PermissionRecord | null> {
    const { permissions } = this.#names.of(workspaceId);
    const [stored] = await this.#connection.run(
      SCRIPTS.getPermission,
      [permissions],
      [permissionId],
    );
    return stored === undefined ? null : permissionRecord(workspaceId, permissionId, stored);
  }

  async list(workspaceId: string): Promise<readonly PermissionRecord[]> {
    const { permissions } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(SCRIPTS.listPermissions, [permissions], []);
    const stored = recordsById(reply);
    return [...stored.keys()].sort().map((id) => permissionRecord(workspaceId, id, stored.get(id)));
  }

  /** Two steps: what it is called, which never changes, and the deletion. */
  async delete(
    workspaceId: string,
    permissionId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found"> {
    const permission = await this.get(workspaceId, permissionId);
    if (permission === null) return "not-found";
    const { permissions, permissionNames, workspace, changes, changeList } =
      this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.deletePermission,
      [permissions, permissionNames, workspace, changes, changeList],
      [permissionId, permission.name, ...logArguments(log)],
    );
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "CORRUPT") throw corruptRecord("workspace");
    throw unexpected(status);
  }
}
