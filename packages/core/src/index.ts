export type {
  EventListener,
  KeyExhaustedEvent,
  KeyExpiredEvent,
  KeyVerifiedEvent,
  LatchkeyEvent,
} from "./audit/emitter.js";
export type { AuditEvent } from "./audit/event.js";
export {
  corruptRecord,
  ERROR_CODES,
  ERROR_REASONS,
  type ErrorCode,
  type ErrorDetails,
  type ErrorReason,
  type InputIssue,
  LatchkeyError,
  type LatchkeyErrorOptions,
} from "./errors.js";
export { createLatchkey, type Latchkey, type LatchkeyOptions } from "./latchkey.js";
export { deepFrozen } from "./lib/deep-freeze.js";
export type { ErrorListener } from "./lib/error-listener.js";
export { createIdFactory, type IdFactory, type IdKind, type RandomBytes } from "./lib/id.js";
export type { JsonValue } from "./lib/json.js";
export { createApiInput } from "./operations/apis/create-api.js";
export { deleteApiInput } from "./operations/apis/delete-api.js";
export { getApiInput } from "./operations/apis/get-api.js";
export { type ApiList, listApisInput } from "./operations/apis/list-apis.js";
export { updateApiInput } from "./operations/apis/update-api.js";
export type { ApiView } from "./operations/apis/view.js";
export {
  type AuditEventList,
  listAuditEventsInput,
} from "./operations/audit-log/list-audit-events.js";
export { pruneAuditEventsInput } from "./operations/audit-log/prune-audit-events.js";
export { createIdentityInput } from "./operations/identities/create-identity.js";
export { deleteIdentityInput } from "./operations/identities/delete-identity.js";
export { getIdentityInput } from "./operations/identities/get-identity.js";
export { type IdentityList, listIdentitiesInput } from "./operations/identities/list-identities.js";
export { updateIdentityInput } from "./operations/identities/update-identity.js";
export type { IdentityView } from "./operations/identities/view.js";
export {
  expiryIssues,
  type InputSchema,
  metadata as metadataField,
  noInput,
  parseInput,
  permissionQuery as permissionQueryField,
} from "./operations/input.js";
export { addPermissionsInput } from "./operations/keys/add-permissions.js";
export { addRolesInput } from "./operations/keys/add-roles.js";
export type { CreatedKey } from "./operations/keys/build.js";
export { createKeyInput } from "./operations/keys/create-key.js";
export { createKeysInput, importIssues } from "./operations/keys/create-keys.js";
export { deleteKeyInput } from "./operations/keys/delete-key.js";
export { deleteKeysInput } from "./operations/keys/delete-keys.js";
export { getKeyInput } from "./operations/keys/get-key.js";
export type { WireKeyLimit } from "./operations/keys/limits.js";
export { type KeyList, listKeysInput } from "./operations/keys/list-keys.js";
export { reencryptKeysInput } from "./operations/keys/reencrypt-keys.js";
export { removePermissionsInput } from "./operations/keys/remove-permissions.js";
export { removeRolesInput } from "./operations/keys/remove-roles.js";
export { type RotationScope, rotateKeyInput } from "./operations/keys/rotate-key.js";
export { setPermissionsInput } from "./operations/keys/set-permissions.js";
export { setRolesInput } from "./operations/keys/set-roles.js";
export { updateKeyInput } from "./operations/keys/update-key.js";
export { updateRemainingInput } from "./operations/keys/update-remaining.js";
export type { KeyView } from "./operations/keys/view.js";
export { type KeySummary, whoamiInput } from "./operations/keys/whoami.js";
export { createPermissionInput } from "./operations/permissions/create-permission.js";
export { deletePermissionInput } from "./operations/permissions/delete-permission.js";
export { getPermissionInput } from "./operations/permissions/get-permission.js";
export { type LimitAnswer, limitInput } from "./operations/rate-limits/limit.js";
export { resetLimitInput } from "./operations/rate-limits/reset-limit.js";
export { createRoleInput } from "./operations/roles/create-role.js";
export { deleteRoleInput } from "./operations/roles/delete-role.js";
export { getRoleInput } from "./operations/roles/get-role.js";
export { setRolePermissionsInput } from "./operations/roles/set-role-permissions.js";
export type { PermissionView, RoleView } from "./operations/roles/view.js";
export type { RootKeyOutcome } from "./operations/root-keys/authenticate-root-key.js";
export { createRootKeyInput } from "./operations/root-keys/create-root-key.js";
export type { RootKeyList, RootKeyView } from "./operations/root-keys/list-root-keys.js";
export {
  getVerificationsInput,
  type Verifications,
} from "./operations/statistics/get-verifications.js";
export { pruneVerificationsInput } from "./operations/statistics/prune-verifications.js";
export { OPERATIONS, type OperationName, type Operations } from "./operations/table.js";
export { explainKeyInput, verifyKeyInput } from "./operations/verify-key/input.js";
export type { VerifyScope } from "./operations/verify-key/scope.js";
export type { Verifier, VerifierCall, VerifierInput } from "./operations/verify-key/verifier.js";
export type { WorkspaceView } from "./operations/workspaces/get-workspace.js";
export type { ApiRecord } from "./records/api.js";
export {
  AUDIT_TYPES,
  type AuditEntry,
  type AuditType,
  type FieldChange,
} from "./records/audit-entry.js";
export type { IdentityRecord } from "./records/identity.js";
export { type KeyRateLimit, type KeyRecord, keysOfApi, type RateLimitType } from "./records/key.js";
export { layoutOf, RECORD_LISTS, type RecordLayout } from "./records/layout.js";
export type { PermissionRecord } from "./records/permission.js";
export type { RoleRecord } from "./records/role.js";
export { DIRECTORY_ID, type RootKeyRecord } from "./records/root-key.js";
export {
  RECORD_KINDS,
  type RecordKind,
  type RecordMemo,
  type StoredRecord,
} from "./records/stored-record.js";
export {
  DEFAULT_WORKSPACE_ID,
  unwrittenWorkspace,
  WORKSPACE_ID_PATTERN,
  type WorkspaceRecord,
} from "./records/workspace.js";
export { canonicalAddress } from "./rules/address.js";
export { DEFAULT_LIMIT } from "./rules/default-limit.js";
export type { Metadata } from "./rules/metadata.js";
export { effectivePermissions, type PermissionQuery } from "./rules/permission.js";
export type { IdentityRateLimit, RateLimit, WireRateLimit } from "./rules/rate-limit.js";
export { decideWindow, type RateWindow, type WindowDecision } from "./rules/rate-window.js";
export type { DueRefill, Refill } from "./rules/refill.js";
export {
  API_ACTIONS,
  AUDIT_ACTIONS,
  IDENTITY_ACTIONS,
  isRootAllowed,
  isRootPermission,
  RATELIMIT_ACTIONS,
  RBAC_ACTIONS,
  type RootPermission,
  rootPermissionName,
} from "./rules/root-permission.js";
export type { UsesOwner } from "./rules/usage.js";
export type { KeyRing } from "./secrets/key-ring.js";
export { secretStart } from "./secrets/shown-start.js";
export type { Granularity, VerificationBucket } from "./statistics/buckets.js";
export {
  STATE_ADDRESS,
  stateOf,
  stateRecord,
  type WorkspaceState,
} from "./store/availability.js";
export { trailList, trailWindows } from "./store/availability-trail.js";
export type {
  Change,
  Claim,
  CommitResult,
  CounterChange,
  Expectation,
  ListEntry,
  Put,
  RecordAddress,
} from "./store/change.js";
export {
  type AppliedCharge,
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeRequest,
  type ChargeResult,
  type ChargeState,
  type ChargeStep,
  type ChargeWrite,
  type LimitCharge,
  type LimitReading,
  type RememberedCharge,
} from "./store/charge.js";
export { ClockDifferenceError } from "./store/clock-check.js";
export {
  applyRefill,
  type Counters,
  changeUsage,
  NO_USES,
  UNLIMITED_USES,
  type Usage,
  type UsageChange,
  type UsageChangeResult,
  type UsageRefusal,
} from "./store/counters.js";
export type {
  KeyStore,
  LoadedRecord,
  PageResult,
  PageWant,
  ReadResult,
  ScanResult,
  StoredRecordState,
  Want,
} from "./store/key-store.js";
export {
  COUNTED_CODES,
  type CountedCode,
  type DeletedCount,
  type HourCount,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsRange,
  type StatisticsSubject,
  type SubjectCount,
} from "./store/statistics.js";
export type { Clock, EpochMs, SpanMs } from "./time.js";
export type { DryRunOutcome, VerdictCheck } from "./verification/dry-run.js";
export type { NamedGrant } from "./verification/loaded-key.js";
export type {
  NamedRatelimitState,
  RatelimitState,
  RefusalHints,
  VerifiedKey,
  VerifyOutcome,
} from "./verification/verdict.js";
export { configuredWindow, durationOfWindow } from "./verification/window-name.js";
