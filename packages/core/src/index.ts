export type { ApiRecord } from "./records/api.js";
export type { ListedApi } from "./operations/apis/view.js";
export type { AuditEvent } from "./audit/event.js";
export {
  CHANGE_TYPES,
  type ChangeFilter,
  type ChangeLog,
  type ChangeRecord,
  type ChangeType,
  type FieldChange,
  type LoggedChange,
  NO_CHANGES,
} from "./records/audit-entry.js";
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
} from "./store/wide-charge.js";
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
} from "./audit/emitter.js";
export { createIdFactory, type IdFactory, type IdKind, type RandomBytes } from "./lib/id.js";
export type { IdentityRecord, LoadedIdentity } from "./records/identity.js";
export type { FullIdentity } from "./operations/identities/view.js";
export {
  expiryIssues,
  type InputSchema,
  metadata as metadataField,
  noInput,
  parseInput,
  permissionQuery as permissionQueryField,
} from "./operations/input.js";
export {
  DEFAULT_LIMIT,
  type DirectGrants,
  type KeyRateLimit,
  type KeyRecord,
  type LoadedKey,
  type RateLimitType,
} from "./records/key.js";
export type { WireKeyLimit } from "./operations/keys/limits.js";
export type { VerifyScope } from "./verification/key-lookup.js";
export type { KeyRing } from "./secrets/key-ring.js";
export type { ListedKey } from "./operations/keys/view.js";
export type {
  GrantReference,
  Grants,
  InsertKeysResult,
  KeyPatch,
  MissingGrants,
  NewKey,
  Rotation,
  UpdateKeyResult,
} from "./operations/keys/write.js";
export { createLatchkey, type Latchkey, type LatchkeyOptions } from "./latchkey.js";
export type { JsonValue, Metadata } from "./rules/metadata.js";
export type { CreatedKey } from "./operations/keys/build.js";
export { addPermissionsInput } from "./operations/keys/add-permissions.js";
export { addRolesInput } from "./operations/keys/add-roles.js";
export type { RootKeyOutcome } from "./operations/root-keys/authenticate-root-key.js";
export { createApiInput } from "./operations/apis/create-api.js";
export { createIdentityInput } from "./operations/identities/create-identity.js";
export { createKeyInput } from "./operations/keys/create-key.js";
export { createKeysInput, importIssues } from "./operations/keys/create-keys.js";
export { createPermissionInput } from "./operations/permissions/create-permission.js";
export { createRoleInput } from "./operations/roles/create-role.js";
export { createRootKeyInput } from "./operations/root-keys/create-root-key.js";
export { deleteApiInput } from "./operations/apis/delete-api.js";
export { deleteIdentityInput } from "./operations/identities/delete-identity.js";
export { deleteKeyInput } from "./operations/keys/delete-key.js";
export { deleteKeysInput } from "./operations/keys/delete-keys.js";
export { deletePermissionInput } from "./operations/permissions/delete-permission.js";
export { deleteRoleInput } from "./operations/roles/delete-role.js";
export { getApiInput } from "./operations/apis/get-api.js";
export { getIdentityInput } from "./operations/identities/get-identity.js";
export { getKeyInput } from "./operations/keys/get-key.js";
export { getPermissionInput } from "./operations/permissions/get-permission.js";
export { getRoleInput } from "./operations/roles/get-role.js";
export { getVerificationsInput, type Verifications } from "./operations/statistics/get-verifications.js";
export type { ShownWorkspace } from "./operations/workspaces/get-workspace.js";
export { type LimitAnswer, limitInput } from "./operations/rate-limits/limit.js";
export { type ApiList, listApisInput } from "./operations/apis/list-apis.js";
export { type AuditEventList, listAuditEventsInput } from "./operations/audit-log/list-audit-events.js";
export { type IdentityList, listIdentitiesInput } from "./operations/identities/list-identities.js";
export { type KeyList, listKeysInput } from "./operations/keys/list-keys.js";
export type { ListedRootKey, RootKeyList } from "./operations/root-keys/list-root-keys.js";
export { pruneAuditEventsInput } from "./operations/audit-log/prune-audit-events.js";
export { pruneVerificationsInput } from "./operations/statistics/prune-verifications.js";
export { reencryptKeysInput } from "./operations/keys/reencrypt-keys.js";
export { removePermissionsInput } from "./operations/keys/remove-permissions.js";
export { removeRolesInput } from "./operations/keys/remove-roles.js";
export { type RotationScope, rotateKeyInput } from "./operations/keys/rotate-key.js";
export { setPermissionsInput } from "./operations/keys/set-permissions.js";
export { setRolePermissionsInput } from "./operations/roles/set-role-permissions.js";
export { setRolesInput } from "./operations/keys/set-roles.js";
export { updateApiInput } from "./operations/apis/update-api.js";
export { updateIdentityInput } from "./operations/identities/update-identity.js";
export { updateKeyInput } from "./operations/keys/update-key.js";
export { updateRemainingInput } from "./operations/keys/update-remaining.js";
export { type KeySelf, whoamiInput } from "./operations/keys/whoami.js";
export { effectivePermissions, type PermissionQuery } from "./rules/permission.js";
export {
  decideWindow,
  type IdentityRateLimit,
  type NamespacePlan,
  type RateLimit,
  type RateWindow,
  type WindowDecision,
  type WireRateLimit,
} from "./rules/rate-limit.js";
export type { DueRefill, Refill } from "./rules/refill.js";
export type { LoadedRole, NamedGrant, PermissionRecord, RoleRecord } from "./records/role.js";
export type { ListedPermission, ListedRole } from "./operations/roles/view.js";
export type { RootKeyRecord } from "./records/root-key.js";
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
export type {
  ApiPatch,
  IdentityLookup,
  IdentityPatch,
  KeyStore,
  Page,
  PageRequest,
  Removal,
  UpdateIdentityResult,
} from "./store/wide-store.js";
export type { Clock, EpochMs, SpanMs } from "./time.js";
export {
  changeUsage,
  NO_USES,
  settleRefill,
  type Usage,
  type UsageChange,
  type UsageChangeResult,
  type UsesOwner,
} from "./rules/usage.js";
export type { NamedRatelimitState, RatelimitState, VerifiedKey, VerifyOutcome } from "./verification/verdict.js";
export type { DryRunOutcome, VerdictCheck } from "./verification/checks.js";
export type { Granularity, VerificationBucket } from "./statistics/buckets.js";
export {
  COUNTED_CODES,
  COUNTER_SPAN_MS,
  type CountedCode,
  type CountSubject,
  type HourCount,
  type SubjectCount,
  type VerificationBatch,
} from "./statistics/count.js";
export { verifyKeyInput } from "./operations/verify-key/input.js";
export {
  DEFAULT_WORKSPACE_ID,
  untouchedWorkspace,
  WORKSPACE_ID_PATTERN,
  type WorkspaceRecord,
} from "./records/workspace.js";
