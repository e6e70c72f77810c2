import {
  type ChangeLog,
  corruptRecord,
  type GrantReference,
  type LoadedRole,
  type MissingGrants,
  type NamedGrant,
  type PermissionRecord,
  type RoleRecord,
} from "@latchkey/core";
import { logArguments } from "./change-arguments.js";
import type { Connection } from "./connection.js";
import {
  encodeRole,
  loadedRole,
  namedPermissions,
  permissionIdsOf,
  recordsById,
} from "./grant-records.js";
import type { KeyNames } from "./key-names.js";
import { permissionArguments, readMissing } from "./references.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";
import { readStored } from "./values.js";

type PermissionReferences = readonly GrantReference<PermissionRecord>[];

/** Roles that a workspace has. */
export class Roles {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insert(
    role: RoleRecord,
    references: PermissionReferences,
    log: ChangeLog,
  ): Promise<{ readonly kind: "inserted" | "name-taken" } | MissingGrants> {
    const names = this.#names.of(role.workspaceId);
    const { roles, roleNames, permissions, permissionNames, changes, changeList } = names;
    const reply = await this.#connection.run(
      SCRIPTS.insertRole,
      [roles, roleNames, permissions, permissionNames, changes, changeList],
      [
        role.id,
        role.name,
        String(role.version),
        encodeRole(role),
        ...permissionArguments(references),
        ...logArguments(log),
      ],
    );
    switch (reply[0]) {
      case "INSERTED":
        return { kind: "inserted" };
      case "NAME_TAKEN":
        return { kind: "name-taken" };
      case "MISSING":
        return readMissing(reply, [], references);
      default:
        throw unexpected(reply[0]);
    }
  }

  async get(workspaceId: string, roleId: string): Promise<LoadedRole | null> {
    const { roles, permissions } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(SCRIPTS.getRole, [roles, permissions], [roleId]);
    if (reply.length === 0) return null;
    const held = readStored("role", roleId, () => namedPermissions(reply[1]));
    return loadedRole(workspaceId, roleId, reply[0], held);
  }

  async list(workspaceId: string): Promise<readonly LoadedRole[]> {
    const { roles, permissions } = this.#names.of(workspaceId);
    const reply = await this.#connection.run(SCRIPTS.listRoles, [roles, permissions], []);
    const stored = recordsById(reply[0]);
    const all = readStored("permission", null, () => namedPermissions(reply[1]));
    const byId = new Map(all.map((permission) => [permission.id, permission]));
    return [...stored.keys()].sort().map((id) => {
      const ids = readStored("role", id, () => permissionIdsOf(stored.get(id)));
      const held = ids.map((held) => byId.get(held)).filter((grant) => grant !== undefined);
      return loadedRole(workspaceId, id, stored.get(id), held satisfies readonly NamedGrant[]);
    });
  }

  async setPermissions(
    workspaceId: string,
    roleId: string,
    expectedVersion: number,
    references: PermissionReferences,
    log: ChangeLog,
  ): Promise<{ readonly kind: "updated" | "not-found" | "stale" } | MissingGrants> {
    const names = this.#names.of(workspaceId);
    const { roles, permissions, permissionNames, workspace, changes, changeList } = names;
    const reply = await this.#connection.run(
      SCRIPTS.setRolePermissions,
      [roles, permissions, permissionNames, workspace, changes, changeList],
      [roleId, String(expectedVersion), ...permissionArguments(references), ...logArguments(log)],
    );
    switch (reply[0]) {
      case "UPDATED":
        return { kind: "updated" };
      case "NOT_FOUND":
        return { kind: "not-found" };
      case "STALE":
        return { kind: "stale" };
      case "MISSING":
        return readMissing(reply, [], references);
      case "CORRUPT":
        throw corruptRecord("role");
      default:
        throw unexpected(reply[0]);
    }
  }

  /** Two steps: what it is called, which never changes, and the deletion. */
  async delete(
    workspaceId: string,
    roleId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found"> {
    const loaded = await this.get(workspaceId, roleId);
    if (loaded === null) return "not-found";
    const { roles, roleNames, workspace, changes, changeList } = this.#names.of(workspaceId);
    const [status] = await this.#connection.run(
      SCRIPTS.deleteRole,
      [roles, roleNames, workspace, changes, changeList],
      [roleId, loaded.role.name, ...logArguments(log)],
    );
    if (status === "DELETED") return "deleted";
    if (status === "NOT_FOUND") return "not-found";
    if (status === "CORRUPT") throw corruptRecord("workspace");
    throw unexpected(status);
  }
}
