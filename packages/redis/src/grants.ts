import type { GrantReference, MissingGrants, PermissionRecord, RoleRecord } from "@latchkey/core";
import type { Connection } from "./connection.js";
import type { KeyNames } from "./key-names.js";
import { encodePermission, encodeRole, permissionArguments, readMissing } from "./references.js";
import { unexpected } from "./replies.js";
import { SCRIPTS } from "./scripts.js";

/** Roles and permissions that a workspace has. */
export class GrantCatalogs {
  readonly #connection: Connection;
  readonly #names: KeyNames;

  constructor(connection: Connection, names: KeyNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async insertPermission(permission: PermissionRecord): Promise<"inserted" | "name-taken"> {
    const { permissions, permissionNames } = this.#names.of(permission.workspaceId);
    const args = [permission.id, permission.name, encodePermission(permission)];
    const [status] = await this.#connection.run(
      SCRIPTS.insertPermission,
      [permissions, permissionNames],
      args,
    );
    if (status === "INSERTED") return "inserted";
    if (status === "NAME_TAKEN") return "name-taken";
    throw unexpected(status);
  }

  async insertRole(
    role: RoleRecord,
    references: readonly GrantReference<PermissionRecord>[],
  ): Promise<{ readonly kind: "inserted" | "name-taken" } | MissingGrants> {
    const { roles, roleNames, permissions, permissionNames } = this.#names.of(role.workspaceId);
    const keys = [roles, roleNames, permissions, permissionNames];
    const args = [role.id, role.name, encodeRole(role), ...permissionArguments(references)];
    const reply = await this.#connection.run(SCRIPTS.insertRole, keys, args);
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
}
