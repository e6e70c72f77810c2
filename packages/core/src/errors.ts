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

/** One thing wrong with an input: where (`refill.amount`, `ratelimits.0.name`) and what the bound is. */
export interface InputIssue {
  /** Path of the field, members joined by dots; empty when the input as a whole is meant. */
  readonly path: string;
  /** What the field must be. Never repeats the value that was given. */
  readonly message: string;
}

/** What a {@link LatchkeyError} may carry beside its code and message. */
export interface LatchkeyErrorOptions {
  readonly issues?: readonly InputIssue[];
  readonly cause?: unknown;
  /** `STORE_UNAVAILABLE` only: whether the change is known not to have happened. */
  readonly outcome?: "not-applied" | "unknown";
}

/**
 * The one error class of latchkey: a promise that could not be kept, with a code from a closed list.
 *
 * Messages, issues and every other field are free of secrets, hashes and caller-supplied values.
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

  constructor(code: ErrorCode, message: string, options: LatchkeyErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.issues = options.issues ?? [];
    this.outcome = options.outcome;
  }
}

/** A `BAD_REQUEST` about the given fields; its message lists them all. */
export function badRequest(issues: readonly InputIssue[]): LatchkeyError {
  const listed = issues.map(({ path, message }) =>
    path === "" ? message : `"${path}" ${message}`,
  );
  return new LatchkeyError("BAD_REQUEST", listed.join("; "), { issues });
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
