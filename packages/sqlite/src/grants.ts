import type {
  GrantReference,
  Grants,
  MissingGrants,
  PermissionRecord,
  RoleRecord,
} from "@latchkey/core";
import { Command, Query, type SqliteDatabase } from "./database.js";
import { whole } from "./values.js";

/** What a list of references stands for. Nothing is written yet. */
interface Resolved<Definition> {
  /** Row numbers of those that exist, each once. */
  readonly found: ReadonlySet<number>;
  /** By name, those that are still to be written. */
  readonly toCreate: ReadonlyMap<string, Definition>;
  /** Names and ids that nothing goes by, each once. */
  readonly missing: ReadonlySet<string>;
}

/** The table of roles or the table of permissions: they have the same columns. */
class Catalog<Definition extends RoleRecord | PermissionRecord> {
  readonly #byId: Query;
  readonly #byName: Query;
  readonly #insert: Command;

  constructor(database: SqliteDatabase, sql: { byId: string; byName: string; insert: string }) {
    this.#byId = new Query(database, sql.byId);
    this.#byName = new Query(database, sql.byName);
    this.#insert = new Command(database, sql.insert);
  }

  hasName(workspaceId: string, name: string): boolean {
    return this.#byName.first(workspaceId, name) !== undefined;
  }

  insert(record: Definition): number {
    const { id, workspaceId, name, description, createdAt } = record;
    return this.#insert.insert(id, workspaceId, name, description, createdAt);
  }

  resolve(
    workspaceId: string,
    references: readonly GrantReference<Definition>[],
  ): Resolved<Definition> {
    const found = new Set<number>();
    const toCreate = new Map<string, Definition>();
    const missing = new Set<string>();
    for (const reference of references) {
      const row =
        reference.kind === "id"
          ? this.#byId.first(workspaceId, reference.id)
          : this.#byName.first(workspaceId, reference.name);
      if (row !== undefined) found.add(whole(row[0]));
      else if (reference.kind === "id") missing.add(reference.id);
      else if (reference.orCreate === null) missing.add(reference.name);
      else if (!toCreate.has(reference.name)) toCreate.set(reference.name, reference.orCreate);
    }
    return { found, toCreate, missing };
  }

  /** Writes what is still to be written, and answers the row numbers of all. */
  create({ found, toCreate }: Resolved<Definition>): readonly number[] {
    return [...found, ...[...toCreate.values()].map((definition) => this.insert(definition))];
  }
}

/** Roles and permissions, and who holds them. All of it is to be called inside a write transaction. */
export class GrantTables {
  readonly #roles: Catalog<RoleRecord>;
  readonly #permissions: Catalog<PermissionRecord>;
  readonly #linkRolePermission: Command;
  readonly #linkRole: Command;
  readonly #linkPermission: Command;
  readonly #unlinkRoles: Command;
  readonly #unlinkPermissions: Command;

  constructor(database: SqliteDatabase) {
    this.#roles = new Catalog(database, {
      byId: "SELECT seq FROM latchkey_role WHERE workspace_id = ? AND id = ?",
      byName: "SELECT seq FROM latchkey_role WHERE workspace_id = ? AND name = ?",
      insert:
        "INSERT INTO latchkey_role (id, workspace_id, name, description, created_at) VALUES (?, ?, ?, ?, ?)",
    });
    this.#permissions = new Catalog(database, {
      byId: "SELECT seq FROM latchkey_permission WHERE workspace_id = ? AND id = ?",
      byName: "SELECT seq FROM latchkey_permission WHERE workspace_id = ? AND name = ?",
      insert:
        "INSERT INTO latchkey_permission (id, workspace_id, name, description, created_at) VALUES (?, ?, ?, ?, ?)",
    });
    const command = (sql: string) => new Command(database, sql);
    this.#linkRolePermission = command("INSERT INTO latchkey_role_permission VALUES (?, ?)");
    this.#linkRole = command("INSERT INTO latchkey_key_role VALUES (?, ?)");
    this.#linkPermission = command("INSERT INTO latchkey_key_permission VALUES (?, ?)");
    this.#unlinkRoles = command("DELETE FROM latchkey_key_role WHERE key_seq = ?");
    this.#unlinkPermissions = command("DELETE FROM latchkey_key_permission WHERE key_seq = ?");
  }

  insertPermission(permission: PermissionRecord): "inserted" | "name-taken" {
    if (this.#permissions.hasName(permission.workspaceId, permission.name)) return "name-taken";
    this.#permissions.insert(permission);
    return "inserted";
  }

  insertRole(
    role: RoleRecord,
    references: readonly GrantReference<PermissionRecord>[],
  ): { readonly kind: "inserted" | "name-taken" } | MissingGrants {
    if (this.#roles.hasName(role.workspaceId, role.name)) return { kind: "name-taken" };
    const permissions = this.#permissions.resolve(role.workspaceId, references);
    const missing = missingGrants(undefined, permissions);
    if (missing !== null) return missing;
    const roleSeq = this.#roles.insert(role);
    for (const seq of this.#permissions.create(permissions)) {
      this.#linkRolePermission.run(roleSeq, seq);
    }
    return { kind: "inserted" };
  }

  /**
   * What a key is to hold: sets that are left undefined stay as they are. Nothing is written until `commit`,
   * which is given the row number of the key.
   */
  resolve(
    workspaceId: string,
    grants: Grants,
  ): MissingGrants | { readonly kind: "resolved"; readonly commit: (keySeq: number) => void } {
    const roles = grants.roles && this.#roles.resolve(workspaceId, grants.roles);
    const permissions =
      grants.permissions && this.#permissions.resolve(workspaceId, grants.permissions);
    const missing = missingGrants(roles, permissions);
    if (missing !== null) return missing;
    return {
      kind: "resolved",
      commit: (keySeq) => {
        if (roles !== undefined) {
          this.#unlinkRoles.run(keySeq);
          for (const seq of this.#roles.create(roles)) this.#linkRole.run(keySeq, seq);
        }
        if (permissions !== undefined) {
          this.#unlinkPermissions.run(keySeq);
          const seqs = this.#permissions.create(permissions);
          for (const seq of seqs) this.#linkPermission.run(keySeq, seq);
        }
      },
    };
  }

  unlinkAll(keySeq: number): void {
    this.#unlinkRoles.run(keySeq);
    this.#unlinkPermissions.run(keySeq);
  }
}

function missingGrants(
  roles: Resolved<RoleRecord> | undefined,
  permissions: Resolved<PermissionRecord> | undefined,
): MissingGrants | null {
  const missing = {
    roles: [...(roles?.missing ?? [])],
    permissions: [...(permissions?.missing ?? [])],
  };
  if (missing.roles.length === 0 && missing.permissions.length === 0) return null;
  return { kind: "missing-grants", ...missing };
}
