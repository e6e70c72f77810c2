/** Every code a {@link LatchkeyError} can carry. The list is closed: switch over it exhaustively. */
export const ERROR_CODES = [
  "BAD_REQUEST",
  "UNAUTHORIZED",
  "FORBIDDEN",
  "INSUFFICIENT_PERMISSIONS",
  "NOT_FOUND",
  "METHOD_NOT_ALLOWED",
  "CONFLICT",
  "PRECONDITION_FAILED",
  "DELETE_PROTECTED",
  "PAYLOAD_TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "INTERNAL_SERVER_ERROR",
  "STORE_CORRUPT",
  "STORE_UNAVAILABLE",
] as const;

/** One code of {@link ERROR_CODES}. */
export type ErrorCode = (typeof ERROR_CODES)[number];

/** Why, where one code has several causes. The list is closed. */
export const ERROR_REASONS = [
  /** `PRECONDITION_FAILED`: roles or permissions do not exist; `details.missing` names them. */
  "missing-grants",
  /** `PRECONDITION_FAILED`: the key would hold more roles or permissions than `details.limit`. */
  "too-many-grants",
  /** `PRECONDITION_FAILED`: above a ceiling of the API; `details` names the field, and its `limit`. */
  "above-ceiling",
  /** `PRECONDITION_FAILED`: no vault is configured. */
  "no-vault",
  /** `PRECONDITION_FAILED`: no keys for tokens are configured. */
  "no-token-keys",
  /** `PRECONDITION_FAILED`: the vault's ring no longer has the key that sealed the secret. */
  "vault-key-missing",
  /** `PRECONDITION_FAILED`: fewer uses are left than were to be taken; `details.remaining` says how many, and `details.reserved` what is held beside them. */
  "insufficient-uses",
  /** `PRECONDITION_FAILED`: a key without uses left cannot be enabled. */
  "no-uses-left",
  /** `PRECONDITION_FAILED`: the uses are those of the key's identity. */
  "uses-from-identity",
  /** `PRECONDITION_FAILED`: uses are not counted here, with `usage: false`; `details.field` says what needs them. */
  "usage-off",
  /** `PRECONDITION_FAILED`: the key has expired. */
  "key-expired",
  /** `PRECONDITION_FAILED`: the driver of the store, or the library for tokens, is missing; the message says which command mends that. */
  "driver-missing",
  /** `PRECONDITION_FAILED` and `CONFLICT`: the key was rotated. */
  "key-rotated",
  /** `CONFLICT`: the name, `externalId` or secret is taken; `details.field` says which. */
  "taken",
  /** `CONFLICT`: the `requestId` was used for another question. */
  "request-id-reused",
  /** `CONFLICT`: the `idempotencyKey` was used for a write with another input. */
  "idempotency-key-reused",
  /** `PRECONDITION_FAILED`: as many reservations are open as may be; `details.limit` says how many. */
  "too-many-reservations",
  /** `PRECONDITION_FAILED`: more was used than is reserved; `details.reserved` says what is. */
  "over-reservation",
  /** `PRECONDITION_FAILED`: the time of the reservation has passed, and what it held was given back. */
  "reservation-expired",
  /** `CONFLICT`: the reservation was settled or released before: with other figures, or it was to be renewed. */
  "reservation-ended",
  /** `PRECONDITION_FAILED`: only `details.limit` keys can be put in that order. */
  "too-many-keys",
  /** `PRECONDITION_FAILED`: events that follow the cursor were deleted by `pruneAuditEvents`. */
  "pruned",
  /** `PRECONDITION_FAILED`: the store does not have the event that the cursor names: it was restored, or is another one. */
  "unknown-position",
  /** `PRECONDITION_FAILED`: there are no events with `auditLog: false`. */
  "no-audit-log",
  /** `FORBIDDEN`: the workspace is disabled. */
  "workspace-disabled",
  /** `BAD_REQUEST`: a limit that neither the key nor its identity has; `details` names the key, and the first such limit. */
  "unknown-limit",
  /** `STORE_UNAVAILABLE`: a copy or a restore to this store has not come to its end. */
  "incomplete",
  /** `STORE_UNAVAILABLE`: the keys have moved to another store. */
  "moved",
  /** `STORE_UNAVAILABLE`: the workspace is being deleted. */
  "deleting",
] as const;

/** One of {@link ERROR_REASONS}. */
export type ErrorReason = (typeof ERROR_REASONS)[number];

