import type {
  ApiRecord,
  ChargePlan,
  ChargeResult,
  GrantReference,
  IdentityLookup,
  IdentityPatch,
  IdentityRecord,
  KeyPatch,
  KeyStore,
  NewKey,
  PageRequest,
  PermissionRecord,
  RoleRecord,
  RootKeyRecord,
} from "@latchkey/core";
import { Charging } from "./charge.js";
import { type Connection, connectionOf } from "./connection.js";
import type { SqliteDatabase } from "./database.js";
import { isBusy, translateError, unavailable } from "./errors.js";
import { GrantTables } from "./grants.js";
import { GroupCommit } from "./group-commit.js";
import { Identities } from "./identities.js";
import { KeyQueries } from "./key-queries.js";
import { Keys } from "./keys.js";
import type { Settings } from "./options.js";
import { SYNCHRONOUS } from "./pragmas.js";
import { RetryQueue } from "./retry-queue.js";
import { RootKeys } from "./root-keys.js";
import { Workspaces } from "./workspaces.js";

/** The port on one connection. What is atomic, and how it is committed, is decided here; the rest is below. */
export class SqliteStore implements KeyStore {
  readonly #connection: Connection;
  readonly #isOwned: boolean;
  readonly #isFull: boolean;
  readonly #queue: RetryQueue;
  readonly #group: GroupCommit;
  readonly #charging: Charging;
  readonly #workspaces: Workspaces;
  readonly #identities: Identities;
  readonly #grants: GrantTables;
  readonly #keys: Keys;
  readonly #keyQueries: KeyQueries;
  readonly #rootKeys: RootKeys;
  #isClosed = false;

  constructor(database: SqliteDatabase, isOwned: boolean, settings: Settings) {
    this.#connection = connectionOf(database);
    this.#connection.forgetSettings();
    this.#isOwned = isOwned;
    this.#isFull = settings.durability === "full";
    this.#queue = new RetryQueue(settings.deadlineMs);
    this.#charging = new Charging(this.#connection);
    this.#group = new GroupCommit(this.#connection, this.#charging, this.#queue);
    this.#workspaces = new Workspaces(database);
    this.#identities = new Identities(database);
    this.#grants = new GrantTables(database);
    this.#keys = new Keys(database, this.#identities, this.#grants);
    this.#keyQueries = new KeyQueries(database);
    this.#rootKeys = new RootKeys(database);
  }

  getWorkspace(workspaceId: string) {
    return this.#read(() => this.#workspaces.get(workspaceId));
  }

  setWorkspaceEnabled(workspaceId: string, enabled: boolean) {
    return this.#configure(() => this.#workspaces.setEnabled(workspaceId, enabled));
  }

  insertApi(api: ApiRecord) {
    return this.#configure(() => this.#workspaces.insertApi(api));
  }

  getApi(workspaceId: string, apiId: string) {
    return this.#read(() => this.#workspaces.getApi(workspaceId, apiId));
  }

  deleteApi(workspaceId: string, apiId: string) {
    return this.#configure(() => this.#workspaces.deleteApi(workspaceId, apiId));
  }

  insertPermission(permission: PermissionRecord) {
    return this.#configure(() => this.#grants.insertPermission(permission));
  }

  insertRole(role: RoleRecord, permissions: readonly GrantReference<PermissionRecord>[]) {
    return this.#configure(() => this.#grants.insertRole(role, permissions));
  }

  insertRootKey(rootKey: RootKeyRecord) {
    return this.#configure(() => this.#rootKeys.insert(rootKey));
  }

  findRootKey(hash: string) {
    return this.#read(() => this.#rootKeys.find(hash));
  }

  insertIdentity(identity: IdentityRecord) {
    return this.#configure(() => this.#identities.insert(identity));
  }

  getIdentity(workspaceId: string, lookup: IdentityLookup) {
    return this.#read(() => this.#identities.get(workspaceId, lookup));
  }

  listIdentities(workspaceId: string, page: PageRequest) {
    return this.#readSnapshot(() => this.#identities.list(workspaceId, page));
  }

  updateIdentity(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
  ) {
    return this.#configure(() =>
      this.#identities.update(workspaceId, identityId, expectedVersion, patch),
    );
  }

  insertKey(newKey: NewKey) {
    return this.#configure(() => this.#keys.insert(newKey));
  }

  findKey(hash: string, workspaceId: string) {
    return this.#read(() => this.#keyQueries.findByHash(hash, workspaceId));
  }

  getKey(workspaceId: string, keyId: string) {
    return this.#read(() => this.#keyQueries.find(workspaceId, keyId));
  }

  listKeys(
    workspaceId: string,
    apiId: string,
    { identityId }: { readonly identityId: string | null },
    page: PageRequest,
  ) {
    return this.#readSnapshot(() => this.#keyQueries.list(workspaceId, apiId, identityId, page));
  }

  updateKey(workspaceId: string, keyId: string, expectedVersion: number, patch: KeyPatch) {
    return this.#configure(() => this.#keys.update(workspaceId, keyId, expectedVersion, patch));
  }

  async deleteKey(workspaceId: string, keyId: string, deletedAt: number) {
    const deleted = await this.#configure(() => this.#keys.delete(workspaceId, keyId, deletedAt));
    if (deleted === null) return "not-found";
    // The log still holds pages from before: without this, the erased secret would stay in it for a while.
    if (deleted.hadSecret) this.#truncateLog();
    return "deleted";
  }

  async deleteKeys(workspaceId: string, apiId: string, limit: number, deletedAt: number) {
    const { hadSecret, ...outcome } = await this.#configure(() =>
      this.#keys.deleteSome(workspaceId, apiId, limit, deletedAt),
    );
    if (hadSecret) this.#truncateLog();
    return outcome;
  }

  charge(plan: ChargePlan): Promise<ChargeResult> {
    try {
      this.#assertUsable();
      const answer = this.#charging.look(plan);
      if (answer !== null) return Promise.resolve(answer);
    } catch (error) {
      if (!isBusy(error)) return Promise.reject(translateError(error, "not-applied"));
    }
    if (this.#isFull) return this.#group.charge(plan);
    return this.#queue.run(() =>
      this.#connection.write(SYNCHRONOUS.NORMAL, () => {
        this.#connection.memo.confirm();
        return this.#charging.take(plan);
      }),
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#group.close();
    this.#queue.close();
    if (!this.#isOwned) return;
    this.#connection.truncateLog();
    this.#connection.database.close();
  }

  /** One statement: a snapshot of its own. */
  #read<Result>(work: () => Result): Promise<Result> {
    return this.#attempt(() => {
      this.#assertUsable();
      return work();
    });
  }

  #readSnapshot<Result>(work: () => Result): Promise<Result> {
    return this.#attempt(() => {
      this.#assertUsable();
      return this.#connection.snapshot(work);
    });
  }

  /** Reads do not wait behind writes; the lock that can stop one is that of a database being recovered. */
  #attempt<Result>(read: () => Result): Promise<Result> {
    try {
      return Promise.resolve(read());
    } catch (error) {
      if (!isBusy(error)) return Promise.reject(translateError(error, "not-applied"));
      return this.#queue.run(read);
    }
  }

  #configure<Result>(work: () => Result): Promise<Result> {
    return this.#queue.run(() => {
      this.#assertUsable();
      return this.#connection.configure(work);
    });
  }

  #truncateLog(): void {
    if (!this.#isClosed && !this.#connection.database.inTransaction) this.#connection.truncateLog();
  }

  #assertUsable(): void {
    if (this.#isClosed) throw unavailable("the store was closed");
    this.#connection.assertUsable();
  }
}
