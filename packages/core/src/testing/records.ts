import type { AuditEntry } from "../records/audit-entry.js";
import type { IdentityRecord } from "../records/identity.js";
import { type KeyRateLimit, type KeyRecord, labelsOf } from "../records/key.js";
import { afterTaking, limitAt, roomOf } from "../rules/limit-algorithm.js";
import type { LimitFigures, LimitState } from "../rules/limit-state.js";
import { HeldPermissions } from "../rules/permission.js";
import type { LimitCharge } from "../store/charge.js";
import type { Usage } from "../store/counters.js";
import type { EpochMs } from "../time.js";
import type { LoadedKey } from "../verification/loaded-key.js";

/** A key without limits of any kind; `fields` replace its own. */
export function keyWith(fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: "key_1",
    workspaceId: "ws_default",
    apiId: "api_1",
    hash: "hash_1",
    start: "pay_ab",
    ...labelsOf(() => null),
    identityId: null,
    meta: null,
    tags: [],
    uncountedTags: [],
    ipWhitelist: [],
    createdAt: 1,
    chainCreatedAt: null,
    updatedAt: null,
    expires: null,
    startsAt: null,
    expiresWhenUnused: null,
    idleFrom: null,
    enabled: true,
    refill: null,
    ratelimits: [],
    usesFrom: "key",
    rotatedFrom: null,
    rotatedTo: null,
    sharedCountersId: null,
    sealedSecret: null,
    importMarks: [],
    roles: [],
    permissions: [],
    version: 1,
    ...fields,
  };
}

/** An identity without limits; `fields` replace its own. */
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

/** An entry of the audit log that names an actor, a key and its identity, and no field; `fields` replace its own. */
export function entryWith(fields: Partial<AuditEntry> = {}): AuditEntry {
  return {
    id: "evt_1",
    workspaceId: "ws_default",
    type: "key.updated",
    at: 1_000,
    actor: "root_1",
    resourceId: "key_1",
    keyId: "key_1",
    identityId: "id_1",
    unreadable: false,
    erased: false,
    leakMark: null,
    fields: [],
    ...fields,
  };
}

/** A use counter: by default unlimited, and never refilled. */
export function usageOf(
  remaining: number | null = null,
  refilledAt: EpochMs = 0,
  lastRefillAt: EpochMs | null = null,
): Usage {
  return { remaining, refilledAt, lastRefillAt };
}

/** A key as it is loaded, in an unwritten workspace, without identity, roles and permissions. */
export function loadedWith(
  key: Partial<KeyRecord> = {},
  fields: Partial<LoadedKey> = {},
): LoadedKey {
  return {
    key: keyWith(key),
    usage: usageOf(),
    workspace: { id: "ws_default", name: null, enabled: true, version: 0 },
    revision: 0,
    api: {
      id: "api_1",
      workspaceId: "ws_default",
      name: "payments",
      deleteProtection: false,
      ipWhitelist: [],
      defaults: null,
      ceilings: null,
      createdAt: 1,
      version: 1,
    },
    identity: null,
    identityUsage: null,
    direct: { roles: [], permissions: [] },
    lastUsedAt: null,
    roles: [],
    permissions: [],
    held: new HeldPermissions(fields.permissions ?? []),
    ...fields,
  };
}

/** The figures of a limit with fixed windows. */
export function fixedWindows(limit = 10, duration = 60_000) {
  return { algorithm: "fixed" as const, limit, duration, burst: limit, shadow: false };
}

/** A limit of a key: 10 units a minute by default. */
export function limitNamed(name: string, limit = 10, duration = 60_000): KeyRateLimit {
  return {
    name,
    ...fixedWindows(limit, duration),
    type: null,
    async: false,
    autoApply: name === "default",
  };
}

/** Takes five of nine units a minute of a key. */
export const UNITS: LimitCharge = {
  ...{ name: "files", window: "60000:files", owner: 0, cost: 5, shadow: false },
  ...{ algorithm: "fixed", limit: 9, duration: 60_000, burst: 9 },
};

/** Takes one of nine slots of a key. */
export const SLOTS: LimitCharge = {
  ...{ ...UNITS, name: "parallel", window: "c60000:parallel", cost: 1 },
  ...{ algorithm: "concurrent" },
};

/** The limit after `cost` units were taken from it; null if it refuses them. */
export function attemptTaking(
  stored: LimitState | null,
  limit: LimitFigures,
  cost: number,
  now: EpochMs,
): LimitState | null {
  const current = limitAt(stored, limit, now);
  return cost > roomOf(current, limit) ? null : afterTaking(current, limit, cost);
}
