import { LatchkeyError, unmet } from "../../errors.js";
import type { ApiRecord } from "../../records/api.js";
import { type IdentityRecord, identityType } from "../../records/identity.js";
import { keysOfApi, keyType } from "../../records/key.js";
import { isExpired } from "../../rules/keys/lifecycle.js";
import { StaleReadError } from "../../store/transaction.js";
import type { EpochMs } from "../../time.js";
import { aboveCeilingError, keyRulesOf } from "../apis/key-rules.js";
import type { OperationContext, Work } from "../context.js";
import { decodeOrNull } from "../damaged.js";
import { listPages } from "../read.js";
import type { References } from "../references.js";
import { deleteLoaded } from "./delete-key.js";
import { readKeys } from "./load.js";

/** Keys counted with one read. */
const COUNTED_AT_ONCE = 1_000;

/** Most dead keys that a rotation deletes. There are more only if a session allows fewer keys than the one before. */
const DELETED_AT_ONCE = 10;

/** A key that will belong to an owner. */
interface OwnedKey {
  readonly api: ApiRecord;
  /** `externalId` of its owner; undefined: none. */
  readonly owner: string | undefined;
}

/**
 * How many keys owners may still get in APIs with a ceiling on them.
 *
 * A transaction that takes a place also rewrites the identity, which was read before the keys were counted. So of two transactions that
 * take a place at the same time, one runs again and counts the other's key. If the identity does not exist yet, they conflict at its
 * creation.
 *
 * @see packages/core/decisions/0044-ceilings-are-met-in-the-commit.md
 */
export class OwnerPlaces {
  readonly #work: Work;
  readonly #left = new Map<string, number>();
  readonly #identities = new Map<string, IdentityRecord>();

  private constructor(work: Work) {
    this.#work = work;
  }

  /** Counts the keys of these owners, as far as the APIs have a ceiling. The references must have been read. */
  static async read(
    work: Work,
    references: References,
    keys: readonly OwnedKey[],
  ): Promise<OwnerPlaces> {
    const places = new OwnerPlaces(work);
    const { confinedTo } = work.context;
    for (const { api, owner } of keys) {
      const max = keyRulesOf(api).ceilings?.maxKeysPerIdentity;
      const inAll = confinedTo?.maxKeys;
      if (owner === undefined || (max ?? inAll) === undefined) continue;
      const name = placeName(api, owner);
      if (places.#left.has(name)) continue;
      const id = references.knownIdentityId(owner);
      const identity = id === null ? null : await places.#readIdentity(owner, id);
      const leftIn = async (apiIds: readonly string[], most: number | undefined) => {
        let left = most ?? Number.POSITIVE_INFINITY;
        for (const apiId of identity === null ? [] : apiIds)
          if (left > 0) left -= await countKeys(work, apiId, (identity as IdentityRecord).id, left);
        return left;
      };
      const left = [await leftIn([api.id], max), await leftIn(confinedTo?.apiIds ?? [], inAll)];
      places.#left.set(name, Math.min(...left));
    }
    return places;
  }

  hasPlace(api: ApiRecord, owner: string | undefined): boolean {
    return owner === undefined || (this.#left.get(placeName(api, owner)) ?? 1) > 0;
  }

  /** `dryRun`: nothing is written. @throws LatchkeyError `PRECONDITION_FAILED` if the owner has as many keys as allowed. */
  take(api: ApiRecord, owner: string | undefined, dryRun: boolean = false): void {
    if (owner === undefined) return;
    const name = placeName(api, owner);
    const left = this.#left.get(name);
    if (left === undefined) return;
    if (left <= 0) throw this.refusal(api);
    this.#left.set(name, left - 1);
    const identity = this.#identities.get(owner);
    if (dryRun || identity === undefined) return;
    this.#identities.delete(owner);
    this.#work.transaction.update(identityType, identity, identity);
  }

  /** The error for an owner who has as many keys as allowed, in this API or in the APIs that the call is confined to. */
  refusal(api: ApiRecord): LatchkeyError {
    const { maxKeys = Number.POSITIVE_INFINITY } = this.#work.context.confinedTo ?? {};
    const { maxKeysPerIdentity = maxKeys } = keyRulesOf(api).ceilings ?? {};
    const limit = Math.min(maxKeysPerIdentity, maxKeys);
    return aboveCeilingError({ field: "externalId", limit });
  }

  async #readIdentity(owner: string, id: string): Promise<IdentityRecord> {
    const read = this.#identities.get(owner);
    if (read !== undefined) return read;
    const { transaction, context } = this.#work;
    const loaded = await transaction.readOne({ kind: "identity", id });
    // This process knew the identity, but it is gone.
    if (loaded === null) throw new StaleReadError();
    const identity = identityType.decode(loaded.record, context.workspaceId);
    this.#identities.set(owner, identity);
    return identity;
  }
}

function placeName(api: ApiRecord, owner: string): string {
  return `${api.id} ${owner}`;
}

/**
 * Bounds the rotated keys of a portal session with `maxKeys`: at most that many still work, and of the dead ones it keeps at most as many,
 * the latest. The identity must have been read before.
 *
 * @param expires - When the rotated key dies.
 * @throws LatchkeyError `PRECONDITION_FAILED`, `above-ceiling`.
 */
export async function boundRotated(
  work: Work,
  identityId: string,
  expires: EpochMs | null,
): Promise<void> {
  const { context, transaction } = work;
  const { confinedTo } = context;
  if (confinedTo?.maxKeys === undefined) return;
  const { apiIds, maxKeys: limit } = confinedTo;
  const at = context.now();
  const ends = (one: EpochMs | null) => isExpired(one, at);
  const dead: string[] = [];
  let graces = 0;
  for (const apiId of apiIds)
    for await (const key of keysOfOwner(context, apiId, identityId))
      if (key !== null && key.rotatedTo !== null)
        if (ends(key.expires)) dead.push(key.id);
        else graces += 1;
  if (!ends(expires) && graces >= limit)
    throw unmet(
      "above-ceiling",
      `${limit} keys that were rotated still work: rotate without "graceMs", or delete one of them`,
      { field: "graceMs", limit },
    );
  const over = dead.length + (ends(expires) ? 1 : 0) - limit;
  const oldest = dead.sort().slice(0, Math.min(Math.max(0, over), DELETED_AT_ONCE));
  for (const { loaded } of await readKeys(context, transaction, oldest))
    if (!(loaded instanceof LatchkeyError)) deleteLoaded(work, loaded);
}

/** How many keys of an identity in an API count; at most `enough`. */
async function countKeys({ context }: Work, apiId: string, identityId: string, enough: number) {
  let count = 0;
  for await (const key of keysOfOwner(context, apiId, identityId)) {
    // An unreadable key may be valid, so it counts like one that was not rotated.
    if (key === null || key.rotatedTo === null) count += 1;
    if (count >= enough) break;
  }
  return count;
}

/** Keys of an identity in an API; null for one that cannot be read. */
async function* keysOfOwner(context: OperationContext, apiId: string, identityId: string) {
  const want = {
    kind: "key",
    list: keysOfApi(apiId),
    of: identityId,
    limit: COUNTED_AT_ONCE,
  } as const;
  for await (const { found } of listPages(context, want))
    for (const { record } of found) yield decodeOrNull(keyType, record, context);
}
