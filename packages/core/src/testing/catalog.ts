import { LatchkeyError } from "../errors.js";
import { apiType } from "../records/api.js";
import {
  type PermissionRecord,
  permissionType,
  type RoleRecord,
  roleType,
} from "../records/grants.js";
import { type KeyRecord, keyType } from "../records/key.js";
import type { LoadedRecord } from "../store/key-store.js";
import { Catalog } from "../verification/catalog.js";
import type { CatalogKey, LoadedKey } from "../verification/loaded-key.js";
import { keyWith, loadedWith, usageOf } from "./records.js";
import { TestStore } from "./store.js";

const WORKSPACE_ID = "ws_default";
const { api } = loadedWith();

/** A permission without a description. */
export const permission = (id: string, name: string): PermissionRecord => ({
  id,
  workspaceId: WORKSPACE_ID,
  name,
  description: null,
  createdAt: 1,
});
/** A role with permissions, by their ids. */
export const role = (id: string, name: string, permissions: readonly string[]): RoleRecord => ({
  ...permission(id, name),
  permissions,
  version: 1,
});

/** A catalog over a store with an API, two roles and three permissions. */
export function catalogSetup() {
  const store = new TestStore();
  store.put(apiType, api);
  for (const [id, name] of [
    ["perm_r", "docs.read"],
    ["perm_w", "docs.write"],
    ["perm_b", "billing.read"],
  ] as const)
    store.put(permissionType, permission(id, name));
  store.put(roleType, role("role_e", "editor", ["perm_w", "perm_r"]));
  store.put(roleType, role("role_a", "accountant", ["perm_b"]));
  return { store, catalog: new Catalog(store) };
}

/** A key as a read returns it. */
export function found(
  fields: Partial<KeyRecord> = {},
  rest: Partial<LoadedRecord> = {},
): LoadedRecord {
  return {
    record: keyType.encode(keyWith(fields)),
    usage: usageOf(),
    usedAt: null,
    linked: null,
    ...rest,
  };
}

/** Loads keys at the store's current revision. */
export async function load(catalog: Catalog, store: TestStore, ...keys: readonly LoadedRecord[]) {
  return catalog.loadKeys(WORKSPACE_ID, store.revision, keys);
}

/** The key, or an error if it was not loaded. */
export function asLoaded(key: CatalogKey | undefined): LoadedKey {
  if (key === undefined || key === null || key instanceof LatchkeyError)
    throw new Error("the key was not loaded", { cause: key });
  return key;
}

/** Loads one key, which must be there. */
export async function loadOne(
  catalog: Catalog,
  store: TestStore,
  key = found(),
): Promise<LoadedKey> {
  const [loaded] = (await load(catalog, store, key)) ?? [];
  return asLoaded(loaded);
}
