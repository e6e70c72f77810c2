import type { ApiRecord } from "../records/api.js";
import type { IdentityRecord } from "../records/identity.js";
import type { KeyRecord } from "../records/key.js";
import type { WorkspaceRecord } from "../records/workspace.js";
import type { Usage } from "../store/counters.js";
import type { EpochMs } from "../time.js";

/** A role or permission as it is held: enough to name it. */
export interface NamedGrant {
  readonly id: string;
  readonly name: string;
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
}

/** A key with all that a verification or a listing needs of it, as one consistent snapshot. */
export interface LoadedKey extends ResolvedGrants {
  readonly key: KeyRecord;
  /** The key's own counter, as stored: a refill that has fallen due since is not applied. */
  readonly usage: Usage;
  readonly workspace: WorkspaceRecord;
  /** Of the workspace, when the key was read. */
  readonly revision: number;
  readonly api: ApiRecord;
  /** Null without an identity, and when the identity was deleted. */
  readonly identity: IdentityRecord | null;
  /** The counter that all keys of the identity share, as stored; null without an identity. */
  readonly identityUsage: Usage | null;
  /** Instant of the latest verification that was counted as used, or null. */
  readonly lastUsedAt: EpochMs | null;
  /** The store's own ways to find the records again. */
  readonly handle?: unknown;
  readonly identityHandle?: unknown;
}
