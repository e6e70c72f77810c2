import type { Contract } from "./contract.js";
import { errorResponse, type HttpResponse, toPublicError } from "./http-response.js";

/** Who hears of errors, and where the pages about their codes are; null for nowhere. */
interface ErrorSettings {
  readonly docsBaseUrl: string | null;
  readonly onError: (error: unknown, requestId: string) => void;
}

/** The response to a request that failed. The host hears of every error behind a 500 or 503. */
export function respondToError(
  error: unknown,
  { errorBody }: Pick<Contract, "errorBody">,
  requestId: string,
  { docsBaseUrl, onError }: ErrorSettings,
): HttpResponse {
  const publicError = toPublicError(error);
  const { code } = publicError;
  if (code === "INTERNAL_SERVER_ERROR" || code === "STORE_UNAVAILABLE")
    report(onError, error, requestId);
  const docs = docsBaseUrl === null ? undefined : `${docsBaseUrl}/${code}`;
  return errorResponse(publicError, errorBody(publicError, docs, requestId), requestId);
}

/** Tells the host of an error. A log that fails must not change the response. */
export function report<Given extends unknown[]>(
  onError: (...given: Given) => void,
  ...given: Given
): void {
  try {
    onError(...given);
  } catch {
    // It has nowhere to report that.
  }
}
