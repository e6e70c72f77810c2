import type { EpochMs, KeyRecord, LoadedKey, Usage } from "@latchkey/core";
import { Counters } from "./counters.js";
import { frozenKey } from "./frozen.js";
import { type HeldGrants, NO_GRANTS } from "./held-grants.js";
import type { StoredApi } from "./stored-api.js";
import type { StoredIdentity } from "./stored-identity.js";

/** What only keys have that were used or rotated. */
interface Extras {
  lastUsedAt: EpochMs | null;
  /** The counters that a key of a rotation shares with the others. */
  shared: Counters | null;
}

/** In the place of the extras of a key that was deleted. */
const DELETED: Extras = Object.freeze({ lastUsedAt: null, shared: null });

/**
 * A live key with its counters. The record is frozen and replaced as a whole. There may be millions of these: a
 * field here is memory for each.
 *
 * The counters that it inherits are those that it has to itself; whoever moves them goes through
 * {@link StoredKey.counters}.
 */
export class StoredKey extends Counters {
  record: KeyRecord;
  readonly api: StoredApi;
  /** The identity that it was linked to, also where that was deleted since. */
  linked: StoredIdentity | null;
  grants: HeldGrants = NO_GRANTS;
  #extras: Extras | null = null;

  constructor(record: KeyRecord, api: StoredApi, identity: StoredIdentity | null, usage: Usage) {
    super(usage);
    // The strings that many keys have in common are kept once.
    this.record = frozenKey({
      ...record,
      workspaceId: api.record.workspaceId,
      apiId: api.record.id,
      identityId: identity?.record.id ?? record.identityId,
    });
    this.api = api;
    this.linked = identity;
  }

  get id(): string {
    return this.record.id;
  }

  /** A deleted key can still be asked for by the handle that it was loaded with. */
  get isLive(): boolean {
    return this.#extras !== DELETED;
  }

  /** Null also where the record names an identity that does not exist, or does no longer. */
  get identity(): StoredIdentity | null {
    return this.linked?.isLive ? this.linked : null;
  }

  /** The counters that the key goes by: its own, or those that it shares. */
  get counters(): Counters {
    return this.#extras?.shared ?? this;
  }

  /** Goes by the counters of another key from now on, and so does that one: by those it had to itself until now. */
  shareCountersOf(key: StoredKey): void {
    const extras = key.#ownExtras();
    if (extras.shared === null) {
      extras.shared = new Counters(key.usage);
      extras.shared.windows = key.windows;
    }
    this.#ownExtras().shared = extras.shared;
  }

  /** Raises the latest use; it never goes back. */
  raiseLastUse(usedAt: EpochMs): void {
    const extras = this.#ownExtras();
    extras.lastUsedAt = Math.max(extras.lastUsedAt ?? usedAt, usedAt);
  }

  markDeleted(): void {
    this.#extras = DELETED;
  }

  load(): LoadedKey {
    const { workspace } = this.api;
    const { identity } = this;
    const { direct, roles, permissions } = this.grants.namesAt(workspace.record.epoch);
    return {
      key: this.record,
      usage: this.counters.usage,
      workspace: workspace.record,
      api: this.api.record,
      identity: identity === null ? null : identity.record,
      identityUsage: identity === null ? null : identity.usage,
      direct,
      roles,
      permissions,
      lastUsedAt: this.#extras?.lastUsedAt ?? null,
      handle: this,
    };
  }

  #ownExtras(): Extras {
    this.#extras ??= { lastUsedAt: null, shared: null };
    return this.#extras;
  }
}
