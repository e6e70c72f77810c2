export {
  API_ACTIONS,
  type Clock,
  type CreatedKey,
  createLatchkey,
  DEFAULT_WORKSPACE_ID,
  type EpochMs,
  ERROR_CODES,
  type ErrorCode,
  type FullIdentity,
  IDENTITY_ACTIONS,
  type IdentityList,
  type InputIssue,
  type JsonValue,
  type KeyList,
  type KeyRing,
  type KeyStore,
  type Latchkey,
  LatchkeyError,
  type LatchkeyErrorOptions,
  type LatchkeyOptions,
  type ListedKey,
  type Metadata,
  type NamedRatelimitState,
  type PermissionQuery,
  type RandomBytes,
  type RateLimitType,
  type RatelimitState,
  RBAC_ACTIONS,
  type RootKeyOutcome,
  type SpanMs,
  type VerifiedKey,
  type VerifyOutcome,
  type VerifyScope,
  type WireRateLimit,
} from "@latchkey/core";
export {
  type Authenticate,
  createHandler,
  type Handler,
  type HandlerOptions,
  type HostCaller,
  toNodeListener,
} from "@latchkey/http";
export { memoryStore } from "@latchkey/memory";
export { type RedisStoreOptions, redisStore } from "@latchkey/redis";
export { type Durability, type SqliteStoreOptions, sqliteStore } from "@latchkey/sqlite";
export { type KeyRings, keyRingsFromEnv } from "./key-rings-from-env.js";
export { type OpenStoreOptions, openStore } from "./open-store.js";
