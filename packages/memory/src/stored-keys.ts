import {
  type ChargePlan,
  changeUsage,
  type EpochMs,
  type InsertKeysResult,
  type KeyPatch,
  type NewKey,
  type Rotation,
  type UpdateKeyResult,
} from "@latchkey/core";
import { NO_GRANTS } from "./held-grants.js";
import { patchedKey, rotatedKey } from "./patched.js";
import type { StoredApi } from "./stored-api.js";
import { StoredKey } from "./stored-key.js";
import { keptWindows } from "./windows.js";
import type { StoredWorkspace } from "./workspace.js";

/**
 * The live keys of all workspaces. A write looks at everything that may refuse it before it changes anything:
 * there is nothing to roll back.
 */
export class StoredKeys {
  readonly #byId = new Map<string, StoredKey>();

  find(workspaceId: string, keyId: string): StoredKey | undefined {
    const key = this.#byId.get(keyId);
    return key?.record.workspaceId === workspaceId && key.api.isLive ? key : undefined;
  }

  /** The key of a plan: by the handle it was loaded with, if that is still good, else by its id. */
  findByPlan({ handle, workspaceId, keyId }: ChargePlan): StoredKey | undefined {
    const isGood =
      handle instanceof StoredKey &&
      handle.isLive &&
      handle.api.isLive &&
      handle.record.id === keyId &&
      handle.record.workspaceId === workspaceId &&
      handle.api.workspace.allKeys === this;
    return isGood ? handle : this.find(workspaceId, keyId);
  }

  /** Inserts keys of one workspace, all of them or none. */
  insert(workspace: StoredWorkspace, newKeys: readonly NewKey[]): InsertKeysResult {
    const refusal = refuseKeys(workspace, newKeys);
    if (refusal !== null) return refusal;
    const created: string[] = [];
    for (const { key: record, usage, identity: candidate, grants } of newKeys) {
      const identity =
        candidate !== null
          ? workspace.identities.findOrAdd(candidate, created)
          : workspace.identities.findLinked(record.identityId);
      const api = workspace.findApi(record.apiId) as StoredApi;
      const key = new StoredKey(record, api, identity, usage);
      key.grants = workspace.grants.hold(NO_GRANTS, grants, created);
      this.#add(key);
    }
    return { kind: "inserted", created };
  }

  update(key: StoredKey | undefined, expectedVersion: number, patch: KeyPatch): UpdateKeyResult {
    if (key === undefined) return { kind: "not-found" };
    if (key.record.version !== expectedVersion) return { kind: "stale" };
    const usage = patch.usage && changeUsage(key.usage, patch.usage);
    if (usage && usage.kind !== "changed") return { kind: "usage-refused", reason: usage };
    const { workspace, keys } = key.api;
    const missing = patch.grants ? workspace.grants.missing([patch.grants]) : null;
    if (missing !== null) return missing;

    const created: string[] = [];
    if (patch.grants) key.grants = workspace.grants.hold(key.grants, patch.grants, created);
    if (usage) key.usage = usage.usage;
    if (patch.ratelimits) key.windows = keptWindows(key.windows, patch.ratelimits);
    let { identityId } = key.record;
    if (patch.identity !== undefined) {
      keys.removeFromIdentity(key);
      key.linked = patch.identity && workspace.identities.findOrAdd(patch.identity, created);
      keys.addToIdentity(key);
      identityId = key.linked?.id ?? null;
    }
    key.record = patchedKey(key.record, patch, identityId);
    return { kind: "updated", usage: key.usage, created };
  }

  rotate(
    key: StoredKey | undefined,
    expectedVersion: number,
    rotation: Rotation,
  ): "rotated" | "not-found" | "stale" | "hash-taken" {
    if (key === undefined) return "not-found";
    if (key.record.version !== expectedVersion) return "stale";
    const { api, grants } = key;
    const { successor: record } = rotation;
    if (api.workspace.keyByHash.has(record.hash)) return "hash-taken";
    const identity = api.workspace.identities.findLinked(record.identityId);
    const linked = { ...record, identityId: identity?.id ?? null };
    const successor = new StoredKey(linked, api, identity, key.usage);
    successor.grants = grants;
    successor.shareCountersOf(key);
    this.#add(successor);
    key.record = rotatedKey(key.record, rotation);
    return "rotated";
  }

  /** Raises the latest use of a key, if it is there; it never goes back. */
  raiseLastUse(workspaceId: string, keyId: string, usedAt: EpochMs): void {
    const key = this.find(workspaceId, keyId);
    if (key !== undefined) key.lastUsedAt = Math.max(key.lastUsedAt ?? usedAt, usedAt);
  }

  delete(key: StoredKey | undefined): "deleted" | "not-found" {
    if (key === undefined) return "not-found";
    const { api } = key;
    this.#byId.delete(key.record.id);
    api.workspace.keyByHash.delete(key.record.hash);
    api.keys.remove(key);
    key.isLive = false;
    api.workspace.forgetIfEmpty(api);
    return "deleted";
  }

  clear(): void {
    this.#byId.clear();
  }

  #add(key: StoredKey): void {
    this.#byId.set(key.record.id, key);
    key.api.workspace.keyByHash.set(key.record.hash, key);
    key.api.keys.add(key);
  }
}

/** Why the keys cannot all be inserted, or null. A hash must also differ from those of the keys before it. */
function refuseKeys(
  workspace: StoredWorkspace,
  newKeys: readonly NewKey[],
): Exclude<InsertKeysResult, { kind: "inserted" }> | null {
  const hashes = new Set<string>();
  for (const [index, { key }] of newKeys.entries()) {
    if (workspace.findApi(key.apiId) === undefined) return { kind: "api-not-found", index };
    const isTaken = workspace.keyByHash.has(key.hash) || hashes.has(key.hash);
    if (isTaken) return { kind: "hash-taken", index };
    hashes.add(key.hash);
  }
  return workspace.grants.missing(newKeys.map(({ grants }) => grants));
}
