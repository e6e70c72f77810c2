import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { WireRateLimit } from "../../rules/rate-limit.js";
import type { PublicIdentity } from "../../verification/verdict.js";
import type { PageInput } from "../input.js";
import type { IdentityLimitInput } from "../limit-input.js";
import type { PageInfo } from "../read.js";
import type { RefillInput, RefillView } from "../uses-and-refill.js";
import type { IdentityReference } from "./reference.js";

/** Options of createIdentity that HTTP does not have. */
export interface CreateIdentityScope {
  /** Whether `remaining` may be 0, to import an identity that has used up its uses. Default: false. */
  readonly forImport?: boolean | undefined;
}

/** An identity that was created. */
export interface CreatedIdentity {
  /** `id_…` */
  readonly identityId: string;
}

/** An identity. Fields without a value are absent. */
export interface IdentityView<Types extends LatchkeyTypes = DefaultTypes>
  extends PublicIdentity<Types> {
  /** Limits that its keys share. */
  readonly ratelimits: readonly WireRateLimit<LimitName<Types>>[];
  /** Shared uses left now, whole and >= 0; absent when unlimited. */
  readonly remaining?: number;
  /** Shared uses that reservations and leases hold, not part of `remaining`; absent: none. */
  readonly reserved?: number;
  /** How the shared uses are restored; absent: not at all. */
  readonly refill?: RefillView;
}

/** An identity in a list. */
export interface ListedIdentity<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<IdentityView<Types>, "id" | "externalId" | "ratelimits"> {}

/** A page of identities. With a filter it may be short, or empty. */
export interface IdentityList<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation. */
  readonly identities: readonly ListedIdentity<Types>[];
  /** Exact number of identities of the workspace, regardless of filters. */
  readonly total: number;
  /** With a filter: how many identities were read for this page, at most 2,000. */
  readonly scanned?: number;
}

/** What happened to the keys of a deleted identity. */
export interface DeletedIdentity {
  /** `unlinked`: they continue to work without an owner. `disabled`: they are disabled, and have no owner. */
  readonly keys: "unlinked" | "disabled" | "deleted";
  /** How many keys this call disabled; only with `disable`. */
  readonly disabledKeys?: number;
  /** How many keys this call deleted; only with `delete`. */
  readonly deletedKeys?: number;
}

/** What eraseIdentity has erased. */
export interface ErasedIdentity {
  /** How many identities: the one of the `externalId`, and earlier ones that the audit log knows. */
  readonly erasedIdentities: number;
  /** How many keys this call deleted. */
  readonly deletedKeys: number;
  /** How many entries of the audit log this call overwrote. */
  readonly erasedEvents: number;
}

