import { createLatchkey, type KeyStore, type Latchkey, type OperationName } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { NOON, VAULT_KEYS } from "../test-context.js";

/** A workspace with one of everything. */
export interface Filled {
  readonly latchkey: Latchkey;
  /** Number of changes so far that wrote something. */
  readonly writes: () => number;
  readonly inputs: readonly (readonly [OperationName, unknown])[];
}

const LIMIT = {
  limit: 5,
  duration: "1m",
  algorithm: "token-bucket",
  burst: 7,
  shadow: true,
} as const;
const NAMED = { name: "tiles", autoApply: true, ...LIMIT } as const;
const REFILL = { interval: "monthly", amount: 5, refillDay: 31 } as const;
const SETTINGS = {
  name: "Ada",
  environment: "live",
  externalId: "user_1",
  meta: { plan: "pro", seats: [1, { a: null }] },
  roles: ["reader"],
  permissions: ["docs.read"],
  expires: NOON + 1_000,
  remaining: 5,
  refill: REFILL,
  ratelimit: { limit: 5, duration: 1_000, type: "fast", async: true },
  ratelimits: [NAMED],
  usesFrom: "key",
  enabled: true,
} as const;

/** `around`: wraps the store for latchkey, once the store is filled. */
export async function fill(
  around: (store: KeyStore) => KeyStore = (store) => store,
): Promise<Filled> {
  let writes = 0;
  let isFilled = false;
  const memory = memoryStore();
  const counting: KeyStore = {
    ...memory,
    commit: async (workspaceId, change) => {
      const result = await memory.commit(workspaceId, change);
      // Latchkey commits empty changes, too, so that the reason of a refusal is durable.
      const { expects, ...written } = change;
      const isWrite = Object.values(written).some((part) =>
        Array.isArray(part) ? part.length > 0 : part !== null,
      );
      if (isFilled && isWrite && result.kind === "committed") writes += 1;
      return result;
    },
  };
  const vault = { current: "a", keys: { a: VAULT_KEYS[0] } };
  const tokens = { current: "t", keys: { t: VAULT_KEYS[1] } };
  const own = createLatchkey({ store: counting, clock: () => NOON, vault, tokens, usage: false });
  const { apiId } = await own.createApi({ name: "maps" });
  const { permissionId } = await own.createPermission({ name: "docs.read" });
  const { roleId } = await own.createRole({ name: "reader", permissions: ["docs.read"] });
  const { identityId } = await own.createIdentity({
    externalId: "user_1",
    ratelimits: [{ ...NAMED, name: "shared" }],
    remaining: 5,
    refill: REFILL,
  });
  const { keyId, key } = await own.createKey({ apiId, ...SETTINGS, recoverable: true });
  const { rootKeyId, key: token } = await own.createRootKey({ permissions: ["api.*.read_key"] });
  const held = await own.reserve({ key, remaining: { cost: 2 }, ratelimits: [{ name: "tiles" }] });
  const { reservationId } = held as Extract<typeof held, { readonly code: "VALID" }>;
  const { sessionId, secret } = await own.createPortalSession({
    externalId: "user_1",
    allow: { apiIds: [apiId] },
  });
  const page = { limit: 2 };
  const inputs: readonly (readonly [OperationName, unknown])[] = [
    ["createApi", { name: "maps", deleteProtection: true, ipWhitelist: ["10.0.0.0/8", "::1"] }],
    ["ensureApi", { name: "maps" }],
    ["getApi", { apiId }],
    ["listApis", page],
    ["updateApi", { apiId, name: "tiles", deleteProtection: false, ipWhitelist: ["10.0.0.1"] }],
    ["deleteApi", { apiId }],
    [
      "createKey",
      { apiId, ...SETTINGS, prefix: "sk", byteLength: 16, create: true, recoverable: true },
    ],
    [
      "createKeys",
      [
        {
          apiId,
          ...SETTINGS,
          plaintext: "old-secret-of-another-system-1234567890",
          start: "old",
          createdAt: NOON - 1,
        },
      ],
    ],
    [
      "createKeys",
      [{ apiId, hash: { value: "a".repeat(64), variant: "sha256_hex" }, prefix: "old", name: "b" }],
    ],
    ["getKey", { keyId, decrypt: true }],
    ["findApiOfKey", { keyId }],
    ["listKeys", { apiId, ...page, externalId: "user_1", decrypt: false }],
    [
      "listKeys",
      {
        identityId,
        enabled: true,
        expiresBefore: 9_000_000_000_000,
        expiresAfter: 1,
        usedBefore: 9_000_000_000_000,
        usedAfter: 0,
        createdBefore: 9_000_000_000_000,
        createdAfter: 1,
        nameContains: "a",
        start: "pay_",
        permission: "docs.read",
        role: "reader",
        environment: "live",
        tags: ["eu"],
        orderBy: "expires",
        order: "desc",
      },
    ],
    [
      "updateKey",
      {
        keyId,
        ...SETTINGS,
        usesFrom: undefined,
        permissions: [{ name: "docs.read" }, { id: permissionId }],
      },
    ],
    ["updateRemaining", { keyId, op: "increment", value: 1 }],
    ["updateRemaining", { identityId, op: "decrement", value: 1 }],
    ["updateRemaining", { externalId: "user_1", op: "set", value: null }],
    ["rotateKey", { keyId, graceMs: "1h" }],
    ["addRoles", { keyId, roles: ["reader", { name: "reader" }, { id: roleId }] }],
    ["setRoles", { keyId, roles: ["reader"] }],
    ["removeRoles", { keyId, roles: ["reader"] }],
    [
      "addPermissions",
      { keyId, permissions: [{ name: "docs.new", create: true }, { id: permissionId }] },
    ],
    ["setPermissions", { keyId, permissions: ["docs.read"] }],
    ["removePermissions", { keyId, permissions: ["docs.read"] }],
    ["deleteKey", { keyId }],
    ["deleteKeys", { apiId }],
    ["disableKeys", { apiId, identityId, externalId: "user_1" }],
    ["enableKeys", { keyIds: [keyId] }],
    ["enableKeys", { apiId }],
    ["updateKeys", { keyIds: [keyId], name: "b", roles: ["reader"], ratelimits: [NAMED] }],
    ["reencryptKeys", { apiId, ...page }],
    [
      "reportLeaks",
      { leaks: [{ key, url: "https://code.example/a", source: "commit" }], policy: "rotate" },
    ],
    [
      "verifyKey",
      {
        key,
        apiId,
        ipAddress: "10.0.0.1",
        tags: ["a"],
        remaining: { cost: 1 },
        requestId: "r",
        ratelimit: { cost: 1 },
        authorization: { permissions: { and: ["docs.read", { or: ["docs.read", "docs.write"] }] } },
        ratelimits: [
          { name: "tiles", cost: 1 },
          { name: "burst", ...LIMIT, cost: 2 },
        ],
      },
    ],
    ["verifyKey", { key, dryRun: true, ratelimits: [{ name: "burst", ...LIMIT }] }],
    [
      "explainKey",
      { keyId, apiId, ipAddress: "10.0.0.1", authorization: { permissions: "docs.read" } },
    ],
    ["exchangeKey", { key, apiId, audience: "tides", ttl: "5m", remaining: { cost: 1 } }],
    [
      "reserve",
      {
        key,
        apiId,
        ipAddress: "10.0.0.1",
        tags: ["a"],
        remaining: { cost: 1 },
        requestId: "held",
        ratelimit: { cost: 1 },
        authorization: { permissions: "docs.read" },
        ratelimits: [{ name: "slots", limit: 5, duration: "2m", algorithm: "concurrent" }],
        ttl: "30s",
      },
    ],
    ["settle", { reservationId, remaining: { cost: 1 }, ratelimits: [{ name: "tiles", cost: 0 }] }],
    ["release", { reservationId }],
    ["renew", { reservationId, ttl: "1h" }],
    ["listReservations", { keyId, ...page }],
    ["listReservations", { identityId }],
    ["whoami", { key }],
    ["getIdentity", { identityId }],
    ["listIdentities", { ...page, externalIdContains: "user" }],
    [
      "createIdentity",
      { externalId: "user_2", meta: { a: 1 }, ratelimits: [NAMED], remaining: 5, refill: REFILL },
    ],
    [
      "updateIdentity",
      { identityId, meta: { a: 1 }, ratelimits: [NAMED], remaining: 5, refill: REFILL },
    ],
    ["deleteIdentity", { identityId, keys: "disable" }],
    ["eraseIdentity", { identityId }],
    ["eraseIdentity", { externalId: "user_1" }],
    ["limit", { namespace: "login", identifier: "10.0.0.1", ...LIMIT, cost: 1 }],
    ["resetLimit", { keyId, name: "tiles" }],
    ["resetLimit", { namespace: "login", identifier: "10.0.0.1", duration: "1m" }],
    ["createPermission", { name: "docs.write", description: "May write" }],
    ["ensurePermissions", ["docs.read", "docs.write"]],
    ["getPermission", { permissionId }],
    ["deletePermission", { permissionId }],
    ["createRole", { name: "writer", description: "Writes", permissions: ["docs.read"] }],
    ["ensureRole", { name: "reader", permissions: ["docs.write"] }],
    ["getRole", { roleId }],
    ["setRolePermissions", { roleId, permissions: ["docs.read"] }],
    ["deleteRole", { roleId }],
    ["createRootKey", { permissions: ["api.*.read_key"], name: "ops", expires: NOON + 1 }],
    ["listRootKeys", page],
    [
      "updateRootKey",
      { rootKeyId, name: "ops", permissions: ["api.*.read_key"], expires: NOON + 1 },
    ],
    ["rotateRootKey", { rootKeyId, graceMs: 1 }],
    ["revokeRootKey", { rootKeyId }],
    ["authenticateRootKey", token],
    [
      "createPortalSession",
      {
        externalId: "user_1",
        ttl: "15m",
        actor: "clerk_1",
        allow: {
          apiIds: [apiId],
          create: true,
          rotate: true,
          revoke: false,
          permissions: ["docs.read"],
          maxKeys: 5,
          ratelimits: [NAMED],
        },
      },
    ],
    ["revokePortalSession", { sessionId }],
    ["revokePortalSession", { identityId }],
    ["revokePortalSession", { externalId: "user_1" }],
    ["openPortalSession", secret],
    ["getVerifications", { keyId, start: NOON - 1, end: NOON, granularity: "hour" }],
    ["exportUsage", { start: NOON - 1, end: NOON, granularity: "hour", by: "key", limit: 5 }],
    ["pruneVerifications", { before: NOON - 1 }],
    ["listAuditEvents", { ...page, keyId }],
    ["readEvents", { limit: 5, types: ["key.created"] }],
    ["notice", { limit: 5 }],
    ["pruneAuditEvents", { before: NOON - 1 }],
    ["createWorkspace", { name: "north" }],
    ["listWorkspaces", page],
    ["updateWorkspace", { workspaceId: "ws_north", name: "south" }],
    ["deleteWorkspace", { workspaceId: "ws_north", confirm: "ws_north" }],
    ["setWorkspaceEnabled", true],
    ["listPermissions", undefined],
    ["listRoles", undefined],
    ["getWorkspace", undefined],
    ["isWorkspaceEnabled", undefined],
  ];
  isFilled = true;
  const latchkey = createLatchkey({
    store: around(counting),
    clock: () => NOON,
    tokens,
    vault,
    usage: false,
  });
  return { latchkey, writes: () => writes, inputs };
}
