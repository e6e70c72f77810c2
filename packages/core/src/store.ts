import type { ApiRecord } from "./api.js";
import type { ChargePlan, ChargeResult } from "./charge.js";
import type { IdentityRecord } from "./identity.js";
import type { KeyRecord, LoadedKey } from "./key.js";
import type { PermissionRecord, RoleRecord } from "./role.js";
import type { RootKeyRecord } from "./root-key.js";
import type { EpochMs } from "./time.js";
import type { Usage, UsageChange, UsageChangeResult } from "./usage.js";
import type { WorkspaceRecord } from "./workspace.js";

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

/** A role or permission that a key is to be given. */
export type GrantReference<Definition> =
  | { readonly kind: "id"; readonly id: string }
  /** `orCreate`: written in the same step where no role or permission of that name exists. */
  | { readonly kind: "name"; readonly name: string; readonly orCreate: Definition | null };

/** The full sets of roles and permissions of a key. Those left undefined stay as they are. */
export interface Grants {
  readonly roles?: readonly GrantReference<RoleRecord>[] | undefined;
  readonly permissions?: readonly GrantReference<PermissionRecord>[] | undefined;
}

/** Names or ids that were referred to and do not exist. */
export interface MissingGrants {
  readonly kind: "missing-grants";
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** A key to be written, with all that is written in the same step. */
export interface NewKey {
  /** `identityId` is ignored where `identity` is given. */
  readonly key: KeyRecord;
  readonly usage: Usage;
  /** Linked by its `externalId`: the existing identity where there is one, else this record is written. */
  readonly identity: IdentityRecord | null;
  readonly grants: Grants;
}

/** What became of {@link KeyStore.insertKey}. All but `inserted` wrote nothing. */
export type InsertKeyResult =
  | { readonly kind: "inserted" }
  | { readonly kind: "api-not-found" }
  | { readonly kind: "hash-taken" }
  | MissingGrants;

/** Named fields of a key to be set. A field left undefined stays as it is. */
export interface KeyPatch {
  readonly name?: string | null | undefined;
  /** As in {@link NewKey}; null unlinks. */
  readonly identity?: IdentityRecord | null | undefined;
  readonly meta?: KeyRecord["meta"] | undefined;
  readonly expiresAt?: EpochMs | null | undefined;
  readonly switchedOn?: boolean | undefined;
  readonly refill?: KeyRecord["refill"] | undefined;
  readonly ratelimits?: KeyRecord["ratelimits"] | undefined;
  readonly environment?: string | null | undefined;
  readonly sealedSecret?: string | null | undefined;
  readonly updatedAt?: EpochMs | undefined;
  readonly usage?: UsageChange | undefined;
  readonly grants?: Grants | undefined;
}

/** What became of {@link KeyStore.updateKey}. All but `updated` wrote nothing. */
export type UpdateKeyResult =
  /** The use counter as it is after the update. */
  | { readonly kind: "updated"; readonly usage: Usage }
  | { readonly kind: "not-found" }
  /** The version was not the expected one. */
  | { readonly kind: "stale" }
  | {
      readonly kind: "usage-refused";
      readonly reason: Exclude<UsageChangeResult, { kind: "changed" }>;
    }
  | MissingGrants;

/** Named fields of an identity to be set. A field left undefined stays as it is. */
export interface IdentityPatch {
  readonly meta?: IdentityRecord["meta"] | undefined;
  readonly ratelimits?: IdentityRecord["ratelimits"] | undefined;
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
  /** Switches a workspace on or off and raises its epoch. */
  setWorkspaceEnabled(workspaceId: string, enabled: boolean): Promise<void>;

  /** Writes an API with an id that is new. */
  insertApi(api: ApiRecord): Promise<void>;
  getApi(workspaceId: string, apiId: string): Promise<ApiRecord | null>;
  /**
   * Deletes an API and raises the epoch: from then on the API does not exist, and none of its keys is found or
   * verifies. The keys stay stored until {@link KeyStore.deleteKeys} removes them: this step is short however many
   * there are.
   */
  deleteApi(workspaceId: string, apiId: string): Promise<"deleted" | "not-found">;

