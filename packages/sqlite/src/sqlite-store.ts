import type { ChargePlan, ChargeResult, KeyStore } from "@latchkey/core";
import { type Connection, connectionOf } from "./connection.js";
import type { SqliteDatabase } from "./database.js";
import { LoggedChanges } from "./logged-changes.js";
import { OnDemand } from "./on-demand.js";
import type { Settings } from "./options.js";
import { openTables, type Tables } from "./tables.js";
import { Transactions } from "./transactions.js";

/** The port on one connection: which method is what kind of step. All else is in the files named after it. */
export class SqliteStore implements KeyStore {
  readonly #connection: Connection;
  readonly #isOwned: boolean;
  readonly #tables: Tables;
  readonly #steps: Transactions;
  readonly #logged: LoggedChanges;

  constructor(database: SqliteDatabase, isOwned: boolean, settings: Settings) {
    this.#connection = connectionOf(database);
    this.#connection.forgetSettings();
    this.#isOwned = isOwned;
    this.#tables = openTables(this.#connection);
    this.#steps = new Transactions(this.#connection, settings);
    this.#logged = new LoggedChanges(this.#steps, this.#tables.changes);
  }

  readonly getWorkspace: KeyStore["getWorkspace"] = (workspaceId) =>
    this.#steps.read(() => this.#tables.workspaces.get(workspaceId));

  readonly insertWorkspace: KeyStore["insertWorkspace"] = (workspace, log) =>
    this.#logged.make(log, () => this.#tables.workspaces.insert(workspace));

  readonly setWorkspaceEnabled: KeyStore["setWorkspaceEnabled"] = (workspaceId, enabled, log) =>
    this.#logged.make(log, () => this.#tables.workspaces.setEnabled(workspaceId, enabled));

  readonly insertApi: KeyStore["insertApi"] = (api, log) =>
    this.#logged.make(log, () => this.#tables.apis.insert(api));

  readonly getApi: KeyStore["getApi"] = (workspaceId, apiId) =>
    this.#steps.read(() => this.#tables.apis.get(workspaceId, apiId));

  readonly listApis: KeyStore["listApis"] = (workspaceId, page) =>
    this.#steps.readSnapshot(() => this.#tables.apis.list(workspaceId, page));

