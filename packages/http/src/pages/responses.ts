import type { ErrorDetails, ErrorReason, InputIssue } from "@latchkey/core";

const HEADERS = {
  "content-type": "application/json; charset=utf-8",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/** A response in JSON. */
export function jsonResponse(value: unknown, status = 200, headers = {}): Response {
  return new Response(JSON.stringify(value), { status, headers: { ...HEADERS, ...headers } });
}

/** A refusal, with the error body of the HTTP contract. */
export function refuse(
  status: number,
  code: string,
  message: string,
  issues: readonly InputIssue[] = [],
  why: {
    readonly reason?: ErrorReason | undefined;
    readonly details?: ErrorDetails | undefined;
    /** If the store does not answer: whether a write may have happened. */
    readonly outcome?: "not-applied" | "unknown" | undefined;
  } = {},
): Response {
  const error = { code, message, ...why, ...(issues.length > 0 && { issues }) };
  return jsonResponse({ error }, status);
}

/** A refusal of a method. `allow`: the methods that are accepted, as in the header `Allow`. */
export function refuseMethod(allow: string): Response {
  const error = { code: "METHOD_NOT_ALLOWED", message: `this path takes ${allow} only` };
  return jsonResponse({ error }, 405, { allow });
}
