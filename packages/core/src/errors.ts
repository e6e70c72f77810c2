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

/** Reasons, for codes that have several causes. The list is closed. */
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
  /** `PRECONDITION_FAILED`: the ring no longer has the pepper that the secret is to be compared under. */
  "pepper-missing",
  /** `PRECONDITION_FAILED`: a decrement of more uses than are left (`details.remaining`; `details.reserved` are held). */
  "insufficient-uses",
  /** `PRECONDITION_FAILED`: a key without uses left cannot be enabled. */
  "no-uses-left",
  /** `PRECONDITION_FAILED`: the key takes its uses from its identity. */
  "uses-from-identity",
  /** `PRECONDITION_FAILED`: `details.field` does not work with `usage: false`. */
  "usage-off",
  /** `PRECONDITION_FAILED`: the key has expired. */
  "key-expired",
  /** `PRECONDITION_FAILED`: the driver of the store, or the library for tokens, is missing; the message has the command to install it. */
  "driver-missing",
  /** `PRECONDITION_FAILED` and `CONFLICT`: the key was rotated. */
  "key-rotated",
  /** `CONFLICT`: the name, `externalId` or secret is taken; `details.field` says which. */
  "taken",
  /** `CONFLICT`: the `requestId` was used for another question. */
  "request-id-reused",
  /** `CONFLICT`: the `idempotencyKey` was used for a write with another input. */
  "idempotency-key-reused",
  /** `PRECONDITION_FAILED`: `details.limit` reservations are open. */
  "too-many-reservations",
  /** `PRECONDITION_FAILED`: the work cost more than was reserved (`details.reserved`). */
  "over-reservation",
  /** `PRECONDITION_FAILED`: the reservation has expired, and what it held was returned. */
  "reservation-expired",
  /** `CONFLICT`: the reservation was settled or released before, with other figures, or cannot be renewed any more. */
  "reservation-ended",
  /** `PRECONDITION_FAILED`: at most `details.limit` keys can be sorted in that order. */
  "too-many-keys",
  /** `PRECONDITION_FAILED`: events that follow the cursor were deleted by `pruneAuditEvents`. */
  "pruned",
  /** `PRECONDITION_FAILED`: the store does not have the event that the cursor names: it was restored, or is another store. */
  "unknown-position",
  /** `PRECONDITION_FAILED`: with `auditLog: false`, there are no events. */
  "no-audit-log",
  /** `FORBIDDEN`: the workspace is disabled. */
  "workspace-disabled",
  /** `BAD_REQUEST`: neither the key (`details.keyId`) nor its identity has the limit. */
  "unknown-limit",
  /** `STORE_UNAVAILABLE`: a copy or a restore to this store is not finished. */
  "incomplete",
  /** `STORE_UNAVAILABLE`: the keys have moved to another store. */
  "moved",
  /** `STORE_UNAVAILABLE`: the workspace is being deleted. */
  "deleting",
] as const;

/** One of {@link ERROR_REASONS}. */
export type ErrorReason = (typeof ERROR_REASONS)[number];

/** Figures and names behind an error, depending on its reason. Never a secret or a hash. */
export interface ErrorDetails {
  /** Roles and permissions that do not exist, by the given name or id. */
  readonly missing?: { readonly roles: readonly string[]; readonly permissions: readonly string[] };
  /** Uses left: a whole number >= 0. */
  readonly remaining?: number;
  /** The input field that it is about. */
  readonly field?: string;
  /** The bound that was exceeded; for permissions, the names and wildcards that may be given. */
  readonly limit?: number | readonly string[];
  /** Id of the key. */
  readonly keyId?: string;
  /** Name of the limit, if the program set it; never one from a request. */
  readonly name?: string;
  /** What a reservation holds: uses, and units of its limits. With `insufficient-uses`: uses held by reservations and leases. */
  readonly reserved?: {
    readonly uses: number;
    readonly ratelimits: readonly { readonly name: string; readonly cost: number }[];
  };
}

