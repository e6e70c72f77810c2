export type { ApiRecord } from "./api.js";
export type { ListedApi } from "./api-view.js";
export type { AuditEvent } from "./audit-event.js";
export {
  CHANGE_TYPES,
  type ChangeFilter,
  type ChangeLog,
  type ChangeRecord,
  type ChangeType,
  type FieldChange,
  type LoggedChange,
  NO_CHANGES,
} from "./change.js";
export {
  applyCharge,
  type ChargePlan,
  type ChargeRequest,
  type ChargeResult,
  type ChargeState,
  type ChargeStep,
  type ChargeWrite,
  type LimitCharge,
  type LimitReading,
  type RememberedCharge,
  type SettledCharge,
} from "./charge.js";
export {
  corruptRecord,
  ERROR_CODES,
  type ErrorCode,
  type InputIssue,
  LatchkeyError,
  type LatchkeyErrorOptions,
} from "./errors.js";
export type {
  EventListener,
  KeyExhaustedEvent,
  KeyExpiredEvent,
  KeyVerifiedEvent,
  LatchkeyEvent,
} from "./event.js";
export { createIdFactory, type IdFactory, type IdKind, type RandomBytes } from "./id.js";
export type { IdentityRecord, LoadedIdentity } from "./identity.js";
export type { FullIdentity } from "./identity-view.js";
export {
  expiryIssues,
  type InputSchema,
  metadata as metadataField,
  noInput,
  parseInput,
  permissionQuery as permissionQueryField,
} from "./input.js";
export {
  DEFAULT_LIMIT,
  type DirectGrants,
  type KeyRateLimit,
  type KeyRecord,
  type LoadedKey,
  type RateLimitType,
} from "./key.js";
export type { WireKeyLimit } from "./key-limits.js";
export type { VerifyScope } from "./key-lookup.js";
export type { KeyRing } from "./key-ring.js";
export type { ListedKey } from "./key-view.js";
export type {
  GrantReference,
  Grants,
  InsertKeysResult,
  KeyPatch,
  MissingGrants,
  NewKey,
  Rotation,
  UpdateKeyResult,
} from "./key-write.js";
export { createLatchkey, type Latchkey, type LatchkeyOptions } from "./latchkey.js";
export type { JsonValue, Metadata } from "./metadata.js";
export type { CreatedKey } from "./new-key.js";
export { addPermissionsInput } from "./operations/add-permissions.js";
export { addRolesInput } from "./operations/add-roles.js";
export type { RootKeyOutcome } from "./operations/authenticate-root-key.js";
export { createApiInput } from "./operations/create-api.js";
export { createIdentityInput } from "./operations/create-identity.js";
export { createKeyInput } from "./operations/create-key.js";
export { createKeysInput, importIssues } from "./operations/create-keys.js";
export { createPermissionInput } from "./operations/create-permission.js";
export { createRoleInput } from "./operations/create-role.js";
export { createRootKeyInput } from "./operations/create-root-key.js";
export { deleteApiInput } from "./operations/delete-api.js";
export { deleteIdentityInput } from "./operations/delete-identity.js";
export { deleteKeyInput } from "./operations/delete-key.js";
export { deleteKeysInput } from "./operations/delete-keys.js";
export { deletePermissionInput } from "./operations/delete-permission.js";
export { deleteRoleInput } from "./operations/delete-role.js";
export { getApiInput } from "./operations/get-api.js";
export { getIdentityInput } from "./operations/get-identity.js";
export { getKeyInput } from "./operations/get-key.js";
export { getPermissionInput } from "./operations/get-permission.js";
export { getRoleInput } from "./operations/get-role.js";
export { getVerificationsInput, type Verifications } from "./operations/get-verifications.js";
export type { ShownWorkspace } from "./operations/get-workspace.js";
export { type LimitAnswer, limitInput } from "./operations/limit.js";
export { type ApiList, listApisInput } from "./operations/list-apis.js";
export { type AuditEventList, listAuditEventsInput } from "./operations/list-audit-events.js";
export { type IdentityList, listIdentitiesInput } from "./operations/list-identities.js";
export { type KeyList, listKeysInput } from "./operations/list-keys.js";
export type { ListedRootKey, RootKeyList } from "./operations/list-root-keys.js";
export { pruneAuditEventsInput } from "./operations/prune-audit-events.js";
export { pruneVerificationsInput } from "./operations/prune-verifications.js";
export { reencryptKeysInput } from "./operations/reencrypt-keys.js";
export { removePermissionsInput } from "./operations/remove-permissions.js";
export { removeRolesInput } from "./operations/remove-roles.js";
export { type RotationScope, rotateKeyInput } from "./operations/rotate-key.js";
export { setPermissionsInput } from "./operations/set-permissions.js";
export { setRolePermissionsInput } from "./operations/set-role-permissions.js";
export { setRolesInput } from "./operations/set-roles.js";
export { updateApiInput } from "./operations/update-api.js";
export { updateIdentityInput } from "./operations/update-identity.js";
export { updateKeyInput } from "./operations/update-key.js";
export { updateRemainingInput } from "./operations/update-remaining.js";
export { type KeySelf, whoamiInput } from "./operations/whoami.js";
export { effectivePermissions, type PermissionQuery } from "./permission.js";
export {
  decideWindow,
  type IdentityRateLimit,
  type NamespacePlan,
  type RateLimit,
  type RateWindow,
  type WindowDecision,
  type WireRateLimit,
} from "./rate-limit.js";
export type { DueRefill, Refill } from "./refill.js";
export type { LoadedRole, NamedGrant, PermissionRecord, RoleRecord } from "./role.js";
export type { ListedPermission, ListedRole } from "./role-view.js";
export type { RootKeyRecord } from "./root-key.js";
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
} from "./root-permission.js";
export type {
  ApiPatch,
  IdentityLookup,
  IdentityPatch,
  KeyStore,
  Page,
  PageRequest,
  Removal,
  UpdateIdentityResult,
} from "./store.js";
export type { Clock, EpochMs, SpanMs } from "./time.js";
export {
  changeUsage,
  NO_USES,
  settleRefill,
  type Usage,
  type UsageChange,
  type UsageChangeResult,
  type UsesOwner,
} from "./usage.js";
export type { NamedRatelimitState, RatelimitState, VerifiedKey, VerifyOutcome } from "./verdict.js";
export type { DryRunOutcome, VerdictCheck } from "./verdict-checks.js";
export type { Granularity, VerificationBucket } from "./verification-buckets.js";
export {
  COUNTED_CODES,
  COUNTER_SPAN_MS,
  type CountedCode,
  type CountSubject,
  type HourCount,
  type SubjectCount,
  type VerificationBatch,
} from "./verification-count.js";
export { verifyKeyInput } from "./verify-question.js";
export {
  DEFAULT_WORKSPACE_ID,
  untouchedWorkspace,
  WORKSPACE_ID_PATTERN,
  type WorkspaceRecord,
} from "./workspace.js";
