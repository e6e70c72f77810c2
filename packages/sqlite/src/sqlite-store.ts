import type { ChargePlan, ChargeResult, KeyStore } from "@latchkey/core";
import { AdHocWindows } from "./ad-hoc-windows.js";
import { Apis } from "./apis.js";
import { Changes } from "./change-log.js";
import { Charging } from "./charge.js";
import { type Connection, connectionOf } from "./connection.js";
import { Counters } from "./counters.js";
import type { SqliteDatabase } from "./database.js";
import { Identities } from "./identities.js";
import { KeyDeletion } from "./key-deletion.js";
import { KeyGrants } from "./key-grants.js";
import { KeyInsertion } from "./key-insertion.js";
import { KeyQueries } from "./key-queries.js";
import { KeyRows } from "./key-rows.js";
import { KeyUpdate } from "./key-update.js";
import { LoggedChanges } from "./logged-changes.js";
import { NamespaceWindows } from "./namespace-windows.js";
import { OnDemand } from "./on-demand.js";
import type { Settings } from "./options.js";
import { Permissions } from "./permissions.js";
import { Roles } from "./roles.js";
import { RootKeys } from "./root-keys.js";
import { KeyRotation } from "./rotation.js";
import { Transactions } from "./transactions.js";
import { VerificationCounters } from "./verification-counters.js";
import { Workspaces } from "./workspaces.js";

/** The port on one connection: which method is what kind of step. All else is in the files named after it. */
export class SqliteStore implements KeyStore {
  readonly #connection: Connection;
  readonly #isOwned: boolean;
  readonly #steps: Transactions;
  readonly #changes: Changes;
  readonly #logged: LoggedChanges;
  readonly #workspaces: Workspaces;
  readonly #apis: Apis;
  readonly #permissions: Permissions;
  readonly #roles: Roles;
  readonly #rootKeys: RootKeys;
  readonly #identities: Identities;
  readonly #keys: KeyQueries;
  readonly #insertion: KeyInsertion;
  readonly #update: KeyUpdate;
  readonly #rotation: KeyRotation;
  readonly #deletion: KeyDeletion;
  readonly #charging: Charging;
  readonly #namespaces: NamespaceWindows;
  readonly #verifications: VerificationCounters;

