import type { ApiRecord } from "../records/api.js";
import type { ChangeFilter, ChangeLog, ChangeRecord, LoggedChange } from "../records/audit-entry.js";
import type { ChargePlan, ChargeResult } from "./wide-charge.js";
import type { IdentityRecord, LoadedIdentity } from "../records/identity.js";
import type { LoadedKey } from "../records/key.js";
import type {
  GrantReference,
  InsertKeysResult,
  KeyPatch,
  MissingGrants,
  NewKey,
  Rotation,
  UpdateKeyResult,
} from "../operations/keys/write.js";
import type { NamespacePlan, WindowDecision } from "../rules/rate-limit.js";
import type { LoadedRole, PermissionRecord, RoleRecord } from "../records/role.js";
import type { RootKeyRecord } from "../records/root-key.js";
import type { EpochMs } from "../time.js";
import type { Usage, UsageChange, UsageChangeResult } from "../rules/usage.js";
import type { CountSubject, HourCount, VerificationBatch } from "../statistics/count.js";
import type { WorkspaceRecord } from "../records/workspace.js";

/** One page of a list: which items come next, and how many at most. */
export interface PageRequest {
  /** Items with an id above this one; null for the first page. */
  readonly afterId: string | null;
  /** 1 to 100. */
  readonly limit: number;
}

/** Items in ascending order of id, which is the order of creation. */
export interface Page<Item> {
  readonly items: readonly Item[];
  /** Whether items follow the last one of this page. */
  readonly hasMore: boolean;
  /** Exact number of live items in the whole list, whatever the filter; kept as a counter, never a scan. */
  readonly total: number;
}

/** Named fields of an API to be set. A field left undefined stays as it is. */
export interface ApiPatch {
  readonly name?: string | undefined;
  readonly deleteProtection?: boolean | undefined;
  readonly ipWhitelist?: readonly string[] | undefined;
}

/** Named fields of an identity to be set. A field left undefined stays as it is. */
export interface IdentityPatch {
  readonly meta?: IdentityRecord["meta"] | undefined;
  readonly ratelimits?: IdentityRecord["ratelimits"] | undefined;
  readonly refill?: IdentityRecord["refill"] | undefined;
  readonly usage?: UsageChange | undefined;
}

/** What became of {@link KeyStore.updateIdentity}. All but `updated` wrote nothing. */
export type UpdateIdentityResult =
  /** The shared use counter as it is after the update. */
  | { readonly kind: "updated"; readonly usage: Usage }
  | { readonly kind: "not-found" }
  /** The version was not the expected one. */
  | { readonly kind: "stale" }
  | {
      readonly kind: "usage-refused";
      readonly reason: Exclude<UsageChangeResult, { kind: "changed" }>;
    };

/** How much of a bounded step is done. */
export interface Removal {
  readonly deleted: number;
  /** Whether there was more than one step may take: call again. */
  readonly hasMore: boolean;
}

/** How an identity is found: by its id, or by the caller's own. */
export type IdentityLookup = { readonly identityId: string } | { readonly externalId: string };

/**
 * Where keys live. Every method is one atomic step: it happens wholly or not at all, and nothing of another
 * call is seen in the middle of it. When a write has resolved, every read that starts later, from any process
 * on the same store, sees it.
 *
 * A store decides nothing. Rules come in as data, and the counters move as `applyCharge` and `changeUsage` of
 * this package say. Records of one workspace are invisible to every other. Records handed out are never
 * changed by the store afterwards.
 *
 * Every method rejects with a `LatchkeyError`: `STORE_UNAVAILABLE` when the store cannot be reached or does not
 * answer in time (with `outcome` telling whether a write may have happened), `STORE_CORRUPT` when a stored
 * record cannot be what was written. Nothing that might charge twice is ever retried.
 *
 * `describeKeyStore` of `@latchkey/conformance` tests all of this.
 */
export interface KeyStore {
  /** The workspace, or an untouched one where nothing was written about it yet. */
  getWorkspace(workspaceId: string): Promise<WorkspaceRecord>;
  /** Writes a workspace, unless one of this id was written or switched before. */
  insertWorkspace(workspace: WorkspaceRecord, log: ChangeLog): Promise<"inserted" | "taken">;
  /** Switches a workspace on or off and raises its epoch. */
  setWorkspaceEnabled(workspaceId: string, enabled: boolean, log: ChangeLog): Promise<void>;