/** Operations on identities: the users or customers behind keys. */
export interface IdentityOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Creates an identity. Giving a key an unknown `externalId` creates one too.
   *
   * @throws LatchkeyError `CONFLICT` if the `externalId` is taken.
   * @example
   * const { identityId } = await latchkey.createIdentity({
   *   externalId: "customer_7",
   *   ratelimits: [{ name: "requests", limit: 100, duration: "1m", autoApply: true }],
   * });
   */
  createIdentity(
    input: {
      /** Your own id of the user, unique in the workspace: 1 to 255 characters. */
      readonly externalId: string;
      /** A JSON object of at most 16 KiB and 16 levels. Default: `{}`. Checked by `identityMeta` of createLatchkey. */
      readonly meta?: Types["identityMetaInput"] | undefined;
      /** Limits that the keys of the identity share, at most 50. */
      readonly ratelimits?: readonly IdentityLimitInput<Types>[] | undefined;
      /** Uses that the keys with `usesFrom: "identity"` share: whole and >= 1. Default: unlimited. */
      readonly remaining?: number | undefined;
      /** How the shared uses are restored; needs `remaining`. */
      readonly refill?: RefillInput | undefined;
    },
    scope?: CreateIdentityScope,
  ): Promise<CreatedIdentity>;
  /**
   * Reads an identity.
   *
   * @throws LatchkeyError `NOT_FOUND`, `BAD_REQUEST` without either id.
   * @example
   * const { meta, remaining } = await latchkey.getIdentity({ externalId: "user_1" });
   */
  getIdentity(input: IdentityReference): Promise<IdentityView<Types>>;
  /**
   * Lists the identities of the workspace, a page at a time; `identities()` iterates over all of them.
   *
   * With a filter, a page reads at most 2,000 identities, and `cursor` continues after them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for an invalid cursor.
   * @example
   * const { identities, cursor } = await latchkey.listIdentities({ externalIdContains: "north", limit: 20 });
   */
  listIdentities(
    input?: PageInput & {
      /** Only identities whose `externalId` contains this, 1 to 255 characters, ignoring case. */
      readonly externalIdContains?: string | undefined;
    },
  ): Promise<IdentityList<Types>>;
  /**
   * Changes metadata, limits or shared uses of an identity. The next verification of its keys sees the change.
   *
   * @param input - Omitted fields stay.
   * @returns The identity after the update.
   * @throws LatchkeyError `NOT_FOUND`, `BAD_REQUEST` without either id and for a refill without `remaining`.
   * @example
   * await latchkey.updateIdentity({ externalId: "user_1", remaining: 5_000 });
   */
  updateIdentity(
    input: IdentityReference & {
      /** The whole metadata: a JSON object of at most 16 KiB and 16 levels; `{}` clears it. Checked by `identityMeta` of createLatchkey. */
      readonly meta?: Types["identityMetaInput"] | undefined;
      /** All limits, at most 50; an empty list removes all. A limit that keeps its name and duration keeps its count. */
      readonly ratelimits?: readonly IdentityLimitInput<Types>[] | undefined;
      /** Shared uses left: whole and >= 0; null for unlimited, which also removes the refill. */
      readonly remaining?: number | null | undefined;
      /** How the shared uses are restored; null for not at all. */
      readonly refill?: RefillInput | null | undefined;
    },
  ): Promise<IdentityView<Types>>;
  /**
   * Deletes an identity with its metadata, limits and shared uses. `keys` says what happens to its keys.
   *
   * `unlink`: they continue to work without an owner, even if an identity with the same `externalId` is created later. Keys that take their
   * uses from the identity have none left.
   *
   * `disable` and `delete` work in bounded, atomic steps. When the call resolves, none of its keys verifies. A key that is created
   * meanwhile is included, or belongs to a new identity of the same `externalId`. If it fails on the way, call it again, even if the
   * identity itself is gone.
   *
   * A damaged identity is deleted too.
   *
   * @throws LatchkeyError `NOT_FOUND`.
   * @example
   * const { deletedKeys } = await latchkey.deleteIdentity({ identityId, keys: "delete" });
   */
  deleteIdentity(input: {
    /** Id of the identity. */
    readonly identityId: string;
    /** What happens to its keys. Default: `unlink`. */
    readonly keys?: "unlink" | "disable" | "delete" | undefined;
  }): Promise<DeletedIdentity>;
  /**
   * Erases a user: deletes the identity, all earlier ones of its `externalId` that the audit log knows, and their keys. In the audit log,
   * their names, metadata and other texts are overwritten, and the entries have `erased: true`; ids, types, times and numbers stay. Writes
   * one entry, `identity.erased`. Also works for an identity that was deleted before.
   *
   * It works in bounded, atomic steps, and reads the whole audit log: seconds for each million entries. If it fails, call it again. What is
   * created meanwhile under the same `externalId` may stay.
   *
   * @throws LatchkeyError `NOT_FOUND` if nothing is known of the identity, as after erasing it by its `externalId`.
   * @example
   * const { deletedKeys } = await latchkey.eraseIdentity({ externalId: "user_1" });
   */
  eraseIdentity(input: IdentityReference): Promise<ErasedIdentity>;
}