  constructor(database: SqliteDatabase, isOwned: boolean, settings: Settings) {
    this.#connection = connectionOf(database);
    this.#connection.forgetSettings();
    this.#isOwned = isOwned;
    this.#steps = new Transactions(this.#connection, settings);
    this.#changes = new Changes(database);
    this.#logged = new LoggedChanges(this.#steps, this.#changes);
    const workspaces = new Workspaces(database);
    this.#workspaces = workspaces;
    this.#apis = new Apis(database, workspaces);
    this.#permissions = new Permissions(database, workspaces);
    this.#roles = new Roles(database, workspaces, this.#permissions);
    this.#rootKeys = new RootKeys(database, workspaces);
    const counters = new Counters(database);
    const adHocWindows = new AdHocWindows(database);
    const identities = new Identities(database, workspaces, counters);
    this.#identities = identities;
    this.#keys = new KeyQueries(database, identities);
    const rows = new KeyRows(database);
    const grants = new KeyGrants(database, this.#roles, this.#permissions);
    this.#insertion = new KeyInsertion(rows, counters, identities, grants);
    this.#update = new KeyUpdate(database, rows, counters, identities, grants);
    this.#rotation = new KeyRotation(database, rows, grants);
    this.#deletion = new KeyDeletion(database, rows, counters, grants, adHocWindows);
    this.#charging = new Charging(this.#connection, counters, adHocWindows);
    this.#namespaces = new NamespaceWindows(database);
    this.#verifications = new VerificationCounters(database);
  }

  readonly getWorkspace: KeyStore["getWorkspace"] = (workspaceId) =>
    this.#steps.read(() => this.#workspaces.get(workspaceId));

  readonly insertWorkspace: KeyStore["insertWorkspace"] = (workspace, log) =>
    this.#logged.make(log, () => this.#workspaces.insert(workspace));

  readonly setWorkspaceEnabled: KeyStore["setWorkspaceEnabled"] = (workspaceId, enabled, log) =>
    this.#logged.make(log, () => this.#workspaces.setEnabled(workspaceId, enabled));

  readonly insertApi: KeyStore["insertApi"] = (api, log) =>
    this.#logged.make(log, () => this.#apis.insert(api));

  readonly getApi: KeyStore["getApi"] = (workspaceId, apiId) =>
    this.#steps.read(() => this.#apis.get(workspaceId, apiId));

  readonly listApis: KeyStore["listApis"] = (workspaceId, page) =>
    this.#steps.readSnapshot(() => this.#apis.list(workspaceId, page));

  readonly updateApi: KeyStore["updateApi"] = (workspaceId, apiId, expectedVersion, patch, log) =>
    this.#logged.make(log, () => this.#apis.update(workspaceId, apiId, expectedVersion, patch));

  readonly deleteApi: KeyStore["deleteApi"] = (workspaceId, apiId, log) =>
    this.#logged.make(log, () => this.#apis.delete(workspaceId, apiId));

  readonly insertPermission: KeyStore["insertPermission"] = (permission, log) =>
    this.#logged.make(log, () => this.#permissions.insert(permission));

  readonly getPermission: KeyStore["getPermission"] = (workspaceId, permissionId) =>
    this.#steps.read(() => this.#permissions.get(workspaceId, permissionId));

  readonly listPermissions: KeyStore["listPermissions"] = (workspaceId) =>
    this.#steps.read(() => this.#permissions.list(workspaceId));

  readonly deletePermission: KeyStore["deletePermission"] = (workspaceId, permissionId, log) =>
    this.#logged.make(log, () => this.#permissions.delete(workspaceId, permissionId));

  readonly insertRole: KeyStore["insertRole"] = (role, permissions, log) =>
    this.#logged.make(log, (onDemand) => this.#roles.insert(role, permissions, onDemand));

  readonly getRole: KeyStore["getRole"] = (workspaceId, roleId) =>
    this.#steps.read(() => this.#roles.get(workspaceId, roleId));

  readonly listRoles: KeyStore["listRoles"] = (workspaceId) =>
    this.#steps.read(() => this.#roles.list(workspaceId));

  readonly setRolePermissions: KeyStore["setRolePermissions"] = (
    workspaceId,
    roleId,
    expectedVersion,
    permissions,
    log,
  ) =>
    this.#logged.make(log, (onDemand) =>
      this.#roles.setPermissions(workspaceId, roleId, expectedVersion, permissions, onDemand),
    );

  readonly deleteRole: KeyStore["deleteRole"] = (workspaceId, roleId, log) =>
    this.#logged.make(log, () => this.#roles.delete(workspaceId, roleId));

  readonly insertRootKey: KeyStore["insertRootKey"] = (rootKey, log) =>
    this.#logged.make(log, () => this.#rootKeys.insert(rootKey));

  readonly findRootKey: KeyStore["findRootKey"] = (hash) =>
    this.#steps.read(() => this.#rootKeys.find(hash));

  readonly listRootKeys: KeyStore["listRootKeys"] = (workspaceId, page) =>
    this.#steps.readSnapshot(() => this.#rootKeys.list(workspaceId, page));

  readonly deleteRootKey: KeyStore["deleteRootKey"] = (workspaceId, rootKeyId, log) =>
    this.#logged.make(log, () => this.#rootKeys.delete(workspaceId, rootKeyId));

  readonly insertIdentity: KeyStore["insertIdentity"] = (identity, usage, log) =>
    this.#logged.make(log, () => this.#identities.insert(identity, usage));

  readonly getIdentity: KeyStore["getIdentity"] = (workspaceId, lookup) =>
    this.#steps.read(() => this.#identities.get(workspaceId, lookup));