  /** Writes a permission, unless its name is taken in the workspace. */
  insertPermission(permission: PermissionRecord): Promise<"inserted" | "name-taken">;
  /**
   * Writes a role with its permissions, unless its name is taken in the workspace or a permission does not
   * exist, in one step.
   */
  insertRole(
    role: RoleRecord,
    permissions: readonly GrantReference<PermissionRecord>[],
  ): Promise<{ readonly kind: "inserted" | "name-taken" } | MissingGrants>;

  insertRootKey(rootKey: RootKeyRecord): Promise<void>;
  /** The root key with this hash, of any workspace, with its workspace, in one snapshot. */
  findRootKey(
    hash: string,
  ): Promise<{ readonly rootKey: RootKeyRecord; readonly workspace: WorkspaceRecord } | null>;

  /** Writes an identity, unless its `externalId` is taken in the workspace. Of N racers one wins. */
  insertIdentity(identity: IdentityRecord): Promise<"inserted" | "external-id-taken">;
  getIdentity(workspaceId: string, lookup: IdentityLookup): Promise<IdentityRecord | null>;
  listIdentities(workspaceId: string, page: PageRequest): Promise<Page<IdentityRecord>>;
  /**
   * Sets fields and raises the version, if it is the expected one. Counters of limits that keep their name and
   * duration go on; those of other limits are forgotten.
   */
  updateIdentity(
    workspaceId: string,
    identityId: string,
    expectedVersion: number,
    patch: IdentityPatch,
  ): Promise<"updated" | "not-found" | "stale">;

  /** Writes a key with its identity, links and counters, and counts it, in one step. */
  insertKey(newKey: NewKey): Promise<InsertKeyResult>;
  /** The live key with this hash, as one consistent snapshot. A hash is unique in its workspace. */
  findKey(hash: string, workspaceId: string): Promise<LoadedKey | null>;
  /** The live key with this id, as one consistent snapshot. */
  getKey(workspaceId: string, keyId: string): Promise<LoadedKey | null>;
  /** Live keys of an API; with `identityId`, those of one identity. */
  listKeys(
    workspaceId: string,
    apiId: string,
    filter: { readonly identityId: string | null },
    page: PageRequest,
  ): Promise<Page<LoadedKey>>;
  /**
   * Sets fields, if the version is the expected one. The version rises unless `usage` and `updatedAt` are all that the
   * patch gives: counters never bump it. Counters of limits that keep their name and duration go on; those of other
   * limits are forgotten.
   */
  updateKey(
    workspaceId: string,
    keyId: string,
    expectedVersion: number,
    patch: KeyPatch,
  ): Promise<UpdateKeyResult>;
  /**
   * Deletes a key: it is found, listed and counted no more, its encrypted secret is erased, and its hash is free again.
   */
  deleteKey(
    workspaceId: string,
    keyId: string,
    deletedAt: EpochMs,
  ): Promise<"deleted" | "not-found">;

  /**
   * Deletes keys of an API as {@link KeyStore.deleteKey} does, at most `limit` of them, also where the API itself was
   * deleted before. One call is one bounded step, so that no other caller waits long; call again while there are more.
   * Racers share the keys out between them: each key is counted by one, and a call may delete fewer than it could.
   *
   * @param limit - 1 to 1,000.
   */
  deleteKeys(
    workspaceId: string,
    apiId: string,
    limit: number,
    deletedAt: EpochMs,
  ): Promise<{ readonly deleted: number; readonly hasMore: boolean }>;

  /**
   * The atomic step of a verification, exactly as `applyCharge` says: compares what the plan expects, settles a
   * due refill, then takes every window slot and use, or none. The result under a request id is remembered at least
   * until `rememberUntil`.
   */
  charge(plan: ChargePlan): Promise<ChargeResult>;

  /** Lets go of what the store opened itself; again is harmless. Calls after it reject with `STORE_UNAVAILABLE`. */
  close(): Promise<void>;
}
