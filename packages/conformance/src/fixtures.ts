import type {
  ApiRecord,
  ChangeLog,
  ChangeRecord,
  ChargePlan,
  GrantReference,
  IdentityRateLimit,
  IdentityRecord,
  KeyRateLimit,
  KeyRecord,
  LimitCharge,
  LoadedIdentity,
  LoadedKey,
  NamespacePlan,
  NewKey,
  PermissionRecord,
  RateLimit,
  RoleRecord,
  RootKeyRecord,
  Rotation,
  Usage,
  UsageChange,
} from "@latchkey/core";

/** The workspace that fixtures belong to. */
export const WORKSPACE = "ws_conformance";

/** Another tenant, which must see nothing of {@link WORKSPACE}. */
export const OTHER_WORKSPACE = "ws_elsewhere";

/** The instant at which fixtures were created: 2030-01-15 12:00 UTC. */
export const NOW = Date.UTC(2030, 0, 15, 12);

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** A use counter without a number of uses. */
export const UNLIMITED: Usage = { remaining: null, refilledAt: NOW };

/** A deletion that a store may keep the record of. */
export const REMOVAL = { deletedAt: NOW, permanent: false } as const;

/** An id like those that latchkey makes: in ascending order of `number`. */
export function idOf(kind: string, number: number): string {
  return `${kind}_${String(number).padStart(26, "0")}`;
}

/** A hash like those that keys are known by, one for each number. */
export function hashOf(number: number): string {
  return `${String(number).padStart(6, "0")}-wLr3fFVqJ0m5sUe2TtQ8yB4nXk7oDgZ9pCaHiNx`;
}

/** An API, the first one unless another number is given. */
export function anApi(number = 1, fields: Partial<ApiRecord> = {}): ApiRecord {
  return {
    id: idOf("api", number),
    workspaceId: WORKSPACE,
    name: `API ${number}`,
    deleteProtection: false,
    ipWhitelist: [],
    createdAt: NOW,
    version: 1,
    ...fields,
  };
}

/** A key of the first API, with nothing that it need not have. */
export function aKey(number = 1, fields: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id: idOf("key", number),
    workspaceId: WORKSPACE,
    apiId: idOf("api", 1),
    hash: hashOf(number),
    start: "test_2xK",
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
}

/** A key to insert: unlimited, without identity, roles and permissions, unless `extras` say otherwise. */
export function aNewKey(
  key: KeyRecord = aKey(),
  extras: Partial<Omit<NewKey, "key">> = {},
): NewKey {
  return {
    key,
    usage: UNLIMITED,
    identity: null,
    grants: {},
    ...extras,
  };
}

/** A key with this many uses left. */
export function aKeyWithUses(
  remaining: number,
  number = 1,
  fields: Partial<KeyRecord> = {},
): NewKey {
  return aNewKey(aKey(number, fields), { usage: { remaining, refilledAt: NOW } });
}

