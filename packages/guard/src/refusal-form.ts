import type { ErrorCode } from "@latchkey/core";
import type { RefusalCode } from "./refusal.js";

/** The response for a refusal, whatever the request. */
export interface RefusalForm {
  readonly status: number;
  /** For people: printable ASCII without `"` and `\`, because a header contains it too. */
  readonly detail: string;
  /** Error code of `WWW-Authenticate`; absent: no challenge. Null: a challenge without an error. */
  readonly challenge?: "invalid_token" | "insufficient_scope" | null;
  /** Its code in the HTTP contract. */
  readonly contractCode: ErrorCode;
}

const unauthorized = (detail: string, challenge: "invalid_token" | null = "invalid_token") =>
  ({ status: 401, detail, challenge, contractCode: "UNAUTHORIZED" }) as const;

const limited = (detail: string) =>
  ({ status: 429, detail, contractCode: "RATE_LIMITED" }) as const;

/**
 * The response for each refusal. A malformed key is `invalid_token`, because RFC 6750 has that error for 401; without a key, the challenge
 * has no error.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3.1
 */
export const REFUSAL_FORMS: Readonly<Record<RefusalCode, RefusalForm>> = {
  KEY_MISSING: unauthorized("an API key is needed", null),
  KEY_MALFORMED: unauthorized("the API key is malformed"),
  NOT_FOUND: unauthorized("the API key is not valid"),
  DISABLED: unauthorized("the API key is disabled"),
  EXPIRED: unauthorized("the API key has expired"),
  NOT_STARTED: unauthorized("the API key is not valid yet"),
  FORBIDDEN: {
    status: 403,
    detail: "the API key may not be used here",
    contractCode: "FORBIDDEN",
  },
  INSUFFICIENT_PERMISSIONS: {
    status: 403,
    detail: "the API key lacks permissions",
    challenge: "insufficient_scope",
    contractCode: "INSUFFICIENT_PERMISSIONS",
  },
  RATE_LIMITED: limited("a rate limit of the API key is reached"),
  USAGE_EXCEEDED: limited("the API key has too few uses left"),
  ADDRESS_LIMITED: limited("too many requests from this address had no valid API key"),
  STORE_UNAVAILABLE: {
    status: 503,
    detail: "the API key cannot be verified at the moment",
    contractCode: "STORE_UNAVAILABLE",
  },
  INTERNAL_SERVER_ERROR: {
    status: 500,
    detail: "something went wrong",
    contractCode: "INTERNAL_SERVER_ERROR",
  },
};
