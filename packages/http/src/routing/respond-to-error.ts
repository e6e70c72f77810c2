import type { Contract } from "./contract.js";
import { errorResponse, type HttpResponse, toPublicError } from "./http-response.js";

/** Where errors are reported, and the base URL of pages about their codes; null for none. */
interface ErrorSettings {
  readonly docsBaseUrl: string | null;
  readonly onError: (error: unknown, requestId: string) => void;
}

/** The response to a failed request. Every error behind a 500 or 503 is reported to the host. */
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

/** Default of `onError`: otherwise nobody would learn why a response is a 500. */
export function printError(error: unknown, ...requestId: readonly string[]): void {
  console.error(...requestId, error);
}

/** Reports an error to the host. A log that fails must not change the response. */
export function report<Given extends unknown[]>(
  onError: (...given: Given) => void,
  ...given: Given
): void {
  try {
    onError(...given);
  } catch {
    // There is nowhere to report that.
  }
}
