import type { PresentedRequest } from "./presented-request.js";
import type { HeaderFields } from "./rate-limit-fields.js";
import type { Refused } from "./refusal.js";

/**
 * What the headers of a web standard request present. A header that was sent twice arrives as one, joined by a comma and a space:
 * what it is malformed by.
 *
 * @param remoteAddress - Of the connection, where the runtime says it.
 */
export function presentedByHeaders(
  headers: Headers,
  remoteAddress: string | null,
): PresentedRequest {
  const values = (name: string) => {
    const value = headers.get(name);
    return value === null ? [] : [value];
  };
  return {
    authorization: values("authorization"),
    apiKey: values("x-api-key"),
    forwardedFor: values("x-forwarded-for"),
    remoteAddress,
  };
}

/** The response to a refusal. */
export function refusedResponse({ status, headers, body }: Refused): Response {
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? body : null, { status, headers });
}

/**
 * Adds header fields to a response, those aside that it has itself. Some responses take none (a redirect, one that was
 * fetched): then it is a copy, around the same body.
 */
export function withHeaders(response: Response, fields: HeaderFields): Response {
  const missing = Object.entries(fields).filter(([name]) => !response.headers.has(name));
  // A switched protocol cannot be copied, and has nothing to say of limits.
  if (missing.length === 0 || response.status < 200) return response;
  try {
    for (const [name, value] of missing) response.headers.set(name, value);
    return response;
  } catch {
    const copy = new Response(response.body, response);
    for (const [name, value] of missing) copy.headers.set(name, value);
    return copy;
  }
}
