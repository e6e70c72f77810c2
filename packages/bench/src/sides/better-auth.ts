import Database from "better-sqlite3";
import {
  databasePath,
  postgresPool,
  redisClient,
  type StoreKind,
  type StoreLocation,
  schemaName,
} from "../fixture/stores.js";
import type { Question } from "../questions.js";
import { AbsentError, type Side } from "./side.js";

/** better-auth takes milliseconds to create a key, so it gets only this share of them. */
const SHARE = 0.05;

/** Fewest keys: enough that no key is verified twice at once, because better-auth would lose uses on Redis. */
const MIN_KEYS = 128;

/** Its columns in PostgreSQL are 32-bit integers. That many uses and units are enough. */
const MAX_INTEGER = 2 ** 31 - 1;

/** The fields of its verdicts that are used here. */
interface BetterAuthVerdict {
  readonly valid: boolean;
  readonly error: { readonly code: string } | null;
  readonly key: { readonly remaining: number | null } | null;
}

/** The part of its API that is used here. Its own types are inferred from its options, which takes the compiler a long time. */
interface ApiKeyEndpoints {
  createApiKey(input: { body: object }): Promise<{ id: string }>;
  updateApiKey(input: { body: object }): Promise<unknown>;
  verifyApiKey(input: { body: object }): Promise<BetterAuthVerdict>;
}

/** Its code for each of latchkey's codes. */
const CODES: Readonly<Record<string, string>> = {
  VALID: "VALID",
  NOT_FOUND: "INVALID_API_KEY",
  DISABLED: "KEY_DISABLED",
  INSUFFICIENT_PERMISSIONS: "KEY_NOT_FOUND",
  RATE_LIMITED: "RATE_LIMITED",
};

/** Why it cannot answer a question; null: it can. */
function whyNotBetterAuth({ expected, named, cost, keys, hasRequestId, anyOf }: Question) {
  if (expected === "EXPIRED" || expected === "USAGE_EXCEEDED")
    return "better-auth deletes such a key when it is verified, so there is no second answer";
  if (expected === "FORBIDDEN") return "better-auth has no list of addresses";
  if (hasRequestId) return "better-auth has no request ids";
  if (anyOf !== null && anyOf.length > 1) return "better-auth asks for all permissions or none";
  if (keys.identityLimits !== null) return "better-auth has no limits that keys share";
  if (cost !== 1 || named.length > 0) return "better-auth has no costs and no named limits";
  return null;
}

/**
 * better-auth with its api-key plugin, in its fastest settings that store what latchkey stores: in secondary storage on memory and Redis,
 * in the database on SQLite (WAL, NORMAL) and PostgreSQL. The keys are created with the same secrets.
 *
 * @throws AbsentError if it is not installed or cannot answer the question.
 */
