import { LatchkeyError } from "@latchkey/core";
import { printError, report } from "../routing/respond-to-error.js";
import { refuse } from "./responses.js";

/** The status of a refused call of a page, by the code of the error. */
const STATUS: Readonly<Record<string, number>> = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  PRECONDITION_FAILED: 412,
  PAYLOAD_TOO_LARGE: 413,
};

/**
 * The response to a failed request. Errors that the caller can fix are named; others are reported.
 *
 * @param onError - Called with every error behind a 500 or 503. Errors that it throws are ignored. Default: `console.error`.
 */
export function refusalOf(
  error: unknown,
  onError: (error: unknown) => void = printError,
): Response {
  if (error instanceof LatchkeyError && error.code !== "STORE_CORRUPT") {
    const { code, message, issues, reason, details } = error;
    if (code === "STORE_UNAVAILABLE") {
      report(onError, error);
      const { outcome } = error;
      return refuse(503, code, "the store cannot answer now", [], { outcome });
    }
    const status = STATUS[code];
    if (status !== undefined) return refuse(status, code, message, issues, { reason, details });
  }
  report(onError, error);
  return refuse(500, "INTERNAL_SERVER_ERROR", "something went wrong on the server");
}

/**
 * Whether a request comes from a page of this origin. Browsers send `Sec-Fetch-Site`, and only a page of this origin can send the own
 * header: for another site, the browser would ask first (CORS), and never gets permission.
 *
 * @param ownHeader - Name of the header; its value is `1`.
 */
export function isFromOwnPage({ headers }: Request, ownHeader: string): boolean {
  const site = headers.get("sec-fetch-site");
  return headers.get(ownHeader) === "1" && (site === null || site === "same-origin");
}
