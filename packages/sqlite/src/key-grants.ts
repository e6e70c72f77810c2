import type { Grants, MissingGrants, PermissionRecord, RoleRecord } from "@latchkey/core";
import { Command, type SqliteDatabase } from "./database.js";
import { GrantReferences, missingGrants } from "./grant-references.js";
import type { OnDemand } from "./on-demand.js";
import type { Permissions } from "./permissions.js";
import type { Roles } from "./roles.js";

/** The references of one step, after they were looked up: nothing of them is missing. */
export interface ExpectedGrants {
  readonly kind: "expected";
  readonly roles: GrantReferences<RoleRecord>;
  readonly permissions: GrantReferences<PermissionRecord>;
}

/** Who holds which roles and permissions. All of it is to be called inside a write transaction. */
export class KeyGrants {
  readonly #roles: Roles;
  readonly #permissions: Permissions;
  readonly #linkRole: Command;
  readonly #linkPermission: Command;
  readonly #unlinkRoles: Command;
  readonly #unlinkPermissions: Command;
  readonly #copyRoles: Command;
  readonly #copyPermissions: Command;

  constructor(database: SqliteDatabase, roles: Roles, permissions: Permissions) {
    this.#roles = roles;
    this.#permissions = permissions;
    const command = (sql: string) => new Command(database, sql);
    this.#linkRole = command("INSERT INTO latchkey_key_role VALUES (?, ?)");
    this.#linkPermission = command("INSERT INTO latchkey_key_permission VALUES (?, ?)");
    this.#unlinkRoles = command("DELETE FROM latchkey_key_role WHERE key_seq = ?");
    this.#unlinkPermissions = command("DELETE FROM latchkey_key_permission WHERE key_seq = ?");
    this.#copyRoles = command(
      `INSERT INTO latchkey_key_role
        SELECT ?, kr.role_seq FROM latchkey_key_role kr JOIN latchkey_role r
        ON r.seq = kr.role_seq AND r.is_live = 1 WHERE kr.key_seq = ?`,
    );
    this.#copyPermissions = command(
      `INSERT INTO latchkey_key_permission
        SELECT ?, kp.permission_seq FROM latchkey_key_permission kp JOIN latchkey_permission p
        ON p.seq = kp.permission_seq AND p.is_live = 1 WHERE kp.key_seq = ?`,
    );
  }

  /** Looks up all that keys are to be given. Nothing is written. */
  expect(workspaceId: string, grantsOfKeys: readonly Grants[]): ExpectedGrants | MissingGrants {
    const roles = new GrantReferences(this.#roles, workspaceId);
    const permissions = new GrantReferences(this.#permissions, workspaceId);
    for (const grants of grantsOfKeys) {
      roles.expect(grants.roles ?? []);
      permissions.expect(grants.permissions ?? []);
    }
    return (
      missingGrants(roles.missing, permissions.missing) ?? { kind: "expected", roles, permissions }
    );
  }

  /** Gives a key that holds nothing yet what was expected for it. */
  give(keySeq: number, grants: Grants, expected: ExpectedGrants, onDemand: OnDemand): void {
    if (grants.roles !== undefined) {
      const seqs = expected.roles.resolve(grants.roles, onDemand);
      for (const seq of seqs) this.#linkRole.run(keySeq, seq);
    }
    if (grants.permissions !== undefined) {
      const seqs = expected.permissions.resolve(grants.permissions, onDemand);
      for (const seq of seqs) this.#linkPermission.run(keySeq, seq);
    }
  }

  /** As {@link give}, in place of what the key holds: sets that are left undefined stay as they are. */
  replace(keySeq: number, grants: Grants, expected: ExpectedGrants, onDemand: OnDemand): void {
    if (grants.roles !== undefined) this.#unlinkRoles.run(keySeq);
    if (grants.permissions !== undefined) this.#unlinkPermissions.run(keySeq);
    this.give(keySeq, grants, expected, onDemand);
  }

  /** Gives a key that holds nothing yet what another one holds itself. */
  copy(fromKeySeq: number, toKeySeq: number): void {
    this.#copyRoles.run(toKeySeq, fromKeySeq);
    this.#copyPermissions.run(toKeySeq, fromKeySeq);
  }

  unlinkAll(keySeq: number): void {
    this.#unlinkRoles.run(keySeq);
    this.#unlinkPermissions.run(keySeq);
  }
}