export async function betterAuthSide(
  kind: StoreKind,
  location: StoreLocation,
  name: string,
  secrets: readonly string[],
  question: Question,
): Promise<Side> {
  const reason = whyNotBetterAuth(question);
  if (reason !== null) throw new AbsentError(reason);
  const { betterAuth, apiKey, memoryAdapter, getMigrations } = await loadBetterAuth();
  const known = secrets.slice(0, Math.max(MIN_KEYS, secrets.length * SHARE));
  let issued = 0;
  const database = await openDatabase(kind, location, name);
  const storage = database === null ? await secondaryStorage(kind, location, name) : null;
  const options = {
    baseURL: "http://localhost",
    secret: "no secret at all, for a benchmark only",
    database:
      database ??
      memoryAdapter({ user: [], session: [], account: [], verification: [], apikey: [] }),
    logger: { disabled: true },
    telemetry: { enabled: false },
    rateLimit: { enabled: false },
    ...(storage !== null && { secondaryStorage: storage }),
    plugins: [
      apiKey({
        storage: storage === null ? "database" : "secondary-storage",
        // It refuses shorter keys without a lookup, which would make it look faster.
        defaultKeyLength: 1,
        customKeyGenerator: () => known[issued++] as string,
      }),
    ],
  };
  const auth = betterAuth(options);
  const api = auth.api as unknown as ApiKeyEndpoints;
  if (database !== null) await (await getMigrations(options)).runMigrations();
  const { internalAdapter } = await auth.$context;
  const user = { email: "owner@example.com", name: "Owner", emailVerified: true };
  const { id: userId } = await internalAdapter.createUser(user, { method: "anonymous" });
  const { keys, anyOf, expected } = question;
  const limit = keys.limits[0];
  const remaining = keys.remaining === null ? null : Math.min(keys.remaining, MAX_INTEGER);
  const notGranted = (keys.remaining ?? 0) - (remaining ?? 0);
  for (const _ of keys.isKnown ? known : []) {
    const created = await api.createApiKey({
      body: {
        userId,
        permissions: permissionsOf(keys.permissions),
        ...(remaining !== null && { remaining }),
        rateLimitEnabled: limit !== undefined,
        ...(limit !== undefined && {
          rateLimitMax: Math.min(limit.limit, MAX_INTEGER),
          rateLimitTimeWindow: Math.min(limit.duration, MAX_INTEGER),
        }),
      },
    });
    if (!keys.enabled)
      await api.updateApiKey({ body: { keyId: created.id, userId, enabled: false } });
  }
  const permissions = anyOf === null ? null : permissionsOf(anyOf[0] ?? []);
  const code = CODES[expected];
  return {
    name: "better-auth",
    verify: (key) =>
      api.verifyApiKey({ body: permissions === null ? { key } : { key, permissions } }),
    isExpected: (verdict) => {
      const { valid, error } = verdict as BetterAuthVerdict;
      return (valid ? "VALID" : error?.code) === code;
    },
    remainingOf: (verdict) => {
      const left = (verdict as BetterAuthVerdict).key?.remaining ?? null;
      return left === null ? null : left + notGranted;
    },
    keyCount: known.length,
    close: async () => undefined,
  };
}

async function loadBetterAuth() {
  try {
    const [{ betterAuth }, { apiKey }, { memoryAdapter }, { getMigrations }] = await Promise.all([
      import("better-auth"),
      import("@better-auth/api-key"),
      import("better-auth/adapters/memory"),
      import("better-auth/db/migration"),
    ]);
    return { betterAuth, apiKey, memoryAdapter, getMigrations };
  } catch {
    throw new AbsentError("better-auth is not installed");
  }
}

/** `docs.read` is the action `read` of the resource `docs`. */
function permissionsOf(names: readonly string[]): Record<string, string[]> {
  const permissions: Record<string, string[]> = {};
  for (const name of names) {
    const [resource = "", action = ""] = name.split(".");
    permissions[resource] = [...(permissions[resource] ?? []), action];
  }
  return permissions;
}

/** The database of a store; null: better-auth uses secondary storage there. */
async function openDatabase(kind: StoreKind, location: StoreLocation, name: string) {
  if (kind === "postgres") return postgresPool(location, schemaName(name));
  if (kind !== "sqlite") return null;
  const database = new Database(databasePath(location, name));
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  return database;
}

async function secondaryStorage(kind: StoreKind, location: StoreLocation, name: string) {
  if (kind === "memory") {
    const map = new Map<string, string>();
    return {
      get: async (key: string) => map.get(key) ?? null,
      set: async (key: string, value: string) => void map.set(key, value),
      delete: async (key: string) => void map.delete(key),
      ...UNUSED,
    };
  }
  const client = await redisClient(location);
  return {
    get: (key: string) => client.get(`${name}:${key}`),
    set: async (key: string, value: string, ttlSeconds?: number) => {
      if (ttlSeconds === undefined) await client.set(`${name}:${key}`, value);
      else await client.set(`${name}:${key}`, value, "EX", ttlSeconds);
    },
    delete: async (key: string) => void (await client.del(`${name}:${key}`)),
    ...UNUSED,
  };
}

/** Methods of a secondary storage that its api-key plugin does not call. */
const UNUSED = {
  getAndDelete: () => Promise.reject(new Error("not used for API keys")),
  increment: () => Promise.reject(new Error("not used for API keys")),
};
