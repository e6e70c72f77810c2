import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { WireRateLimit } from "../../rules/rate-limit.js";
import type { PageInput } from "../input.js";
import type { IdentityLimitInput } from "../limit-input.js";
import type { PageInfo } from "../read.js";
import type { RefillInput } from "../refill-input.js";
import type { RefillView } from "../uses-and-refill.js";
import type { IdentityReference } from "./reference.js";

/** What createIdentity takes within this process alone: it cannot be asked for over HTTP. */
export interface CreateIdentityScope {
  /** Whether `remaining` may be 0, of an identity that another system has used up: false unless given. */
  readonly forImport?: boolean | undefined;
}

/** An identity that was created. */
export interface CreatedIdentity {
  /** `id_…` */
  readonly identityId: string;
}

/** An identity as it is read by itself. Fields without a value are absent. */
export interface IdentityView<Types extends LatchkeyTypes = DefaultTypes> {
  /** `id_…` */
  readonly id: string;
  /** Your own id of the user. */
  readonly externalId: string;
  /** Its metadata; `{}` where it has none. */
  readonly meta: Types["identityMeta"];
  /** Limits that its keys share. */
  readonly ratelimits: readonly WireRateLimit<LimitName<Types>>[];
  /** Uses left to the keys that take theirs from the identity, as of now, whole and >= 0; absent when unlimited. */
  readonly remaining?: number;
  /** Shared uses that reservations and leases hold, beside `remaining`: whole and >= 1. Absent where none are held. */
  readonly reserved?: number;
  /** How the shared uses are restored; absent: not at all. */
  readonly refill?: RefillView;
}

/** An identity as it is listed. */
export interface ListedIdentity<Types extends LatchkeyTypes = DefaultTypes>
  extends Pick<IdentityView<Types>, "id" | "externalId" | "ratelimits"> {}

/** A page of identities in the order of their creation; without `cursor` it is the last one. With a filter it may be short, or empty. */
export interface IdentityList<Types extends LatchkeyTypes = DefaultTypes> extends PageInfo {
  /** In the order of their creation. */
  readonly identities: readonly ListedIdentity<Types>[];
  /** Exact number of identities of the workspace, whatever a filter keeps. */
  readonly total: number;
  /** With a filter: how many identities were read for this page, at most 2,000. */
  readonly scanned?: number;
}

