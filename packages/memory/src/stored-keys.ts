import {
  type ChargePlan,
  changeUsage,
  type InsertKeyResult,
  type KeyPatch,
  type NewKey,
  type UpdateKeyResult,
} from "@latchkey/core";
import { NO_GRANTS } from "./grants.js";
import { patchedKey } from "./patched.js";
import { StoredKey } from "./stored-key.js";
import { keptWindows } from "./windows.js";
import type { StoredApi } from "./workspace.js";

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

  insert(api: StoredApi | undefined, newKey: NewKey): InsertKeyResult {
    const { key: record, usage, identity: candidate } = newKey;
    if (api === undefined) return { kind: "api-not-found" };
    const { workspace } = api;
    if (workspace.keyByHash.has(record.hash)) return { kind: "hash-taken" };
    const grants = workspace.grants.resolve(NO_GRANTS, newKey.grants);
    if (grants.kind === "missing-grants") return grants;

    const identity =
      candidate !== null
        ? workspace.findOrAddIdentity(candidate)
        : record.identityId !== null
          ? workspace.findIdentity({ identityId: record.identityId })
          : null;
    const key = new StoredKey(record, api, identity, usage);
    key.grants = grants.commit();
    this.#byId.set(key.record.id, key);
    workspace.keyByHash.set(key.record.hash, key);
    api.keys.add(key);
    return { kind: "inserted" };
  }

  update(key: StoredKey | undefined, expectedVersion: number, patch: KeyPatch): UpdateKeyResult {
    if (key === undefined) return { kind: "not-found" };
    if (key.record.version !== expectedVersion) return { kind: "stale" };
    const usage = patch.usage && changeUsage(key.usage, patch.usage);
    if (usage && usage.kind !== "changed") return { kind: "usage-refused", reason: usage };
    const { workspace, keys } = key.api;
    const grants = workspace.grants.resolve(key.grants, patch.grants ?? {});
    if (grants.kind === "missing-grants") return grants;

    if (patch.grants) key.grants = grants.commit();
    if (usage) key.usage = usage.usage;
    if (patch.ratelimits) key.windows = keptWindows(key.windows, patch.ratelimits);
    keys.removeFromIdentity(key);
    if (patch.identity !== undefined) {
      key.identity = patch.identity && workspace.findOrAddIdentity(patch.identity);
    }
    const identityId = patch.identity === undefined ? key.record.identityId : key.identity?.id;
    key.record = patchedKey(key.record, patch, identityId ?? null);
    keys.addToIdentity(key);
    return { kind: "updated", usage: key.usage };
  }

  delete(key: StoredKey): void {
    this.#byId.delete(key.record.id);
    key.api.workspace.keyByHash.delete(key.record.hash);
    key.api.keys.remove(key);
    key.isLive = false;
  }

  clear(): void {
    this.#byId.clear();
  }
}