/** Figures and names behind an error. Each is present only where its reason says so. Never a secret or a hash. */
export interface ErrorDetails {
  /** Roles and permissions that do not exist, by the name or id that was given. */
  readonly missing?: { readonly roles: readonly string[]; readonly permissions: readonly string[] };
  /** Uses left: a whole number >= 0. */
  readonly remaining?: number;
  /** The input field that it is about. */
  readonly field?: string;
  /** The bound that was exceeded; of permissions the names that cover what may be given. */
  readonly limit?: number | readonly string[];
  /** Id of the key. */
  readonly keyId?: string;
  /** Name of the limit, where the program stated it: one of a request is a value of the caller's, and in no error. */
  readonly name?: string;
  /** What a reservation holds: uses, and units of its limits. Of `insufficient-uses`: the uses that reservations and leases hold. */
  readonly reserved?: {
    readonly uses: number;
    readonly ratelimits: readonly { readonly name: string; readonly cost: number }[];
  };
}

/** One thing wrong with an input: where (`refill.amount`, `ratelimits.0.name`) and what the bound is. */
export interface InputIssue {
  /** Path of the field, members joined by dots; empty when the input as a whole is meant. */
  readonly path: string;
  /** What the field must be. It never repeats the value that was given, unless the program's own schema of metadata does. */
  readonly message: string;
}

/** What a {@link LatchkeyError} may carry beside its code and message. */
export interface LatchkeyErrorOptions {
  readonly issues?: readonly InputIssue[];
  readonly cause?: unknown;
  readonly reason?: ErrorReason;
  readonly details?: ErrorDetails;
  /** `STORE_UNAVAILABLE` only: whether the change is known not to have happened. */
  readonly outcome?: "not-applied" | "unknown";
}

/**
 * The one error class of latchkey: a promise that could not be kept, with a code from a closed list.
 *
 * Messages, issues and every other field are free of secrets, hashes and caller-supplied values. What a program's own schema says of
 * metadata is passed on as it is.
 */
export class LatchkeyError extends Error {
  override readonly name = "LatchkeyError";
  readonly code: ErrorCode;
  /** Every bad field of a `BAD_REQUEST`, all at once. Empty for other codes. */
  readonly issues: readonly InputIssue[];
  /**
   * Whether a change whose answer was lost is known not to have happened. `unknown` means that it may
   * or may not have been applied; only `STORE_UNAVAILABLE` carries it.
   */
  readonly outcome: "not-applied" | "unknown" | undefined;

  /** Why, where the code has several causes. */
  readonly reason: ErrorReason | undefined;
  /** What the reason is about; empty where there is no more to say. */
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, options: LatchkeyErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.issues = options.issues ?? [];
    this.outcome = options.outcome;
    this.reason = options.reason;
    this.details = options.details ?? {};
  }
}

/** A `BAD_REQUEST` about the given fields; its message lists them all. */
export function badRequest(
  issues: readonly InputIssue[],
  why: Pick<LatchkeyErrorOptions, "reason" | "details"> = {},
): LatchkeyError {
  const listed = issues.map(({ path, message }) =>
    path === "" ? message : `"${path}" ${message}`,
  );
  return new LatchkeyError("BAD_REQUEST", listed.join("; "), { ...why, issues });
}

/**
 * What a store throws when a stored record cannot be what latchkey wrote. The verification or
 * operation that met it fails closed.
 *
 * @param what - The kind and id of the record, never its content: `key key_123`.
 */
export function corruptRecord(what: string, cause?: unknown): LatchkeyError {
  return new LatchkeyError("STORE_CORRUPT", `the stored ${what} is damaged and was not used`, {
    cause,
  });
}

/** What a store throws while it cannot be used. @param outcome - `unknown` where a change may have been applied all the same. */
export function unavailable(
  message: string,
  outcome: LatchkeyErrorOptions["outcome"] = "not-applied",
): LatchkeyError {
  return new LatchkeyError("STORE_UNAVAILABLE", message, { outcome });
}

/** The same for a call whose answer did not come: a write may have happened, and may still happen. */
export function noAnswer(isWrite: boolean, message: string): LatchkeyError {
  return unavailable(message, isWrite ? "unknown" : "not-applied");
}

/** What a store throws where what it is to keep its records in is not fit for that. */
export function unfit(message: string): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", message);
}

/** Whether an error says that a stored record cannot be read. */
export function isCorruptRecord(error: unknown): error is LatchkeyError {
  return error instanceof LatchkeyError && error.code === "STORE_CORRUPT";
}
