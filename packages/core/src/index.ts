export { connectionProblem } from "./adapters/connection-problem.js";
export { type HeldRecords, isVersion, judgeChange } from "./adapters/judge-change.js";
export {
  type DriverManifest,
  driverError,
  loadDriver,
  refuseLaterDriver,
  requireFrom,
} from "./adapters/load-driver.js";
export {
  type HoldRows,
  plainCharge,
  plainHoldBook,
  plainPage,
  plainSettle,
  plainStatistics,
  type SumName,
  type SumRows,
  type WorkspaceBook,
} from "./adapters/plain-store.js";
export { isDigest, requestName } from "./adapters/stored-names.js";
export {
  FIRST_WINDOW,
  readUsage,
  SCAN_PAGE,
  type StoredParts,
  scannedNames,
  storedState,
  VIEW_FIELDS,
} from "./adapters/stored-rows.js";
export {
  holdSumsText,
  holdText,
  limitStateText,
  limitsText,
  parseHold,
  parseHoldSums,
  parseLimitState,
  parseRememberedEnd,
  readChargeText,
  rememberedEndText,
} from "./adapters/stored-text.js";
export { withTimeout } from "./adapters/with-timeout.js";
export type {
  ChangeEvent,
  EventListener,
  KeyExhaustedEvent,
  KeyExpiredEvent,
  KeyVerifiedEvent,
  LatchkeyEvent,
  ReservationExpiredEvent,
  ReservationSettledEvent,
  StoreFailedEvent,
} from "./audit/emitter.js";
export type { AuditEvent } from "./audit/entry.js";
export type { Latchkey } from "./bound-latchkey.js";
export {
  corruptRecord,
  ERROR_CODES,
  ERROR_REASONS,
  type ErrorCode,
  type ErrorDetails,
  type ErrorReason,
  type InputIssue,
  isCorruptRecord,
  LatchkeyError,
  type LatchkeyErrorOptions,
  noAnswer,
  unavailable,
  unfit,
} from "./errors.js";
export { createLatchkey, type LatchkeyOptions } from "./latchkey.js";
export { decodeBase58 } from "./lib/base58.js";
export type { ErrorListener } from "./lib/error-listener.js";
export { createIdFactory, type IdFactory, type IdKind, type RandomBytes } from "./lib/id.js";
export { deepFrozen, isDeeperThan, type JsonValue } from "./lib/json.js";
export { lazyMembers, type MemberMakers } from "./lib/lazy-members.js";
export { meantHint } from "./lib/near-name.js";
export {
  assertOption,
  assertSwitch,
  assertWholeOption,
  readOptions,
  type SettingsOf,
} from "./lib/options.js";
export { type OwnFields, ownFieldsOf } from "./lib/own-fields.js";
export { type InputSchema, parseInput } from "./lib/parse-input.js";
export type {
  StandardIssue,
  StandardPathPart,
  StandardResult,
  StandardSchema,
} from "./lib/standard-schema.js";
export { isWhole, parseWhole } from "./lib/whole.js";
export type { ApiList, ApiView, CreatedApi, EnsuredApi } from "./operations/apis/apis.js";
export type { DeadDelivery, KeptDeadLetters } from "./operations/deliveries/dead-letters.js";
export {
  type Deliveries,
  type DeliveryChanges,
  type DeliveryState,
  deliveriesOf,
} from "./operations/deliveries/deliveries.js";
export type { AuditEventList, PrunedCount } from "./operations/events/audit-log.js";
export type { NoticedCount } from "./operations/events/notice.js";
export type { EventPage } from "./operations/events/read-events.js";
export type {
  CreatedIdentity,
  CreateIdentityScope,
  DeletedIdentity,
  ErasedIdentity,
  IdentityList,
  IdentityView,
  ListedIdentity,
} from "./operations/identities/operations.js";
export type { IdentityReference } from "./operations/identities/reference.js";
export {
  metadata as metadataField,
  noInput,
  type PageInput,
  permissionQuery as permissionQueryField,
} from "./operations/input.js";
export { importIssues } from "./operations/keys/create-keys.js";
export type { GrantInput } from "./operations/keys/grant-input.js";
export type { KeyPermissions, KeyRoles } from "./operations/keys/grants.js";
export type {
  CreatedKeys,
  CreateKeysOptions,
  ImportedKeyResult,
  PartlyCreatedKeys,
} from "./operations/keys/import-input.js";
export { isKeyInList } from "./operations/keys/load.js";
export type {
  CreatedKey,
  FoundKeys,
  KeyList,
  ListKeysInput,
  ListKeysScope,
  Reencrypted,
  RemainingUses,
  RotationScope,
} from "./operations/keys/operations.js";
export {
  type KeyView,
  keySettings,
  type PlaintextError,
  type WireKeyLimit,
} from "./operations/keys/view.js";
export type { Leak, LeakAction, LeakedKey, LeakScope, ReportedLeaks } from "./operations/leaks.js";
export type {
  IdentityLimitInput,
  KeyLimitInput,
  LimitFiguresInput,
  NamedKeyLimitInput,
} from "./operations/limit-input.js";
export { LIST_MAKERS, type ListIterator } from "./operations/lists.js";
export type {
  DeletedKeys,
  DisabledKeys,
  EnabledKeys,
  KeysReference,
  UpdateKeysInput,
} from "./operations/many-keys/operations.js";
export {
  type InputOf,
  isRepeatable,
  OPERATIONS,
  type OperationName,
  type Operations,
} from "./operations/operations.js";
export type {
  CreatedPortalSession,
  PortalAllow,
  PortalSession,
  PortalSessionInput,
} from "./operations/portal-sessions/operations.js";
export type { LimitAnswer } from "./operations/rate-limits.js";
export type { PageInfo } from "./operations/read.js";
export type {
  BesideInput,
  RepeatableInput,
  RepeatScope,
  SecretShownBefore,
} from "./operations/repeats/repetition-input.js";
export type {
  RenewedReservation,
  ReservationList,
  ReservationView,
  ReserveOutcome,
  SettledReservation,
  SettleInput,
} from "./operations/reservations/operations.js";
export type {
  CreatedPermission,
  CreatedRole,
  EnsuredPermissions,
  EnsuredRole,
  PermissionView,
  RoleView,
} from "./operations/roles/operations.js";
export type {
  CreatedRootKey,
  RootKeyList,
  RootKeyOutcome,
  RootKeyScope,
  RootKeyView,
} from "./operations/root-keys/operations.js";
export type { UsagePage, Verifications } from "./operations/statistics.js";
export { expiryIssues } from "./operations/time-input.js";
export type { ExchangeKeyInput, ExchangeOutcome } from "./operations/tokens.js";
export type { RefillInput, RefillView } from "./operations/uses-and-refill.js";
export type { Costed, RequestedLimit } from "./operations/verify-key/input.js";
export type { KeySummary, VerifyScope } from "./operations/verify-key/operations.js";
export type {
  Verifier,
  VerifierCall,
  VerifierInput,
  VerifierLimit,
} from "./operations/verify-key/verifier.js";
export type { CreatedWorkspace, WorkspaceList, WorkspaceView } from "./operations/workspaces.js";
export { AUDIT_TYPES, type AuditType, type FieldChange } from "./records/audit-entry.js";
export type { Delivery, EndpointPlace, Sender } from "./records/delivery.js";
export {
  KEY_LABELS,
  type KeyLabel,
  type KeyLabels,
  keysOfApi,
  labelsOf,
  type RateLimitType,
} from "./records/key.js";
export { layoutOf, RECORD_LISTS, type RecordLayout } from "./records/layout.js";
export {
  KIND_CODE,
  RECORD_KINDS,
  type RecordKind,
  type StoredRecord,
} from "./records/record-type.js";
export { DIRECTORY_ID } from "./records/root-key.js";
export { DEFAULT_WORKSPACE_ID, WORKSPACE_ID_PATTERN } from "./records/workspace.js";
export {
  ADDRESS_RANGE_ERROR,
  canonicalAddress,
  canonicalAddressRange,
  isAddressListed,
} from "./rules/address.js";
export { DURATION_ERROR, type Duration, durationMs } from "./rules/duration.js";
export {
  type HeldLimit,
  type Hold,
  type HoldSums,
  isLease,
  isSlotsOfAnother,
  slotsIdOf,
} from "./rules/hold.js";
export { LEAK_POLICIES, type LeakPolicy } from "./rules/keys/leak.js";
export type {
  DefaultTypes,
  LatchkeyTypes,
  LimitName,
  MetadataInput,
  MetaSchema,
  PermissionName,
  TypesOf,
} from "./rules/latchkey-types.js";
export {
  afterTaking,
  endsAt,
  limitAt,
  refillMs,
  roomOf,
  type Taking,
  takingsOf,
} from "./rules/limit-algorithm.js";
export {
  kindOfWindow,
  LIMIT_ALGORITHMS,
  type LimitAlgorithm,
  type LimitFigures,
  type LimitKind,
  type LimitState,
  limitNameOf,
  MOST_EARLIER,
} from "./rules/limit-state.js";
export type { Metadata } from "./rules/metadata.js";
export type { PermissionQuery } from "./rules/permission.js";
export {
  fromWireFigures,
  type RateLimit,
  toWireFigures,
  type WireLimitFigures,
  type WireRateLimit,
} from "./rules/rate-limit.js";
export { KEPT_AFTER_END_MS, windowStartAt } from "./rules/rate-window.js";
export type { DueRefill, Refill } from "./rules/refill.js";
export {
  API_ACTIONS,
  AUDIT_ACTIONS,
  EVENT_ACTIONS,
  IDENTITY_ACTIONS,
  isRootAllowed,
  isRootPermission,
  RATELIMIT_ACTIONS,
  RBAC_ACTIONS,
  ROOT_KEY_ACTIONS,
  type RootPermission,
  rootPermissionName,
  USAGE_ACTIONS,
} from "./rules/root-permission.js";
export { createSecretHasher, pepperIdOf, type SecretHasher } from "./secrets/hash.js";
export type { KeyRing } from "./secrets/key-ring.js";
export { secretStart } from "./secrets/shown-start.js";
export type { TokenKeyRing, TokenKeySet, TokenPublicKey } from "./secrets/token-signer.js";
export { createVault } from "./secrets/vault.js";
export type { Granularity, VerificationBucket } from "./statistics/buckets.js";
export { USAGE_SUBJECTS, type UsageRow, type UsageSubject } from "./statistics/usage-rows.js";
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
  AS_STORED,
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeRequest,
  type ChargeResult,
  type ChargeState,
  type ChargeStep,
  type ChargeWrite,
  type HoldPlan,
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
export { endOfLease } from "./store/held-leases.js";
export { interceptStore, type StoreMethod } from "./store/intercept.js";
export type {
  KeyStore,
  LoadedRecord,
  LogPlace,
  PageResult,
  PageWant,
  ReadResult,
  ScanResult,
  StoredRecordState,
  Want,
  WindowScanResult,
} from "./store/key-store.js";
export { allHolds, stateOfReading } from "./store/read-counters.js";
export {
  applyHoldStep,
  type EndedHold,
  type EndStep,
  type FoundHold,
  type HoldBook,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  MOST_ENDED_AT_ONCE,
  REMEMBER_END_MS,
  type RememberedEnd,
  type UsedLimit,
  type UsedUnits,
} from "./store/settle.js";
export {
  type ChargeCounts,
  COUNTED_CODES,
  type CodeSums,
  type CountedCode,
  type DeletedCount,
  type HourCount,
  hourCount,
  MOST_SUMS_A_DAY,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsPage,
  type StatisticsPageWant,
  type StatisticsRange,
  type StatisticsSubject,
  SUBJECT_CODE,
  SUM_CODES,
  type SubjectCount,
  type SumCode,
  wholeSubjects,
} from "./store/statistics.js";
export { countedByCharge, countedBySettle } from "./store/step-counts.js";
export {
  leaseTimesOf,
  STATE_ADDRESS,
  stateOf,
  stateRecord,
  trailList,
  type WorkspaceState,
} from "./store/workspace-state.js";
export { type Clock, type EpochMs, LAST_INSTANT, type SpanMs } from "./time.js";
export type { DryRunOutcome, VerdictCheck } from "./verification/dry-run.js";
export { configuredWindow } from "./verification/limit-precedence.js";
export type { NamedGrant } from "./verification/loaded-key.js";
export type { LimitCost } from "./verification/question.js";
export type {
  DisabledWorkspaceVerdict,
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