  readonly updateApi: KeyStore["updateApi"] = (workspaceId, apiId, expectedVersion, patch, log) =>
    this.#logged.make(log, () =>
      this.#tables.apis.update(workspaceId, apiId, expectedVersion, patch),
    );

  readonly deleteApi: KeyStore["deleteApi"] = (workspaceId, apiId, log) =>
    this.#logged.make(log, () => this.#tables.apis.delete(workspaceId, apiId));

  readonly insertPermission: KeyStore["insertPermission"] = (permission, log) =>
    this.#logged.make(log, () => this.#tables.permissions.insert(permission));

  readonly getPermission: KeyStore["getPermission"] = (workspaceId, permissionId) =>
    this.#steps.read(() => this.#tables.permissions.get(workspaceId, permissionId));

  readonly listPermissions: KeyStore["listPermissions"] = (workspaceId) =>
    this.#steps.read(() => this.#tables.permissions.list(workspaceId));

  readonly deletePermission: KeyStore["deletePermission"] = (workspaceId, permissionId, log) =>
    this.#logged.make(log, () => this.#tables.permissions.delete(workspaceId, permissionId));

  readonly insertRole: KeyStore["insertRole"] = (role, permissions, log) =>
    this.#logged.make(log, (onDemand) => this.#tables.roles.insert(role, permissions, onDemand));

  readonly getRole: KeyStore["getRole"] = (workspaceId, roleId) =>
    this.#steps.read(() => this.#tables.roles.get(workspaceId, roleId));

  readonly listRoles: KeyStore["listRoles"] = (workspaceId) =>
    this.#steps.read(() => this.#tables.roles.list(workspaceId));

  readonly setRolePermissions: KeyStore["setRolePermissions"] = (
    workspaceId,
    roleId,
    expectedVersion,
    permissions,
    log,
  ) =>
    this.#logged.make(log, (onDemand) =>
      this.#tables.roles.setPermissions(
        workspaceId,
        roleId,
        expectedVersion,
        permissions,
        onDemand,
      ),
    );

  readonly deleteRole: KeyStore["deleteRole"] = (workspaceId, roleId, log) =>
    this.#logged.make(log, () => this.#tables.roles.delete(workspaceId, roleId));

  readonly insertRootKey: KeyStore["insertRootKey"] = (rootKey, log) =>
    this.#logged.make(log, () => this.#tables.rootKeys.insert(rootKey));

  readonly findRootKey: KeyStore["findRootKey"] = (hash) =>
    this.#steps.read(() => this.#tables.rootKeys.find(hash));

  readonly listRootKeys: KeyStore["listRootKeys"] = (workspaceId, page) =>
    this.#steps.readSnapshot(() => this.#tables.rootKeys.list(workspaceId, page));

  readonly deleteRootKey: KeyStore["deleteRootKey"] = (workspaceId, rootKeyId, log) =>
    this.#logged.make(log, () => this.#tables.rootKeys.delete(workspaceId, rootKeyId));

  readonly insertIdentity: KeyStore["insertIdentity"] = (identity, usage, log) =>
    this.#logged.make(log, () => this.#tables.identities.insert(identity, usage));

  readonly getIdentity: KeyStore["getIdentity"] = (workspaceId, lookup) =>
    this.#steps.read(() => this.#tables.identities.get(workspaceId, lookup));

  readonly listIdentities: KeyStore["listIdentities"] = (workspaceId, page) =>
    this.#steps.readSnapshot(() => this.#tables.identities.list(workspaceId, page));

  readonly updateIdentity: KeyStore["updateIdentity"] = (
    workspaceId,
    identityId,
    expectedVersion,
    patch,
    log,
  ) =>
    this.#logged.make(log, () =>
      this.#tables.identities.update(workspaceId, identityId, expectedVersion, patch),
    );

  readonly deleteIdentity: KeyStore["deleteIdentity"] = (workspaceId, identityId, log) =>
    this.#logged.make(log, () => this.#tables.identities.delete(workspaceId, identityId));

  readonly insertKeys: KeyStore["insertKeys"] = (newKeys, log) =>
    this.#logged.make(log, (onDemand) => this.#tables.insertion.insert(newKeys, onDemand));

  readonly findKey: KeyStore["findKey"] = (hash, workspaceId) =>
    this.#steps.read(() => this.#tables.keys.findByHash(hash, workspaceId));

  readonly getKey: KeyStore["getKey"] = (workspaceId, keyId) =>
    this.#steps.read(() => this.#tables.keys.find(workspaceId, keyId));

  readonly listKeys: KeyStore["listKeys"] = (workspaceId, apiId, { identityId }, page) =>
    this.#steps.readSnapshot(() => this.#tables.keys.list(workspaceId, apiId, identityId, page));

  readonly updateKey: KeyStore["updateKey"] = (workspaceId, keyId, expectedVersion, patch, log) =>
    this.#logged.make(log, (onDemand) =>
      this.#tables.update.update(workspaceId, keyId, expectedVersion, patch, onDemand),
    );

  readonly rotateKey: KeyStore["rotateKey"] = (
    workspaceId,
    keyId,
    expectedVersion,
    rotation,
    log,
  ) =>
    this.#logged.make(log, () =>
      this.#tables.rotation.rotate(workspaceId, keyId, expectedVersion, rotation),
    );

  readonly deleteKey: KeyStore["deleteKey"] = async (workspaceId, keyId, removal, log) => {
    const outcome = await this.#logged.make(log, () =>
      this.#tables.deletion.delete(workspaceId, keyId, removal),
    );
    // The log of the file still holds pages from before: without this, what was erased would stay in it for a while.
    if (outcome.kind === "deleted" && (outcome.hadSecret || removal.permanent)) {
      this.#steps.truncateLog();
    }
    return outcome.kind;
  };

  readonly deleteKeys: KeyStore["deleteKeys"] = async (
    workspaceId,
    apiId,
    limit,
    deletedAt,
    entryOf,
  ) => {
    const { hadSecret, ...outcome } = await this.#steps.configure(() => {
      const some = this.#tables.deletion.deleteSome(workspaceId, apiId, limit, deletedAt);
      if (entryOf !== null) this.#tables.changes.write(some.deleted.map(entryOf), new OnDemand());
      return some;
    });
    if (hadSecret) this.#steps.truncateLog();
    return outcome;
  };

  charge(plan: ChargePlan): Promise<ChargeResult> {
    return this.#steps.charge(
      () => this.#tables.charging.look(plan),
      () => this.#tables.charging.take(plan),
    );
  }

  readonly takeFromNamespace: KeyStore["takeFromNamespace"] = (plan) =>
    this.#steps.charge(
      () => this.#tables.namespaces.look(plan),
      () => this.#tables.namespaces.take(plan),
    );

  readonly addVerifications: KeyStore["addVerifications"] = (workspaceId, batch) =>
    this.#steps.count(() => this.#tables.verifications.add(workspaceId, batch));

  readonly getVerifications: KeyStore["getVerifications"] = (
    workspaceId,
    subject,
    startAt,
    endAt,
  ) => this.#steps.read(() => this.#tables.verifications.get(workspaceId, subject, startAt, endAt));

  readonly deleteVerifications: KeyStore["deleteVerifications"] = (workspaceId, beforeAt, limit) =>
    this.#steps.configure(() => this.#tables.verifications.delete(workspaceId, beforeAt, limit));

  readonly listChanges: KeyStore["listChanges"] = (workspaceId, filter, page) =>
    this.#steps.read(() => this.#tables.changes.list(workspaceId, filter, page));

  readonly deleteChanges: KeyStore["deleteChanges"] = (workspaceId, beforeId, limit) =>
    this.#steps.configure(() => this.#tables.changes.delete(workspaceId, beforeId, limit));

  async close(): Promise<void> {
    if (!this.#steps.close() || !this.#isOwned) return;
    this.#connection.truncateLog();
    this.#connection.database.close();
  }
}
