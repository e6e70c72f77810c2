import { type ErrorCode, type ErrorDetails, type InputIssue, LatchkeyError } from "@latchkey/core";
import type { PageContent } from "../docs-page/page.js";
import { isShown, type ShownReason } from "./shown-reasons.js";

/** A response before it is turned into a web standard Response or written to node:http. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. Not shared with other responses, so that headers can be added. */
  readonly headers: Record<string, string>;
  readonly body: string | Uint8Array<ArrayBuffer>;
}

/** The codes in error bodies: all of core's except `STORE_CORRUPT`, which clients never see. */
export type PublicErrorCode = Exclude<ErrorCode, "STORE_CORRUPT">;

/** The HTTP status of each code. */
export const STATUS: Readonly<Record<PublicErrorCode, number>> = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_PERMISSIONS: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  DELETE_PROTECTED: 412,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL_SERVER_ERROR: 500,
  STORE_UNAVAILABLE: 503,
};

/** Seconds that a client should wait if the store is unavailable. */
const RETRY_AFTER_SECONDS = "1";

/** A verb that a path does not accept. */
export class MethodNotAllowedError extends LatchkeyError {
  /** `allow`: the one verb that it accepts. */
  constructor(readonly allow: string) {
    super("METHOD_NOT_ALLOWED", `this path takes ${allow} only`);
  }
}

/** An error as the client sees it. */
export interface PublicError {
  readonly code: PublicErrorCode;
  readonly message: string;
  readonly issues?: readonly InputIssue[];
  readonly reason?: ShownReason;
  /** Only with a reason, and never empty. */
  readonly details?: ErrorDetails;
  /** The one verb of the path; only with `METHOD_NOT_ALLOWED`. */
  readonly allow?: string;
}

/** Turns a response into a web standard Response. */
export function toWebResponse({ status, headers, body }: HttpResponse): Response {
  return new Response(body, { status, headers });
}

/** The response of a successful operation. */
export function successResponse(
  value: unknown,
  requestId: string,
  maxAgeSeconds?: number,
): HttpResponse {
  const headers = commonHeaders(requestId);
  if (maxAgeSeconds !== undefined) headers["cache-control"] = `public, max-age=${maxAgeSeconds}`;
  return { status: 200, headers, body: JSON.stringify(value) };
}

/** A response that is a file. */
export function pageResponse({ body, headers }: PageContent, requestId: string): HttpResponse {
  return { status: 200, headers: { ...commonHeaders(requestId), ...headers }, body };
}

/** The response to a refused request. */
export function errorResponse(
  { code, allow }: PublicError,
  body: object,
  requestId: string,
): HttpResponse {
  const headers = commonHeaders(requestId);
  if (code === "UNAUTHORIZED") headers["www-authenticate"] = "Bearer";
  if (code === "STORE_UNAVAILABLE") headers["retry-after"] = RETRY_AFTER_SECONDS;
  if (allow !== undefined) headers.allow = allow;
  return { status: STATUS[code], headers, body: JSON.stringify(body) };
}

/**
 * Reduces an error to what a client may see. Only messages written for clients get through; any internal error (a damaged record, a
 * driver's error, a bug in latchkey) becomes one message that says nothing about it.
 */
export function toPublicError(error: unknown): PublicError {
  if (!(error instanceof LatchkeyError)) return INTERNAL;
  const { code, message, issues, outcome, reason, details } = error;
  if (error instanceof MethodNotAllowedError)
    return { code: "METHOD_NOT_ALLOWED", message, allow: error.allow };
  switch (code) {
    case "STORE_CORRUPT":
    case "INTERNAL_SERVER_ERROR":
      return INTERNAL;
    case "STORE_UNAVAILABLE":
      return outcome === "not-applied" ? NOT_APPLIED : OUTCOME_UNKNOWN;
    default:
      if (isShown(reason))
        return { code, message, reason, ...(Object.keys(details).length > 0 && { details }) };
      return issues.length === 0 ? { code, message } : { code, message, issues };
  }
}

const INTERNAL: PublicError = {
  code: "INTERNAL_SERVER_ERROR",
  message: "something went wrong on the server; quote the request id when you report it",
};

const NOT_APPLIED: PublicError = {
  code: "STORE_UNAVAILABLE",
  message: "the store cannot answer now; nothing was changed, try again",
};

const OUTCOME_UNKNOWN: PublicError = {
  code: "STORE_UNAVAILABLE",
  message: "the store did not answer; a change may or may not have been made",
};

function commonHeaders(requestId: string): Record<string, string> {
  return {
    "content-type": "application/json; charset=utf-8",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-request-id": requestId,
  };
}
