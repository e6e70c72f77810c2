import {
  type ApiRecord,
  type ChargePlan,
  type IdentityRecord,
  type InsertKeysResult,
  type KeyRecord,
  type KeyStore,
  type LoadedKey,
  type NewKey,
  NO_CHANGES,
  type Rotation,
} from "@latchkey/core";

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
    usesFrom: "key",
    rotatedFrom: null,
    rotatedTo: null,
    countersId: null,
    sealedSecret: null,
    version: 1,
    ...fields,
  };
  return { key, usage: { remaining, refilledAt: NOW }, identity: null, grants: {} };
}

export function anApi(id = API_ID): ApiRecord {
  return {
    id,
    workspaceId: WORKSPACE,
    name: "test",
    deleteProtection: false,
    ipWhitelist: [],
    createdAt: NOW,
    version: 1,
  };
}

export function anIdentity(number = 1, fields: Partial<IdentityRecord> = {}): IdentityRecord {
  return {
    id: `id_${number}`,
    workspaceId: WORKSPACE,
    externalId: `user-${number}`,
    meta: {},
    ratelimits: [],
    refill: null,
    createdAt: NOW,
    version: 1,
    ...fields,
  };
}

/** What puts a key in the place of one that was loaded, as number `number`. */
export function aRotation({ key }: LoadedKey, number = 2): Rotation {
  return {
    successor: {
      ...key,
      id: keyIdOf(number),
      hash: `hash-of-${number}`,
      createdAt: NOW,
      version: 1,
      rotatedFrom: key.id,
      countersId: key.countersId ?? key.id,
    },
    expiresAt: NOW + 3_600_000,
    updatedAt: NOW,
  };
}

/** Deletes a key without leaving anything in the audit log. */
export function deleteKey(store: KeyStore, number = 1, permanent = false) {
  return store.deleteKey(WORKSPACE, keyIdOf(number), { deletedAt: NOW, permanent }, NO_CHANGES);
}

/** Writes one key without leaving anything in the audit log. */
export function insertKey(store: KeyStore, newKey: NewKey): Promise<InsertKeysResult> {
  return store.insertKeys([newKey], NO_CHANGES);
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
    countersId: key.countersId,
    usesFrom: key.usesFrom,
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
  await store.insertApi(anApi(apiId), NO_CHANGES);
  await insertKey(store, newKey);
  return load(store, newKey.key.id);
}

export async function load(store: KeyStore, keyId = keyIdOf(1)): Promise<LoadedKey> {
  return (await store.getKey(WORKSPACE, keyId)) as LoadedKey;
}
