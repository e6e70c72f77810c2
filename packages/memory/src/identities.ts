import {
  changeUsage,
  type IdentityLookup,
  type IdentityPatch,
  type IdentityRecord,
  type LoadedIdentity,
  type Page,
  type PageRequest,
  type UpdateIdentityResult,
  type Usage,
} from "@latchkey/core";
import { patchedIdentity } from "./patched.js";
import { SortedById } from "./sorted-by-id.js";
import { StoredIdentity } from "./stored-identity.js";
import { keptWindows } from "./windows.js";

/** The identities of one workspace, by id and by the caller's own. */
export class Identities {
  readonly #all = new SortedById<StoredIdentity>();
  readonly #byId = new Map<string, StoredIdentity>();
  readonly #byExternalId = new Map<string, StoredIdentity>();

  find(lookup: IdentityLookup): StoredIdentity | null {
    const found =
      "identityId" in lookup
        ? this.#byId.get(lookup.identityId)
        : this.#byExternalId.get(lookup.externalId);
    return found ?? null;
  }

  /** The identity that a record names, or null where it names none or one that does not exist. */
  findLinked(identityId: string | null): StoredIdentity | null {
    return identityId === null ? null : this.find({ identityId });
  }

  list({ afterId, limit }: PageRequest): Page<LoadedIdentity> {
    const { items, hasMore } = this.#all.page(afterId, limit);
    return { items: items.map((identity) => identity.load()), hasMore, total: this.#all.size };
  }

  insert(record: IdentityRecord, usage: Usage): "inserted" | "external-id-taken" {
    if (this.#byExternalId.has(record.externalId)) return "external-id-taken";
    this.#add(record, usage);
    return "inserted";
  }

  /**
   * The identity with the candidate's `externalId`; the candidate itself where there is none yet, whose id is
   * then added to `created`.
   */
  findOrAdd(candidate: IdentityRecord, created: string[]): StoredIdentity {
    const known = this.#byExternalId.get(candidate.externalId);
    if (known !== undefined) return known;
    created.push(candidate.id);
    return this.#add(candidate, { remaining: null, refilledAt: candidate.createdAt });
  }

  /** After a write, for those candidates that it did not add: the id of the identity that it linked in their place. */
  linkedInsteadOf(candidates: readonly (IdentityRecord | null)[]): ReadonlyMap<string, string> {
    const linked = new Map<string, string>();
    for (const candidate of candidates) {
      const known = candidate && this.#byExternalId.get(candidate.externalId);
      if (known && known.id !== candidate.id) linked.set(candidate.id, known.id);
    }
    return linked;
  }

  update(identityId: string, expectedVersion: number, patch: IdentityPatch): UpdateIdentityResult {
    const identity = this.#byId.get(identityId);
    if (identity === undefined) return { kind: "not-found" };
    if (identity.record.version !== expectedVersion) return { kind: "stale" };
    const usage = patch.usage && changeUsage(identity.usage, patch.usage);
    if (usage && usage.kind !== "changed") return { kind: "usage-refused", reason: usage };
    if (usage) identity.usage = usage.usage;
    if (patch.ratelimits) identity.windows = keptWindows(identity.windows, patch.ratelimits);
    identity.record = patchedIdentity(identity.record, patch);
    return { kind: "updated", usage: identity.usage };
  }

  delete(identityId: string): "deleted" | "not-found" {
    const identity = this.#byId.get(identityId);
    if (identity === undefined) return "not-found";
    this.#byId.delete(identityId);
    this.#byExternalId.delete(identity.record.externalId);
    this.#all.remove(identity);
    identity.isLive = false;
    return "deleted";
  }

  #add(record: IdentityRecord, usage: Usage): StoredIdentity {
    const identity = new StoredIdentity(record, usage);
    this.#byId.set(record.id, identity);
    this.#byExternalId.set(record.externalId, identity);
    this.#all.add(identity);
    return identity;
  }
}
