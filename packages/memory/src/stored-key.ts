import type { EpochMs, KeyRecord, LoadedKey, Usage } from "@latchkey/core";
import { Counters } from "./counters.js";
import { frozenKey } from "./frozen.js";
import { type HeldGrants, NO_GRANTS } from "./held-grants.js";
import type { StoredApi } from "./stored-api.js";
import type { StoredIdentity } from "./stored-identity.js";
import { NO_WINDOWS, type StoredWindows } from "./windows.js";

/**
 * A live key with its counters. The record is frozen and replaced as a whole; the counters move in place. There may
 * be millions of these: a field here is memory for each.
 */
export class StoredKey {
  record: KeyRecord;
  readonly api: StoredApi;
  /** The identity that it was linked to, also where that was deleted since. */
  linked: StoredIdentity | null;
  grants: HeldGrants = NO_GRANTS;
  /** A deleted key can still be asked for by the handle that it was loaded with. */
  isLive = true;
  /** Instant of the latest verification that was counted as used, or null. */
  lastUsedAt: EpochMs | null = null;
  /** Null while it says nothing but that there is no limit on uses: most keys never need more. */
  #counters: Counters | null;

  constructor(record: KeyRecord, api: StoredApi, identity: StoredIdentity | null, usage: Usage) {
    // The strings that many keys have in common are kept once.
    this.record = frozenKey({
      ...record,
      workspaceId: api.record.workspaceId,
      apiId: api.record.id,
      identityId: identity?.record.id ?? record.identityId,
    });
    this.api = api;
    this.linked = identity;
    const isPlain = usage.remaining === null && usage.refilledAt === record.createdAt;
    this.#counters = isPlain ? null : new Counters(usage);
  }

  get id(): string {
    return this.record.id;
  }

  /** Null also where the record names an identity that does not exist, or does no longer. */
  get identity(): StoredIdentity | null {
    return this.linked?.isLive ? this.linked : null;
  }

  get usage(): Usage {
    return this.#counters?.usage ?? { remaining: null, refilledAt: this.record.createdAt };
  }

  set usage(usage: Usage) {
    this.#needCounters().usage = usage;
  }

  get windows(): StoredWindows {
    return this.#counters?.windows ?? NO_WINDOWS;
  }

  set windows(windows: StoredWindows) {
    if (windows !== this.windows) this.#needCounters().windows = windows;
  }

  /** Goes by the counters of another key from now on, whichever of the two moves them. */
  shareCountersOf(key: StoredKey): void {
    this.#counters = key.#needCounters();
  }

  load(): LoadedKey {
    this.#forgetDeletedIdentity();
    const { workspace } = this.api;
    const { identity } = this;
    const { direct, roles, permissions } = this.grants.namesAt(workspace.record.epoch);
    return {
      key: this.record,
      usage: this.usage,
      workspace: workspace.record,
      api: this.api.record,
      identity: identity === null ? null : identity.record,
      identityUsage: identity === null ? null : identity.usage,
      direct,
      roles,
      permissions,
      lastUsedAt: this.lastUsedAt,
      handle: this,
    };
  }

  /** A deleted identity does not visit its keys, however many they are: each finds out when it is next looked at. */
  #forgetDeletedIdentity(): void {
    if (this.linked === null || this.linked.isLive) return;
    this.api.keys.removeFromIdentity(this);
    this.linked = null;
    this.record = frozenKey({ ...this.record, identityId: null });
  }

  #needCounters(): Counters {
    this.#counters ??= new Counters(this.usage);
    return this.#counters;
  }
}
