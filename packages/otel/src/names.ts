/** Name of the tracer and the meter. */
export const SCOPE = "@latchkey/otel";

/**
 * Attributes of spans and metrics. Those of metrics have few values: the only id is that of an API, and only for a bounded number
 * of APIs.
 */
export const ATTRIBUTE = {
  apiId: "latchkey.api.id",
  cacheHit: "latchkey.cache.hit",
  code: "latchkey.verdict.code",
  /** From the semantic conventions; absent if nothing went wrong. */
  errorType: "error.type",
  keyId: "latchkey.key.id",
  leased: "latchkey.leased",
  operation: "latchkey.operation.name",
  reservationEnd: "latchkey.reservation.end",
  storeMethod: "latchkey.store.method",
  storeResult: "latchkey.store.result",
  workspaceId: "latchkey.workspace.id",
} as const;

/** Metrics. Durations are in seconds, as in the semantic conventions. */
export const METRIC = {
  operationDuration: "latchkey.operation.duration",
  reservations: "latchkey.reservations",
  storeDuration: "latchkey.store.call.duration",
  shadowLimited: "latchkey.verifications.shadow_limited",
  storeRetries: "latchkey.store.retries",
  verificationDuration: "latchkey.verification.duration",
  verifications: "latchkey.verifications",
} as const;

/** Replaces names beyond the maximum. */
export const OTHER = "other";
