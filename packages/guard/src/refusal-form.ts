import type { ErrorCode } from "@latchkey/core";
import type { RefusalCode } from "./refusal.js";

/** The response for a refusal, whatever the request. */
export interface RefusalForm {
  readonly status: number;
  /** For people: printable ASCII without `"` and `\`, because it is also in a header. */
  readonly detail: string;
  /** Error code of `WWW-Authenticate`; absent: no challenge. Null: a challenge without an error. */
  readonly challenge?: "invalid_token" | "insufficient_scope" | null;
  /** The code that the HTTP contract has for it. */
  readonly contractCode: ErrorCode;
}

/**
 * The response for each refusal. A malformed key is `invalid_token`, because that is the error of a 401; without a key there is no error.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6750#section-3.1
 */
export const REFUSAL_FORMS: Readonly<Record<RefusalCode, RefusalForm>> = {
  KEY_MISSING: {
    status: 401,
    detail: "an API key is needed",
    challenge: null,
    contractCode: "UNAUTHORIZED",
  },
  KEY_MALFORMED: {
    status: 401,
    detail: "the API key is malformed",
    challenge: "invalid_token",
    contractCode: "UNAUTHORIZED",
  },
  NOT_FOUND: {
    status: 401,
    detail: "the API key is not valid",
    challenge: "invalid_token",
    contractCode: "UNAUTHORIZED",
  },
  DISABLED: {
    status: 401,
    detail: "the API key is disabled",
    challenge: "invalid_token",
    contractCode: "UNAUTHORIZED",
  },
  EXPIRED: {
    status: 401,
    detail: "the API key has expired",
    challenge: "invalid_token",
    contractCode: "UNAUTHORIZED",
  },
  NOT_STARTED: {
    status: 401,
    detail: "the API key is not valid yet",
    challenge: "invalid_token",
    contractCode: "UNAUTHORIZED",
  },
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
  RATE_LIMITED: {
    status: 429,
    detail: "a rate limit of the API key is reached",
    contractCode: "RATE_LIMITED",
  },
  USAGE_EXCEEDED: {
    status: 429,
    detail: "the API key has too few uses left",
    contractCode: "RATE_LIMITED",
  },
  ADDRESS_LIMITED: {
    status: 429,
    detail: "too many requests from this address had no valid API key",
    contractCode: "RATE_LIMITED",
  },
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
