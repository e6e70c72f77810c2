/** Name of the tracer and the meter. */
export const SCOPE = "@latchkey/otel";

/** Attributes of spans and metrics. Those of metrics have few values each: never an id but that of an API, and of these only so many. */
export const ATTRIBUTE = {
  apiId: "latchkey.api.id",
  cacheHit: "latchkey.cache.hit",
  code: "latchkey.verdict.code",
  /** Of the semantic conventions; absent where nothing went wrong. */
  errorType: "error.type",
  keyId: "latchkey.key.id",
  leased: "latchkey.leased",
  operation: "latchkey.operation.name",
  reservationEnd: "latchkey.reservation.end",
  storeMethod: "latchkey.store.method",
  storeResult: "latchkey.store.result",
  workspaceId: "latchkey.workspace.id",
} as const;

/** Metrics. Durations are in seconds, as the semantic conventions have it. */
export const METRIC = {
  operationDuration: "latchkey.operation.duration",
  reservations: "latchkey.reservations",
  storeDuration: "latchkey.store.call.duration",
  shadowLimited: "latchkey.verifications.shadow_limited",
  storeRetries: "latchkey.store.retries",
  verificationDuration: "latchkey.verification.duration",
  verifications: "latchkey.verifications",
} as const;

/** What takes the place of names that are one too many. */
export const OTHER = "other";
