import type { ChargePlan, KeyRecord, KeyStore, LoadedKey, NewKey } from "@latchkey/core";

export const NOW = Date.UTC(2030, 0, 15, 12);
export const WORKSPACE = "ws_default";
export const API_ID = "api_1";

export function keyIdOf(number: number): string {
  return `key_${String(number).padStart(12, "0")}`;
}

export function aKey(
  number = 1,
  remaining: number | null = null,
  fields: Partial<KeyRecord> = {},
): NewKey {
  const key: KeyRecord = {
    id: keyIdOf(number),
    workspaceId: WORKSPACE,
    apiId: API_ID,
    hash: `hash-of-${number}`,
    start: "test_2x",
    name: null,
    identityId: null,
    meta: null,
    createdAt: NOW,
    updatedAt: null,
    expiresAt: null,
    switchedOn: true,
    refill: null,
    ratelimits: [],
    environment: null,
    sealedSecret: null,
    version: 1,
    ...fields,
  };
  return { key, usage: { remaining, refilledAt: NOW }, identity: null, grants: {} };
}

/** A plan that takes one use, made on the key as it was loaded. */
export function aPlan(
  { key, identity, workspace }: LoadedKey,
  fields: Partial<ChargePlan> = {},
): ChargePlan {
  return {
    workspaceId: key.workspaceId,
    keyId: key.id,
    identityId: key.identityId,
    now: NOW,
    expects: {
      keyVersion: key.version,
      identityVersion: identity?.version ?? null,
      epoch: workspace.epoch,
    },
    mode: "take",
    cost: 1,
    refill: null,
    limits: [],
    ...fields,
  };
}

/** Writes the API and a key, and loads the key. */
export async function withKey(
  store: KeyStore,
  newKey: NewKey = aKey(),
  apiId = API_ID,
): Promise<LoadedKey> {
  await store.insertApi({ id: apiId, workspaceId: WORKSPACE, name: "test", createdAt: NOW });
  await store.insertKey(newKey);
  return load(store, newKey.key.id);
}

export async function load(store: KeyStore, keyId = keyIdOf(1)): Promise<LoadedKey> {
  return (await store.getKey(WORKSPACE, keyId)) as LoadedKey;
}