/** One thing wrong with an input: where (`refill.amount`, `ratelimits.0.name`) and what the bound is. */
export interface InputIssue {
  /** Path of the field, joined by dots; empty for the input as a whole. */
  readonly path: string;
  /** What the field must be. It never repeats the value, unless your own schema of metadata does. */
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
 * The error class of latchkey, with a code from a closed list.
 *
 * No field contains a secret, a hash or a value from the caller, except issues that come from your own schema of metadata.
 */
export class LatchkeyError extends Error {
  override readonly name = "LatchkeyError";
  readonly code: ErrorCode;
  /** Every wrong field of a `BAD_REQUEST`. Empty for other codes. */
  readonly issues: readonly InputIssue[];
  /** `STORE_UNAVAILABLE` only: whether the change is known not to have happened. `unknown`: it may have been applied. */
  readonly outcome: "not-applied" | "unknown" | undefined;

  /** Why, if the code has several causes. */
  readonly reason: ErrorReason | undefined;
  /** Details of the reason; may be empty. */
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

/** Also accepts errors of other copies of this package, which a process may have loaded. Subclasses are told apart as usual. */
Object.defineProperty(LatchkeyError, Symbol.hasInstance, {
  value(this: unknown, value: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, value)) return true;
    if (this !== LatchkeyError || !(value instanceof Error)) return false;
    return value.name === "LatchkeyError" && Object.hasOwn(value, "code");
  },
});

/** Messages about several fields, which need no path in front. */
const NAMES_ITS_FIELDS = /^exactly one of /;

/** Most issues that a message lists: a list of 100 keys may have as many of each kind. */
const MAX_LISTED = 10;

/** A `BAD_REQUEST` about the given fields. `issues` has them all; its message lists the first ten and counts the rest. */
export function badRequest(
  issues: readonly InputIssue[],
  why: Pick<LatchkeyErrorOptions, "reason" | "details"> = {},
): LatchkeyError {
  const listed = issues.slice(0, MAX_LISTED).map(({ path, message }) => {
    if (path !== "") return NAMES_ITS_FIELDS.test(message) ? message : `"${path}" ${message}`;
    // The whole input may be a list, which has no name.
    return /^(?:must|is) /.test(message) ? `the input ${message}` : message;
  });
  if (issues.length > MAX_LISTED) listed.push(`and ${issues.length - MAX_LISTED} more`);
  return new LatchkeyError("BAD_REQUEST", listed.join("; "), { ...why, issues });
}

/** A `BAD_REQUEST` about one field. */
export function badField(path: string, message: string): LatchkeyError {
  return badRequest([{ path, message }]);
}

/** The error for a damaged record: whatever meets it fails closed. `what`: its kind and id, never its content: `key key_123`. */
export function corruptRecord(what: string, cause?: unknown): LatchkeyError {
  return new LatchkeyError("STORE_CORRUPT", `the stored ${what} is damaged and was not used`, {
    cause,
  });
}

/** The error of a store that cannot be used. `outcome`: `unknown` if a change may have been applied. */
export function unavailable(
  message: string,
  outcome: LatchkeyErrorOptions["outcome"] = "not-applied",
): LatchkeyError {
  return new LatchkeyError("STORE_UNAVAILABLE", message, { outcome });
}

/** Like {@link unavailable}, for a call without an answer: a write may have happened, or may still happen. */
export function noAnswer(isWrite: boolean, message: string): LatchkeyError {
  return unavailable(message, isWrite ? "unknown" : "not-applied");
}

/** A `PRECONDITION_FAILED` with its reason. */
export function unmet(
  reason: ErrorReason,
  message: string,
  details: ErrorDetails = {},
): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", message, { reason, details });
}

/** A `CONFLICT` with its reason. */
export function conflict(reason: ErrorReason, message: string, details: ErrorDetails = {}) {
  return new LatchkeyError("CONFLICT", message, { reason, details });
}

/** A `CONFLICT` about a name, `externalId` or secret that another record has. */
export function taken(field: string, message: string): LatchkeyError {
  return conflict("taken", message, { field });
}

/** The error for a server or file that a store cannot use. */
export function unfit(message: string): LatchkeyError {
  return new LatchkeyError("PRECONDITION_FAILED", message);
}

/** Whether an error has this code. */
export function hasCode(error: unknown, code: ErrorCode): error is LatchkeyError {
  return error instanceof LatchkeyError && error.code === code;
}

/** Whether an error says that a stored record cannot be read. */
export function isCorruptRecord(error: unknown): error is LatchkeyError {
  return hasCode(error, "STORE_CORRUPT");
}