  readonly listIdentities: KeyStore["listIdentities"] = (workspaceId, page) =>
    this.#steps.readSnapshot(() => this.#identities.list(workspaceId, page));

  readonly updateIdentity: KeyStore["updateIdentity"] = (
    workspaceId,
    identityId,
    expectedVersion,
    patch,
    log,
  ) =>
    this.#logged.make(log, () =>
      this.#identities.update(workspaceId, identityId, expectedVersion, patch),
    );

  readonly deleteIdentity: KeyStore["deleteIdentity"] = (workspaceId, identityId, log) =>
    this.#logged.make(log, () => this.#identities.delete(workspaceId, identityId));

  readonly insertKeys: KeyStore["insertKeys"] = (newKeys, log) =>
    this.#logged.make(log, (onDemand) => this.#insertion.insert(newKeys, onDemand));

  readonly findKey: KeyStore["findKey"] = (hash, workspaceId) =>
    this.#steps.read(() => this.#keys.findByHash(hash, workspaceId));

  readonly getKey: KeyStore["getKey"] = (workspaceId, keyId) =>
    this.#steps.read(() => this.#keys.find(workspaceId, keyId));

  readonly listKeys: KeyStore["listKeys"] = (workspaceId, apiId, { identityId }, page) =>
    this.#steps.readSnapshot(() => this.#keys.list(workspaceId, apiId, identityId, page));

  readonly updateKey: KeyStore["updateKey"] = (workspaceId, keyId, expectedVersion, patch, log) =>
    this.#logged.make(log, (onDemand) =>
      this.#update.update(workspaceId, keyId, expectedVersion, patch, onDemand),
    );

  readonly rotateKey: KeyStore["rotateKey"] = (
    workspaceId,
    keyId,
    expectedVersion,
    rotation,
    log,
  ) =>
    this.#logged.make(log, () =>
      this.#rotation.rotate(workspaceId, keyId, expectedVersion, rotation),
    );

  readonly deleteKey: KeyStore["deleteKey"] = async (workspaceId, keyId, removal, log) => {
    const outcome = await this.#logged.make(log, () =>
      this.#deletion.delete(workspaceId, keyId, removal),
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
      const some = this.#deletion.deleteSome(workspaceId, apiId, limit, deletedAt);
      if (entryOf !== null) this.#changes.write(some.deleted.map(entryOf), new OnDemand());
      return some;
    });
    if (hadSecret) this.#steps.truncateLog();
    return outcome;
  };

  charge(plan: ChargePlan): Promise<ChargeResult> {
    return this.#steps.charge(
      () => this.#charging.look(plan),
      () => this.#charging.take(plan),
    );
  }

  readonly takeFromNamespace: KeyStore["takeFromNamespace"] = (plan) =>
    this.#steps.charge(
      () => this.#namespaces.look(plan),
      () => this.#namespaces.take(plan),
    );

  readonly addVerifications: KeyStore["addVerifications"] = (workspaceId, batch) =>
    this.#steps.count(() => this.#verifications.add(workspaceId, batch));

  readonly getVerifications: KeyStore["getVerifications"] = (
    workspaceId,
    subject,
    startAt,
    endAt,
  ) => this.#steps.read(() => this.#verifications.get(workspaceId, subject, startAt, endAt));

  readonly deleteVerifications: KeyStore["deleteVerifications"] = (workspaceId, beforeAt, limit) =>
    this.#steps.configure(() => this.#verifications.delete(workspaceId, beforeAt, limit));

  readonly listChanges: KeyStore["listChanges"] = (workspaceId, filter, page) =>
    this.#steps.read(() => this.#changes.list(workspaceId, filter, page));

  readonly deleteChanges: KeyStore["deleteChanges"] = (workspaceId, beforeId, limit) =>
    this.#steps.configure(() => this.#changes.delete(workspaceId, beforeId, limit));

  async close(): Promise<void> {
    if (!this.#steps.close() || !this.#isOwned) return;
    this.#connection.truncateLog();
    this.#connection.database.close();
  }
}
