export type {
  ChangeEvent,
  EventListener,
  KeyExhaustedEvent,
  KeyExpiredEvent,
  KeyVerifiedEvent,
  LatchkeyEvent,
  StoreFailedEvent,
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
  unavailable,
  unfit,
} from "./errors.js";
export { createLatchkey, type Latchkey, type LatchkeyOptions } from "./latchkey.js";
export { decodeBase58 } from "./lib/base58.js";
export { deepFrozen } from "./lib/deep-freeze.js";
export type { ErrorListener } from "./lib/error-listener.js";
export { createIdFactory, type IdFactory, type IdKind, type RandomBytes } from "./lib/id.js";
export type { JsonValue } from "./lib/json.js";
export type {
  StandardIssue,
  StandardPathPart,
  StandardResult,
  StandardSchema,
} from "./lib/standard-schema.js";
export { isWhole } from "./lib/whole.js";
export type { CreateApiInput, CreatedApi } from "./operations/apis/create-api.js";
export type { DeleteApiInput } from "./operations/apis/delete-api.js";
export type { GetApiInput } from "./operations/apis/get-api.js";
export type { ApiList, ListApisInput } from "./operations/apis/list-apis.js";
export type { UpdateApiInput } from "./operations/apis/update-api.js";
export type { ApiView } from "./operations/apis/view.js";
export type {
  AuditEventList,
  ListAuditEventsInput,
} from "./operations/audit-log/list-audit-events.js";
export type {
  PruneAuditEventsInput,
  PrunedCount,
} from "./operations/audit-log/prune-audit-events.js";
export type {
  CreatedIdentity,
  CreateIdentityInput,
} from "./operations/identities/create-identity.js";
export type {
  DeletedIdentity,
  DeleteIdentityInput,
} from "./operations/identities/delete-identity.js";
export type { GetIdentityInput } from "./operations/identities/get-identity.js";
export type {
  IdentityList,
  ListedIdentity,
  ListIdentitiesInput,
} from "./operations/identities/list-identities.js";
export type { UpdateIdentityInput } from "./operations/identities/update-identity.js";
export type { IdentityView } from "./operations/identities/view.js";
export {
  type IdentityReference,
  type InputSchema,
  metadata as metadataField,
  noInput,
  type PageInput,
  parseInput,
  permissionQuery as permissionQueryField,
  type RefillInput,
} from "./operations/input.js";
export type { AddPermissionsInput } from "./operations/keys/add-permissions.js";
export type { AddRolesInput } from "./operations/keys/add-roles.js";
export type { CreatedKey } from "./operations/keys/build.js";
export type { CreateKeyInput } from "./operations/keys/create-key.js";
export {
  type CreatedKeys,
  type CreateKeysInput,
  type CreateKeysOptions,
  type ImportedKeyResult,
  importIssues,
  type PartlyCreatedKeys,
} from "./operations/keys/create-keys.js";
export type { DeleteKeyInput } from "./operations/keys/delete-key.js";
export type { DeletedKeys, DeleteKeysInput } from "./operations/keys/delete-keys.js";
export type { GetKeyInput } from "./operations/keys/get-key.js";
export type { GrantInput } from "./operations/keys/grant-input.js";
export type { KeyPermissions, KeyRoles } from "./operations/keys/grants.js";
export type { ImportedHashInput, ImportKeyInput } from "./operations/keys/import-input.js";
export type { WireKeyLimit } from "./operations/keys/limits.js";
export type { KeyList, ListKeysInput, ListKeysScope } from "./operations/keys/list-keys.js";
export type { Reencrypted, ReencryptKeysInput } from "./operations/keys/reencrypt-keys.js";
export type { RemovePermissionsInput } from "./operations/keys/remove-permissions.js";
export type { RemoveRolesInput } from "./operations/keys/remove-roles.js";
export type { RotateKeyInput, RotationScope } from "./operations/keys/rotate-key.js";
export type { SetPermissionsInput } from "./operations/keys/set-permissions.js";
export type { SetRolesInput } from "./operations/keys/set-roles.js";
export type { KeySettingsInput } from "./operations/keys/settings.js";
export { keySettings } from "./operations/keys/shown-settings.js";
export type { UpdateKeyInput } from "./operations/keys/update-key.js";
export type { RemainingUses, UpdateRemainingInput } from "./operations/keys/update-remaining.js";
export type { KeyView, PlaintextError } from "./operations/keys/view.js";
export type { KeySummary, WhoamiInput } from "./operations/keys/whoami.js";
export type {
  IdentityLimitInput,
  KeyLimitInput,
  NamedKeyLimitInput,
} from "./operations/limit-input.js";
export type { ListIterator } from "./operations/list-iterator.js";
export type { OperationName, Operations } from "./operations/operations.js";
export type {
  CreatedPermission,
  CreatePermissionInput,
} from "./operations/permissions/create-permission.js";
export type { DeletePermissionInput } from "./operations/permissions/delete-permission.js";
export type { GetPermissionInput } from "./operations/permissions/get-permission.js";
export type { LimitAnswer, LimitInput } from "./operations/rate-limits/limit.js";
export type { ResetLimitInput } from "./operations/rate-limits/reset-limit.js";
export type { PageInfo } from "./operations/read-page.js";
export type { RefillView } from "./operations/refill-view.js";
export type { CreatedRole, CreateRoleInput } from "./operations/roles/create-role.js";
export type { DeleteRoleInput } from "./operations/roles/delete-role.js";
export type { GetRoleInput } from "./operations/roles/get-role.js";
export type { SetRolePermissionsInput } from "./operations/roles/set-role-permissions.js";
export type { PermissionView, RoleView } from "./operations/roles/view.js";
export type { RootKeyOutcome } from "./operations/root-keys/authenticate-root-key.js";
export type { CreatedRootKey, CreateRootKeyInput } from "./operations/root-keys/create-root-key.js";
export type {
  ListRootKeysInput,
  RootKeyList,
  RootKeyView,
} from "./operations/root-keys/list-root-keys.js";
export type { RevokeRootKeyInput } from "./operations/root-keys/revoke-root-key.js";
export type {
  GetVerificationsInput,
  Verifications,
} from "./operations/statistics/get-verifications.js";
export type { PruneVerificationsInput } from "./operations/statistics/prune-verifications.js";
export { OPERATIONS } from "./operations/table.js";
export { expiryIssues } from "./operations/time-input.js";
export type {
  Costed,
  ExplainKeyInput,
  RequestedLimit,
  VerifyKeyInput,
} from "./operations/verify-key/input.js";
export type { VerifyScope } from "./operations/verify-key/scope.js";
export type { Verifier, VerifierCall, VerifierInput } from "./operations/verify-key/verifier.js";
export type {
  CreatedWorkspace,
  CreateWorkspaceInput,
} from "./operations/workspaces/create-workspace.js";
export type { WorkspaceView } from "./operations/workspaces/get-workspace.js";
export {
  AUDIT_TYPES,
  type AuditType,
  type FieldChange,
} from "./records/audit-entry.js";
export { keysOfApi, type RateLimitType } from "./records/key.js";
export { layoutOf, RECORD_LISTS, type RecordLayout } from "./records/layout.js";
export { DIRECTORY_ID } from "./records/root-key.js";
export {
  KIND_CODE,
  RECORD_KINDS,
  type RecordKind,
  type StoredRecord,
} from "./records/stored-record.js";
export {
  DEFAULT_WORKSPACE_ID,
  WORKSPACE_ID_PATTERN,
} from "./records/workspace.js";
export { canonicalAddress } from "./rules/address.js";
export type { Duration } from "./rules/duration.js";
export type {
  DefaultTypes,
  LatchkeyTypes,
  LimitName,
  MetadataInput,
  MetaSchema,
  PermissionName,
  TypesOf,
} from "./rules/latchkey-types.js";
export type { Metadata } from "./rules/metadata.js";
export type { PermissionQuery } from "./rules/permission.js";
export type { RateLimit, WireRateLimit } from "./rules/rate-limit.js";
export { decideWindow, type RateWindow, type WindowDecision } from "./rules/rate-window.js";
export type { Refill } from "./rules/refill.js";
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
export type { KeyRing } from "./secrets/key-ring.js";
export { secretStart } from "./secrets/shown-start.js";
export type { Granularity, VerificationBucket } from "./statistics/buckets.js";
export {
  STATE_ADDRESS,
  stateOf,
  stateRecord,
  type WorkspaceState,
} from "./store/availability.js";
export { trailList } from "./store/availability-trail.js";
export {
  type Change,
  type Claim,
  type CommitResult,
  type CounterChange,
  EMPTY_CHANGE,
  type Expectation,
  type ListEntry,
  type Put,
  type RecordAddress,
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
  NO_USAGE_CHANGE,
  NO_USES,
  UNLIMITED_USES,
  type Usage,
  type UsageChange,
  type UsageChangeResult,
  type UsageRefusal,
} from "./store/counters.js";
export {
  interceptStore,
  type StoreCall,
  type StoreInterceptor,
  type StoreMethod,
} from "./store/intercept.js";
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
export { loadDriver } from "./store/load-driver.js";
export {
  COUNTED_CODES,
  type CountedCode,
  type DeletedCount,
  type HourCount,
  hourCount,
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
  PublicIdentity,
  RatelimitState,
  RefusalHints,
  RefusedVerdict,
  UnknownVerdict,
  ValidVerdict,
  VerifiedKey,
  VerifyOutcome,
} from "./verification/verdict.js";
export { configuredWindow, durationOfWindow } from "./verification/window-name.js";
