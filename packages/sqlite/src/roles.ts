import type {
  GrantReference,
  LoadedRole,
  MissingGrants,
  PermissionRecord,
  RoleRecord,
} from "@latchkey/core";
import { Command, Query, type RawRow, type SqliteDatabase } from "./database.js";
import { GrantReferences, type GrantTable, missingGrants } from "./grant-references.js";
import { NAMED_PERMISSIONS, namedGrants } from "./named-grants.js";
import type { OnDemand } from "./on-demand.js";
import { type Permissions, seqIn } from "./permissions.js";
import { nullable, readStored, text, whole } from "./values.js";
import type { Workspaces } from "./workspaces.js";

const LOADED = `SELECT r.id, r.workspace_id, r.name, r.description, r.created_at, r.version,
  (SELECT ${NAMED_PERMISSIONS} FROM latchkey_role_permission rp
    JOIN latchkey_permission p ON p.seq = rp.permission_seq AND p.is_live = 1
    WHERE rp.role_seq = r.seq)
  FROM latchkey_role r`;

export const ROLE_SQL = {
  find: `${LOADED} WHERE r.workspace_id = ? AND r.id = ? AND r.is_live = 1`,
  all: `${LOADED} WHERE r.workspace_id = ? AND r.is_live = 1 ORDER BY r.id`,
  state: "SELECT seq, version FROM latchkey_role WHERE workspace_id = ? AND id = ? AND is_live = 1",
  seqOfName: "SELECT seq FROM latchkey_role WHERE workspace_id = ? AND name = ? AND is_live = 1",
} as const;

type PermissionReferences = readonly GrantReference<PermissionRecord>[];

/** Roles and the permissions that they give. Writes are to be called inside a write transaction. */
export class Roles implements GrantTable<RoleRecord> {
  readonly #workspaces: Workspaces;
  readonly #permissions: Permissions;
  readonly #find: Query;
  readonly #all: Query;
  readonly #state: Query;
  readonly #seqOfName: Query;
  readonly #insert: Command;
  readonly #raiseVersion: Command;
  readonly #delete: Command;
  readonly #link: Command;
  readonly #unlinkAll: Command;

  constructor(database: SqliteDatabase, workspaces: Workspaces, permissions: Permissions) {
    this.#workspaces = workspaces;
    this.#permissions = permissions;
    this.#find = new Query(database, ROLE_SQL.find);
    this.#all = new Query(database, ROLE_SQL.all);
    this.#state = new Query(database, ROLE_SQL.state);
    this.#seqOfName = new Query(database, ROLE_SQL.seqOfName);
    const command = (sql: string) => new Command(database, sql);
    this.#insert = command(
      `INSERT INTO latchkey_role (id, workspace_id, name, description, created_at, version)
        VALUES (?, ?, ?, ?, ?, ?)`,
    );
    this.#raiseVersion = command("UPDATE latchkey_role SET version = version + 1 WHERE seq = ?");
    this.#delete = command("UPDATE latchkey_role SET is_live = 0 WHERE seq = ?");
    this.#link = command("INSERT INTO latchkey_role_permission VALUES (?, ?)");
    this.#unlinkAll = command("DELETE FROM latchkey_role_permission WHERE role_seq = ?");
  }

  get(workspaceId: string, roleId: string): LoadedRole | null {
    const row = this.#find.first(workspaceId, roleId);
    return row === undefined ? null : loadedRole(row);
  }

  list(workspaceId: string): readonly LoadedRole[] {
    return this.#all.all(workspaceId).map(loadedRole);
  }

  insert(
    role: RoleRecord,
    references: PermissionReferences,
    onDemand: OnDemand,
  ): { readonly kind: "inserted" | "name-taken" } | MissingGrants {
    if (this.seqOfName(role.workspaceId, role.name) !== null) return { kind: "name-taken" };
    const permissions = this.#expect(role.workspaceId, references);
    const missing = missingGrants([], permissions.missing);
    if (missing !== null) return missing;
    const seq = this.add(role);
    for (const permission of permissions.resolve(references, onDemand)) {
      this.#link.run(seq, permission);
    }
    return { kind: "inserted" };
  }

  setPermissions(
    workspaceId: string,
    roleId: string,
    expectedVersion: number,
    references: PermissionReferences,
    onDemand: OnDemand,
  ): { readonly kind: "updated" | "not-found" | "stale" } | MissingGrants {
    const stored = this.#stateOf(workspaceId, roleId);
    if (stored === null) return { kind: "not-found" };
    if (stored.version !== expectedVersion) return { kind: "stale" };
    const permissions = this.#expect(workspaceId, references);
    const missing = missingGrants([], permissions.missing);
    if (missing !== null) return missing;
    this.#unlinkAll.run(stored.seq);
    for (const permission of permissions.resolve(references, onDemand)) {
      this.#link.run(stored.seq, permission);
    }
    this.#raiseVersion.run(stored.seq);
    this.#workspaces.raiseEpoch(workspaceId);
    return { kind: "updated" };
  }

  /** Marks it as deleted: whoever follows a link to it passes it over. */
  delete(workspaceId: string, roleId: string): "deleted" | "not-found" {
    const stored = this.#stateOf(workspaceId, roleId);
    if (stored === null) return "not-found";
    this.#delete.run(stored.seq);
    this.#workspaces.raiseEpoch(workspaceId);
    return "deleted";
  }

  seqOfId(workspaceId: string, id: string): number | null {
    return this.#stateOf(workspaceId, id)?.seq ?? null;
  }

  seqOfName(workspaceId: string, name: string): number | null {
    return seqIn(this.#seqOfName.first(workspaceId, name));
  }

  add({ id, workspaceId, name, description, createdAt, version }: RoleRecord): number {
    return this.#insert.insert(id, workspaceId, name, description, createdAt, version);
  }

  #expect(workspaceId: string, references: PermissionReferences) {
    const permissions = new GrantReferences(this.#permissions, workspaceId);
    permissions.expect(references);
    return permissions;
  }

  #stateOf(workspaceId: string, roleId: string): { seq: number; version: number } | null {
    const row = this.#state.first(workspaceId, roleId);
    if (row === undefined) return null;
    return readStored("role", roleId, () => ({ seq: whole(row[0]), version: whole(row[1]) }));
  }
}

function loadedRole(row: RawRow): LoadedRole {
  return readStored("role", row[0], () => ({
    role: {
      id: text(row[0]),
      workspaceId: text(row[1]),
      name: text(row[2]),
      description: nullable(row[3], text),
      createdAt: whole(row[4]),
      version: whole(row[5]),
    },
    permissions: namedGrants(row[6]),
  }));
}
