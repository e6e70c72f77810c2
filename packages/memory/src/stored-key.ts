import type { KeyRecord, LoadedKey, Usage } from "@latchkey/core";
import { frozenKey } from "./frozen.js";
import { type HeldGrants, NO_GRANTS } from "./grants.js";
import type { StoredIdentity } from "./stored-identity.js";
import { NO_WINDOWS, type StoredWindows } from "./windows.js";
import type { StoredApi } from "./workspace.js";

/**
 * A live key with its counters. The record is frozen and replaced as a whole; the counters move in place and
 * are handed out as copies. There may be millions of these: a field here is memory for each.
 */
export class StoredKey {
  record: KeyRecord;
  readonly api: StoredApi;
  /** Null also where the record names an identity that does not exist. */
  identity: StoredIdentity | null;
  grants: HeldGrants = NO_GRANTS;
  windows: StoredWindows = NO_WINDOWS;
  /** A deleted key can still be asked for by the handle that it was loaded with. */
  isLive = true;
  #remaining: number | null;
  #refilledAt: number;

  constructor(record: KeyRecord, api: StoredApi, identity: StoredIdentity | null, usage: Usage) {
    // The strings that many keys have in common are kept once.
    this.record = frozenKey({
      ...record,
      workspaceId: api.record.workspaceId,
      apiId: api.record.id,
      identityId: identity?.record.id ?? record.identityId,
    });
    this.api = api;
    this.identity = identity;
    this.#remaining = usage.remaining;
    this.#refilledAt = usage.refilledAt;
  }

  get id(): string {
    return this.record.id;
  }

  get usage(): Usage {
    return { remaining: this.#remaining, refilledAt: this.#refilledAt };
  }

  set usage(usage: Usage) {
    this.#remaining = usage.remaining;
    this.#refilledAt = usage.refilledAt;
  }

  load(): LoadedKey {
    return {
      key: this.record,
      usage: this.usage,
      workspace: this.api.workspace.record,
      identity: this.identity === null ? null : this.identity.record,
      roles: this.grants.roleNames,
      permissions: this.grants.permissionNames,
      handle: this,
    };
  }
}
