export type { ApiRecord } from "./api.js";
export {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type ChargeState,
  type ChargeStep,
  type LimitCharge,
  type LimitReading,
} from "./charge.js";
export { ERROR_CODES, type ErrorCode, type InputIssue, LatchkeyError, corruptRecord } from "./errors.js";
export type { IdentityRecord } from "./identity.js";
export { DEFAULT_LIMIT, type KeyRateLimit, type KeyRecord, type LoadedKey, type RateLimitType } from "./key.js";
export type { KeyRing } from "./key-ring.js";
export type { JsonValue, Metadata } from "./metadata.js";
export { effectivePermissions, type PermissionQuery } from "./permission.js";
export type { RateLimit, RateWindow } from "./rate-limit.js";
export type { DueRefill, Refill } from "./refill.js";
export type { PermissionRecord, RoleRecord } from "./role.js";
export type { RootKeyRecord } from "./root-key.js";
export type {
  GrantReference,
  Grants,
  IdentityLookup,
  IdentityPatch,
  InsertKeyResult,
  KeyPatch,
  KeyStore,
  MissingGrants,
  NewKey,
  Page,
  PageRequest,
  UpdateKeyResult,
} from "./store.js";
export type { Clock, EpochMs, SpanMs } from "./time.js";
export { changeUsage, settleRefill, type Usage, type UsageChange, type UsageChangeResult } from "./usage.js";
export { DEFAULT_WORKSPACE_ID, untouchedWorkspace, type WorkspaceRecord } from "./workspace.js";