  /** Writes an API with an id that is new. */
  insertApi(api: ApiRecord, log: ChangeLog): Promise<void>;
  getApi(workspaceId: string, apiId: string): Promise<ApiRecord | null>;
  listApis(workspaceId: string, page: PageRequest): Promise<Page<ApiRecord>>;
  /** Sets fields, raises the version and the epoch, if the version is the expected one. */
  updateApi(
    workspaceId: string,
    apiId: string,
    expectedVersion: number,
    patch: ApiPatch,
    log: ChangeLog,
  ): Promise<"updated" | "not-found" | "stale">;
  /**
   * Deletes an API and raises the epoch, unless it is protected: from then on the API does not exist, and none of its keys
   * is found or verifies. The keys stay stored until {@link KeyStore.deleteKeys} removes them: this step is short however
   * many there are.
   */
  deleteApi(
    workspaceId: string,
    apiId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found" | "protected">;

  /** Writes a permission, unless its name is taken in the workspace. */
  insertPermission(
    permission: PermissionRecord,
    log: ChangeLog,
  ): Promise<"inserted" | "name-taken">;
  getPermission(workspaceId: string, permissionId: string): Promise<PermissionRecord | null>;
  /** All permissions of the workspace, in ascending order of id. */
  listPermissions(workspaceId: string): Promise<readonly PermissionRecord[]>;
  /**
   * Deletes a permission and raises the epoch: no key and no role has it any more, and its name is free. Takes no longer
   * the more keys had it.
   */
  deletePermission(
    workspaceId: string,
    permissionId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found">;
  /**
   * Writes a role with its permissions, unless its name is taken in the workspace or a permission does not
   * exist, in one step.
   */
  insertRole(
    role: RoleRecord,
    permissions: readonly GrantReference<PermissionRecord>[],
    log: ChangeLog,
  ): Promise<{ readonly kind: "inserted" | "name-taken" } | MissingGrants>;
  getRole(workspaceId: string, roleId: string): Promise<LoadedRole | null>;
  /** All roles of the workspace, in ascending order of id, in one snapshot. */
  listRoles(workspaceId: string): Promise<readonly LoadedRole[]>;
  /**
   * Makes these the permissions of a role, raises its version and the epoch, if the version is the expected one and no
   * permission is missing.
   */
  setRolePermissions(
    workspaceId: string,
    roleId: string,
    expectedVersion: number,
    permissions: readonly GrantReference<PermissionRecord>[],
    log: ChangeLog,
  ): Promise<{ readonly kind: "updated" | "not-found" | "stale" } | MissingGrants>;
  /** Deletes a role and raises the epoch, as {@link KeyStore.deletePermission} does. */
  deleteRole(workspaceId: string, roleId: string, log: ChangeLog): Promise<"deleted" | "not-found">;

  insertRootKey(rootKey: RootKeyRecord, log: ChangeLog): Promise<void>;
  /** The root key with this hash, of any workspace, with its workspace, in one snapshot. */
  findRootKey(
    hash: string,
  ): Promise<{ readonly rootKey: RootKeyRecord; readonly workspace: WorkspaceRecord } | null>;
  listRootKeys(workspaceId: string, page: PageRequest): Promise<Page<RootKeyRecord>>;
  /** Deletes a root key: it is found no more by any call that starts later. */
  deleteRootKey(
    workspaceId: string,
    rootKeyId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found">;

  /** Writes an identity with its use counter, unless its `externalId` is taken in the workspace. Of N racers one wins. */
  insertIdentity(
    identity: IdentityRecord,
    usage: Usage,
    log: ChangeLog,
  ): Promise<"inserted" | "external-id-taken">;
  getIdentity(workspaceId: string, lookup: IdentityLookup): Promise<LoadedIdentity | null>;
  listIdentities(workspaceId: string, page: PageRequest): Promise<Page<LoadedIdentity>>;
  /**
   * Sets fields, if the version is the expected one. The version rises unless `usage` is all that the patch gives:
   * counters never bump it. Counters of limits that keep their name and duration go on; those of other limits are
   * forgotten.
   */
  updateIdentity(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
    log: ChangeLog,
  ): Promise<UpdateIdentityResult>;
  /**
   * Deletes an identity with its counters. Its keys are linked to none from then on, whatever is made under the same
   * `externalId` later; a key that draws from it has no uses. Takes no longer the more keys it had.
   */
  deleteIdentity(
    workspaceId: string,
    identityId: string,
    log: ChangeLog,
  ): Promise<"deleted" | "not-found">;

  /**
   * Writes keys with their identities, links and counters, and counts them, in one step: all of them or none.
   *
   * @param newKeys - 1 to 100, each in the same workspace.
   */
  insertKeys(newKeys: readonly NewKey[], log: ChangeLog): Promise<InsertKeysResult>;
  /** The live key with this hash, as one consistent snapshot. A hash is unique in its workspace. */
  findKey(hash: string, workspaceId: string): Promise<LoadedKey | null>;
  /** The live key with this id, as one consistent snapshot. */
  getKey(workspaceId: string, keyId: string): Promise<LoadedKey | null>;
  /**
   * Live keys of an API; with `identityId`, those of one identity. Each key is one consistent snapshot; which keys there
   * are may have been read a moment before, so that a key deleted meanwhile is missing from its page.
   */
  listKeys(
    workspaceId: string,
    apiId: string,
    filter: { readonly identityId: string | null },
    page: PageRequest,
  ): Promise<Page<LoadedKey>>;
  /**
   * Sets fields, if the version is the expected one. The version rises unless `usage` and `updatedAt` are all that the
   * patch gives: counters never bump it. Counters of limits that keep their name and duration go on; those of other
   * limits are forgotten, for every key that shares them.
   */
  updateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
    log: ChangeLog,
  ): Promise<UpdateKeyResult>;
  /**
   * Puts another key beside one, if the version is the expected one: writes the successor, which shares the counters, and
   * sets `rotatedTo`, `countersId`, `expiresAt` and `updatedAt` of the old key, whose version rises. Both count as live keys
   * of the API.
   *
   * Shared counters live as long as any of the keys that share them.
   */
  rotateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    rotation: Rotation,
    log: ChangeLog,
  ): Promise<"rotated" | "not-found" | "stale" | "hash-taken">;
  /**
   * Deletes a key: it is found, listed and counted no more, its encrypted secret is erased, and its hash is free again.
   *
   * @param removal - `permanent`: nothing of the record is kept; otherwise a store may keep it, where nothing of this
   * interface reaches it, for whoever looks after its data by hand.
   */
  deleteKey(
    workspaceId: string,
    keyId: string,
    removal: { readonly deletedAt: EpochMs; readonly permanent: boolean },
    log: ChangeLog,
  ): Promise<"deleted" | "not-found">;
  /**
   * Deletes keys of an API as {@link KeyStore.deleteKey} does, at most `limit` of them, also where the API itself was
   * deleted before. One call is one bounded step, so that no other caller waits long; call again while there are more.
   * Racers share the keys out between them: each key is counted by one, and a call may delete fewer than it could.
   *
   * @param limit - 1 to 1,000.
   * @param entryOf - What to log of a key; null where the log is off. It may be asked of keys that another call then
   * turns out to have deleted: only the entries of those deleted here are written.
   * @returns The ids of the keys that this call deleted.
   */
  deleteKeys(
    workspaceId: string,
    apiId: string,
    limit: number,
    deletedAt: EpochMs,
    entryOf: ((keyId: string) => LoggedChange) | null,
  ): Promise<{ readonly deleted: readonly string[]; readonly hasMore: boolean }>;

  /**
   * The atomic step of a verification, exactly as `applyCharge` says: compares what the plan expects, settles a
   * due refill, then takes every window slot and use, or none. The result under a request id is remembered at least
   * until `rememberUntil`.
   */
  charge(plan: ChargePlan): Promise<ChargeResult>;
  /** Takes from a limit that belongs to no key, exactly as `decideWindow` says. A refusal takes nothing. */
  takeFromNamespace(plan: NamespacePlan): Promise<WindowDecision>;

  /**
   * Adds to the counters of verifications, and raises the latest use of keys; it never goes back. Keys that do not exist
   * are passed over. Adding is all that is atomic about it: the counters stand beside the verdicts, and no verdict waits
   * for them.
   */
  addVerifications(workspaceId: string, batch: VerificationBatch): Promise<void>;
  /** What was counted of a subject in the hours from `startAt`, included, to `endAt`, not included; in ascending order. */
  getVerifications(
    workspaceId: string,
    subject: CountSubject,
    startAt: EpochMs,
    endAt: EpochMs,
  ): Promise<readonly HourCount[]>;
  /**
   * Forgets counters of hours before `beforeAt`, a start of a day of UTC, at most about `limit` of them.
   *
   * @param limit - 1 to 1,000.
   */
  deleteVerifications(workspaceId: string, beforeAt: EpochMs, limit: number): Promise<Removal>;

  /** Entries of the audit log, in descending order of id, the latest first. */
  listChanges(
    workspaceId: string,
    filter: ChangeFilter,
    page: { readonly beforeId: string | null; readonly limit: number },
  ): Promise<{ readonly items: readonly ChangeRecord[]; readonly hasMore: boolean }>;
  /**
   * Forgets entries of the audit log with an id below `beforeId`, at most `limit` of them.
   *
   * @param limit - 1 to 1,000.
   */
  deleteChanges(workspaceId: string, beforeId: string, limit: number): Promise<Removal>;

  /** Lets go of what the store opened itself; again is harmless. Calls after it reject with `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}
