import type { IdentityRecord } from "../records/identity.js";
import type { KeyRateLimit, KeyRecord, LoadedKey } from "../records/key.js";

/** A key without limits of any kind, with the given fields in place of its own. */
function keyWith(fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: "key_1",
    workspaceId: "ws_default",
    apiId: "api_1",
    hash: "hash_1",
    start: "pay_ab",
    name: null,
    identityId: null,
    meta: null,
    createdAt: 1,
    updatedAt: null,
    expires: null,
    enabled: true,
    refill: null,
    ratelimits: [],
    environment: null,
    usesFrom: "key",
    rotatedFrom: null,
    rotatedTo: null,
    sharedCountersId: null,
    sealedSecret: null,
    version: 1,
    ...fields,
  };
}

/** An identity without limits, with the given fields in place of its own. */
export function identityWith(fields: Partial<IdentityRecord> = {}): IdentityRecord {
  return {
    id: "id_1",
    workspaceId: "ws_default",
    externalId: "user_1",
    meta: {},
    ratelimits: [],
    refill: null,
    createdAt: 1,
    version: 1,
    ...fields,
  };
}

/** A key as it is loaded, in an untouched workspace, without identity, roles and permissions. */
export function loadedWith(
  key: Partial<KeyRecord> = {},
  fields: Partial<LoadedKey> = {},
): LoadedKey {
  return {
    key: keyWith(key),
    usage: { remaining: null, refilledAt: 0 },
    workspace: { id: "ws_default", name: null, enabled: true, epoch: 0 },
    api: {
      id: "api_1",
      workspaceId: "ws_default",
      name: "payments",
      deleteProtection: false,
      ipWhitelist: [],
      createdAt: 1,
      version: 1,
    },
    identity: null,
    identityUsage: null,
    direct: { roles: [], permissions: [] },
    lastUsedAt: null,
    roles: [],
    permissions: [],
    ...fields,
  };
}

/** A limit of a key: 10 units a minute unless told otherwise. */
export function limitNamed(name: string, limit = 10, duration = 60_000): KeyRateLimit {
  return { name, limit, duration, type: null, async: false, autoApply: name === "default" };
}
