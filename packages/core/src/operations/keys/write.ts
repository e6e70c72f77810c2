import type { IdentityRecord } from "../../records/identity.js";
import type { KeyRecord } from "../../records/key.js";
import type { PermissionRecord, RoleRecord } from "../../records/role.js";
import type { Usage, UsageChange, UsageChangeResult } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";

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
  /**
   * Linked by its `externalId`: the existing identity where there is one, else this record is written, without a number of
   * uses. Several keys of one call may name one `externalId`: the first makes it.
   */
  readonly identity: IdentityRecord | null;
  readonly grants: Grants;
}

/** What became of `KeyStore.insertKeys`. All but `inserted` wrote nothing. */
export type InsertKeysResult =
  /** `created`: ids of the identities, roles and permissions that were made on demand. */
  | { readonly kind: "inserted"; readonly created: readonly string[] }
  /** `index`: of the first key that was refused, in the order given. */
  | { readonly kind: "api-not-found" | "hash-taken"; readonly index: number }
  /** All that is missing, of all keys. */
  | MissingGrants;

/** A key that takes the place of another. */
export interface Rotation {
  /**
   * The new key. It gets the roles and permissions that the old one holds itself, and shares its counters; `identityId`,
   * like every other field, is what the caller read from the old key.
   */
  readonly successor: KeyRecord & { readonly rotatedFrom: string; readonly countersId: string };
  /** When the old key dies: Unix epoch ms. */
  readonly expiresAt: EpochMs;
  readonly updatedAt: EpochMs;
}

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
  readonly usesFrom?: KeyRecord["usesFrom"] | undefined;
  readonly sealedSecret?: string | null | undefined;
  readonly updatedAt?: EpochMs | undefined;
  readonly usage?: UsageChange | undefined;
  readonly grants?: Grants | undefined;
}

/** What became of `KeyStore.updateKey`. All but `updated` wrote nothing. */
export type UpdateKeyResult =
  | {
      readonly kind: "updated";
      /** The key's own use counter as it is after the update. */
      readonly usage: Usage;
      /** Ids of the identity, roles and permissions that were made on demand. */
      readonly created: readonly string[];
    }
  | { readonly kind: "not-found" }
  /** The version was not the expected one. */
  | { readonly kind: "stale" }
  | {
      readonly kind: "usage-refused";
      readonly reason: Exclude<UsageChangeResult, { kind: "changed" }>;
    }
  | MissingGrants;