/** An identity, known outside as `user-<number>`. */
export function anIdentity(number = 1, fields: Partial<IdentityRecord> = {}): IdentityRecord {
  return {
    id: idOf("id", number),
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

/** An identity as it is read, with uses without a number unless another counter is given. */
export function loadedIdentity(
  identity: IdentityRecord = anIdentity(),
  usage: Usage = UNLIMITED,
): LoadedIdentity {
  return { identity, usage };
}

/** A permission of this name; its id follows from the number. */
export function aPermission(
  name: string,
  number = 1,
  fields: Partial<PermissionRecord> = {},
): PermissionRecord {
  return {
    id: idOf("perm", number),
    workspaceId: WORKSPACE,
    name,
    description: null,
    createdAt: NOW,
    ...fields,
  };
}

/** A role of this name; its id follows from the number. */
export function aRole(name: string, number = 1, fields: Partial<RoleRecord> = {}): RoleRecord {
  return {
    id: idOf("role", number),
    workspaceId: WORKSPACE,
    name,
    description: null,
    createdAt: NOW,
    version: 1,
    ...fields,
  };
}

/** A root key that may do everything. */
export function aRootKey(number = 1, fields: Partial<RootKeyRecord> = {}): RootKeyRecord {
  return {
    id: idOf("root", number),
    workspaceId: WORKSPACE,
    hash: hashOf(900_000 + number),
    start: "root_2xK",
    name: null,
    permissions: ["*"],
    expiresAt: null,
    switchedOn: true,
    createdAt: NOW,
    ...fields,
  };
}

/** A limit of a key: `limit` units per minute. */
export function aKeyLimit(name: string, limit: number, durationMs = MINUTE_MS): KeyRateLimit {
  return { name, limit, durationMs, type: null, async: false, autoApply: name === "default" };
}

/** A limit of an identity: `limit` units per minute. */
export function aSharedLimit(
  name: string,
  limit: number,
  durationMs = MINUTE_MS,
): IdentityRateLimit {
  return { name, limit, durationMs, autoApply: false };
}

/** Takes from a limit that the key or the identity is configured with. */
export function takeFrom(
  owner: LimitCharge["owner"],
  { name, limit, durationMs }: RateLimit,
  cost = 1,
): LimitCharge {
  return { owner, isConfigured: true, name, limit, durationMs, cost };
}

/** Takes from a limit that one request made up. */
export function takeAdHoc({ name, limit, durationMs }: RateLimit, cost = 1): LimitCharge {
  return { owner: "key", isConfigured: false, name, limit, durationMs, cost };
}

/** A plan resting on the key as it was loaded: one use, no limits, unless `fields` say otherwise. */
export function aPlan(loaded: LoadedKey, fields: Partial<ChargePlan> = {}): ChargePlan {
  return {
    workspaceId: loaded.key.workspaceId,
    keyId: loaded.key.id,
    identityId: loaded.key.identityId,
    countersId: loaded.key.countersId,
    usesFrom: loaded.key.usesFrom,
    now: NOW,
    expects: {
      keyVersion: loaded.key.version,
      identityVersion: loaded.identity === null ? null : loaded.identity.version,
      epoch: loaded.workspace.epoch,
    },
    mode: "take",
    cost: 1,
    refill: null,
    limits: [],
    handle: loaded.handle,
    ...fields,
  };
}

/** A change to the use counter, with no refill owed. */
export function aUsageChange(
  operation: UsageChange["operation"],
  fields: Partial<UsageChange> = {},
): UsageChange {
  return { due: null, operation, settledAt: NOW, ...fields };
}

/** Refers to a role or permission that must exist. */
export function named(name: string): GrantReference<never> {
  return { kind: "name", name, orCreate: null };
}

/** Refers to a role or permission that is written where it does not exist. */
export function orCreate<Definition extends { readonly name: string }>(
  definition: Definition,
): GrantReference<Definition> {
  return { kind: "name", name: definition.name, orCreate: definition };
}

/** Refers to a role or permission by its id. */
export function byId(id: string): GrantReference<never> {
  return { kind: "id", id };
}

/** A successor of a key, the second one unless another number is given, that the old key outlives by a minute. */
export function aRotation(
  { key }: Pick<LoadedKey, "key">,
  number = 2,
  fields: Partial<KeyRecord> = {},
): Rotation {
  return {
    successor: {
      ...key,
      id: idOf("key", number),
      hash: hashOf(number),
      createdAt: NOW + 1,
      updatedAt: null,
      rotatedTo: null,
      sealedSecret: null,
      version: 1,
      ...fields,
      rotatedFrom: key.id,
      countersId: key.countersId ?? key.id,
    },
    expiresAt: NOW + MINUTE_MS,
    updatedAt: NOW + 1,
  };
}

/** One unit of a limit of 3 a minute that belongs to no key, unless `fields` say otherwise. */
export function aNamespacePlan(fields: Partial<NamespacePlan> = {}): NamespacePlan {
  return {
    workspaceId: WORKSPACE,
    namespace: "email",
    identifier: "ann@example.com",
    limit: 3,
    durationMs: MINUTE_MS,
    cost: 1,
    now: NOW,
    ...fields,
  };
}

/** An entry of the audit log, about nothing that exists unless `fields` say otherwise. */
export function aChange(number = 1, fields: Partial<ChangeRecord> = {}): ChangeRecord {
  return {
    id: idOf("evt", number),
    workspaceId: WORKSPACE,
    type: "key.updated",
    at: NOW,
    actor: null,
    resourceId: idOf("key", 1),
    keyId: null,
    identityId: null,
    fields: [{ field: "name", before: "old", after: { number } }],
    ...fields,
  };
}

/** What a write is to leave in the audit log, whatever it creates. */
export function logOf(...changes: readonly ChangeRecord[]): ChangeLog {
  return changes.map((change) => ({ change, ifCreated: false }));
}