/** What became of the keys of an identity that was deleted. */
export interface DeletedIdentity {
  /** `unlinked`: they live on, without an owner. `disabled`: they are switched off, without an owner. */
  readonly keys: "unlinked" | "disabled" | "deleted";
  /** How many keys this call switched off; absent unless they were to be. */
  readonly disabledKeys?: number;
  /** How many keys this call deleted; absent unless they were to be. */
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
   * Creates an identity. Keys can be given its `externalId` before it exists, too, and create it then.
   *
   * @throws LatchkeyError `CONFLICT` when an identity of this `externalId` exists.
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
      /** A JSON object of at most 16 KiB and 16 levels, `{}` unless given. Checked by `identityMeta` of createLatchkey. */
      readonly meta?: Types["identityMetaInput"] | undefined;
      /** Limits that the keys of the identity share, at most 50. */
      readonly ratelimits?: readonly IdentityLimitInput<Types>[] | undefined;
      /** Uses that the keys with `usesFrom: "identity"` share: whole and >= 1, unlimited unless given. */
      readonly remaining?: number | undefined;
      /** How the shared uses are restored; needs `remaining`. */
      readonly refill?: RefillInput | undefined;
    },
    scope?: CreateIdentityScope,
  ): Promise<CreatedIdentity>;
  /**
   * Reads an identity.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id.
   * @example
   * const { meta, remaining } = await latchkey.getIdentity({ externalId: "user_1" });
   */
  getIdentity(input: IdentityReference): Promise<IdentityView<Types>>;
  /**
   * Lists the identities of the workspace, a page at a time; `identities()` of a latchkey goes through all of them.
   *
   * A filter reads at most 2,000 identities for a page, and `cursor` goes on behind them.
   *
   * @throws LatchkeyError `BAD_REQUEST` for a cursor that is damaged or of another list.
   * @example
   * const { identities, cursor } = await latchkey.listIdentities({ externalIdContains: "north", limit: 20 });
   */
  listIdentities(
    input?: PageInput & {
      /** Only identities whose `externalId` contains this, 1 to 255 characters, upper and lower case alike. */
      readonly externalIdContains?: string | undefined;
    },
  ): Promise<IdentityList<Types>>;
  /**
   * Changes metadata, limits or shared uses of an identity. Its keys see it with their next verification; a counter whose limit
   * keeps its name and duration goes on.
   *
   * @param input - Which identity, and what changes. What is omitted stays.
   * @returns The identity after the update.
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity, `BAD_REQUEST` without either id and for a
   * refill without `remaining`.
   * @example
   * await latchkey.updateIdentity({ externalId: "user_1", remaining: 5_000 });
   */
  updateIdentity(
    input: IdentityReference & {
      /** The whole metadata: a JSON object of at most 16 KiB and 16 levels; `{}` clears it. Checked by `identityMeta` of createLatchkey. */
      readonly meta?: Types["identityMetaInput"] | undefined;
      /** The whole set of limits, at most 50; an empty list removes all. A limit that keeps name and duration keeps its window. */
      readonly ratelimits?: readonly IdentityLimitInput<Types>[] | undefined;
      /** Shared uses left: whole and >= 0; null for unlimited, which also takes away the refill. */
      readonly remaining?: number | null | undefined;
      /** How the shared uses are restored; null for not at all. */
      readonly refill?: RefillInput | null | undefined;
    },
  ): Promise<IdentityView<Types>>;
  /**
   * Deletes an identity, with its metadata, limits and shared uses, and does with its keys what `keys` says.
   *
   * `unlink`: they live on without an owner. They belong to no identity that is created under the same `externalId` later, and those
   * that take their uses from the identity have none from then on.
   *
   * `disable` and `delete` work in bounded, atomic steps: first the keys, then the identity, then what was created beside it. When it
   * resolves, none of its keys verifies. A createKey beside it belongs to a new identity of the same `externalId`, or is met as well.
   * Should it fail on the way, calling it again goes on, also if the identity itself is gone already.
   *
   * An identity whose record cannot be read is deleted all the same.
   *
   * @throws LatchkeyError `NOT_FOUND` when this workspace has no such identity.
   * @example
   * const { deletedKeys } = await latchkey.deleteIdentity({ identityId, keys: "delete" });
   */
  deleteIdentity(input: {
    /** Id of the identity. */
    readonly identityId: string;
    /** What becomes of its keys: `unlink` unless given. */
    readonly keys?: "unlink" | "disable" | "delete" | undefined;
  }): Promise<DeletedIdentity>;
  /**
   * Erases somebody: the identity, all earlier ones of its `externalId` that the audit log knows, and their keys. In the audit log every
   * name, `externalId`, metadata and other text of theirs is overwritten, and the entry says `erased: true`; ids, types, instants and
   * numbers stay. One entry, `identity.erased`, says that it happened. It also works for an identity that was deleted before.
   *
   * It works in bounded, atomic steps, and reads the whole audit log: some seconds for each million entries. Should it fail on the way,
   * calling it again goes on. What is created beside it under the same `externalId` may stay.
   *
   * @throws LatchkeyError `NOT_FOUND` where nothing is known of such an identity: as much as that is left when it has been erased and is
   * named by its `externalId`.
   * @example
   * const { deletedKeys } = await latchkey.eraseIdentity({ externalId: "user_1" });
   */
  eraseIdentity(input: IdentityReference): Promise<ErasedIdentity>;
}
