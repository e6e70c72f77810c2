import type { LatchkeyError } from "../errors.js";
import type { ApiRecord } from "../records/api.js";
import type { IdentityRecord } from "../records/identity.js";
import type { KeyRecord } from "../records/key.js";
import type { WorkspaceRecord } from "../records/workspace.js";
import type { HeldPermissions } from "../rules/permission.js";
import type { Usage } from "../store/counters.js";
import type { EpochMs } from "../time.js";

/** A role or permission that a key has. */
export interface NamedGrant<Name extends string = string> {
  /** `role_…` or `perm_…` */
  readonly id: string;
  /** Unique in the workspace. */
  readonly name: Name;
}

/** Roles and permissions that a key was given itself, in contrast to what comes with its roles. */
export interface DirectGrants {
  readonly roles: readonly NamedGrant[];
  readonly permissions: readonly NamedGrant[];
}

/** Roles and permissions by name, all lists in ascending order of name. */
export interface ResolvedGrants {
  readonly direct: DirectGrants;
  /** Names of the roles. */
  readonly roles: readonly string[];
  /** Names of the permissions, direct and through roles, without duplicates. */
  readonly permissions: readonly string[];
  /** The same, to be asked whether they grant another. */
  readonly held: HeldPermissions;
}

/** A key with the records that a verification rests on, as one consistent snapshot. */
export interface VerifiableKey extends Omit<ResolvedGrants, "direct"> {
  readonly key: KeyRecord;
  readonly workspace: WorkspaceRecord;
  /** Of the workspace, when the key was read. */
  readonly revision: number;
  readonly api: ApiRecord;
  /** Null without an identity, and when the identity was deleted. */
  readonly identity: IdentityRecord | null;
  /** Instant of the latest verification that was counted as used, as the store had it, or null. */
  readonly lastUsedAt: EpochMs | null;
  /** The store's own ways to find the records again. */
  readonly handle?: unknown;
  readonly identityHandle?: unknown;
}

/** A key with all that a listing needs of it as well: its counters, and what it was given itself. */
export interface LoadedKey extends VerifiableKey, ResolvedGrants {
  /** The key's own counter, as stored: a refill that has fallen due since is not applied. */
  readonly usage: Usage;
  /** The counter that all keys of the identity share, as stored; null without an identity. */
  readonly identityUsage: Usage | null;
}

/** A key that was put together, null where its API was deleted, or why it could not be read. */
export type CatalogKey = LoadedKey | null | LatchkeyError;
