import type { LatchkeyError } from "../errors.js";
import type { ApiRecord } from "../records/api.js";
import type { IdentityRecord } from "../records/identity.js";
import type { KeyRecord } from "../records/key.js";
import type { WorkspaceRecord } from "../records/workspace.js";
import type { HeldPermissions } from "../rules/permission.js";
import type { Refill } from "../rules/refill.js";
import { NO_USES, type Usage } from "../store/counters.js";
import type { EpochMs } from "../time.js";

/** A role or permission that a key has. */
export interface NamedGrant<Name extends string = string> {
  /** `role_…` or `perm_…` */
  readonly id: string;
  /** Unique in the workspace. */
  readonly name: Name;
}

export function namesOf(grants: readonly NamedGrant[]): readonly string[] {
  return grants.map(({ name }) => name);
}

/** Roles and permissions by name, all lists in ascending order of name. */
export interface ResolvedGrants {
  /** Those that a key was given directly, in contrast to those that come with its roles. */
  readonly direct: {
    readonly roles: readonly NamedGrant[];
    readonly permissions: readonly NamedGrant[];
  };
  /** Names of the roles. */
  readonly roles: readonly string[];
  /** Names of the permissions, direct and through roles, without duplicates. */
  readonly permissions: readonly string[];
  /** The same permissions, ready for queries. */
  readonly held: HeldPermissions;
}

/** A key with the records that a verification is based on, as one consistent snapshot. */
export interface VerifiableKey extends Omit<ResolvedGrants, "direct"> {
  readonly key: KeyRecord;
  readonly workspace: WorkspaceRecord;
  /** Revision of the workspace when the key was read. */
  readonly revision: number;
  readonly api: ApiRecord;
  /** Null without an identity, and when the identity was deleted. */
  readonly identity: IdentityRecord | null;
  /** Instant of the latest verification that was counted as a use, as the store had it, or null. */
  readonly lastUsedAt: EpochMs | null;
  /** The store's own references to the records. */
  readonly handle?: unknown;
  readonly identityHandle?: unknown;
}

/** A key with everything that a listing also needs: its counters, and its direct grants. */
export interface LoadedKey extends VerifiableKey, ResolvedGrants {
  /** The key's own counter, as stored: a refill that fell due since then is not applied. */
  readonly usage: Usage;
  /** The counter that all keys of the identity share, as stored; null without an identity. */
  readonly identityUsage: Usage | null;
}

/** An assembled key, null if its API was deleted, or the error that says why it could not be read. */
export type CatalogKey = LoadedKey | null | LatchkeyError;

/**
 * The uses that a key takes from, with the refill that restores them: its own, or those that all keys of its identity share. If that identity
 * was deleted, none are left and nothing restores them: the key must not become unlimited. In all other respects it lives on, without an owner
 * and without the identity's limits.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
export function effectiveUses(
  loaded: Pick<LoadedKey, "key" | "usage" | "identity" | "identityUsage">,
): { readonly usage: Usage; readonly refill: Refill | null } {
  const usage = loaded.key.usesFrom === "key" ? loaded.usage : (loaded.identityUsage ?? NO_USES);
  return { usage, refill: effectiveRefill(loaded) };
}

/** The refill of the uses that a key takes from; null for none. */
export function effectiveRefill({
  key,
  identity,
}: Pick<VerifiableKey, "key" | "identity">): Refill | null {
  return key.usesFrom === "key" ? key.refill : (identity?.refill ?? null);
}
