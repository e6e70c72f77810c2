import { type InputIssue, LatchkeyError } from "@latchkey/core";
import type { ReceivedInput } from "./header-fields.js";
import { IDEMPOTENCY_KEY } from "./repeat.js";

/**
 * Rewrites an error so that it names parameters and headers as they were sent. A schema sees only fields: for a parameter that cannot be
 * decoded it would complain about the null in its place, and for a header it would name the field.
 *
 * @param error - Anything that an operation or its schema threw. Returned unchanged unless it is about fields or the request id.
 */
export function nameAsSent(
  error: unknown,
  { fields, issues: own, unreadable, headers }: ReceivedInput,
): unknown {
  if (!(error instanceof LatchkeyError)) return error;
  if (error.reason === "idempotency-key-reused") return idempotencyKeyReused(error);
  if (error.reason === "request-id-reused") return requestIdReused(error, headers);
  if (error.code !== "BAD_REQUEST") return error;
  const issues = error.issues
    .filter((issue) => own.includes(issue) || !unreadable.includes(issue.path))
    .map((issue) => {
      const isInBody = issue.path === "idempotencyKey" && Object.hasOwn(fields, issue.path);
      if (isInBody) return { ...issue, message: `is sent as the header ${IDEMPOTENCY_KEY}` };
      return own.includes(issue) ? issue : withHeaderName(issue, headers);
    });
  return issues.every((issue, index) => issue === error.issues[index]) ? error : badRequest(issues);
}

function withHeaderName(issue: InputIssue, headers: ReceivedInput["headers"]): InputIssue {
  const name = issue.path === "idempotencyKey" ? IDEMPOTENCY_KEY : headers.get(issue.path);
  return name === undefined ? issue : { ...issue, path: name };
}

function idempotencyKeyReused(error: LatchkeyError): LatchkeyError {
  const { code, reason } = error;
  const message = `this ${IDEMPOTENCY_KEY} was used for a request with another input; nothing was written`;
  return new LatchkeyError(code, message, { ...(reason && { reason }), cause: error });
}

function requestIdReused(error: LatchkeyError, headers: ReceivedInput["headers"]): LatchkeyError {
  const { code, reason, details } = error;
  const name = headers.get("requestId") ?? "requestId";
  return new LatchkeyError(code, `this ${name} was used for another question about this key`, {
    ...(reason !== undefined && { reason }),
    details,
    cause: error,
  });
}

/** The error with the same message as core builds from these issues. */
function badRequest(issues: readonly InputIssue[]): LatchkeyError {
  const listed = issues.map(({ path, message }) =>
    path === "" ? message : `"${path}" ${message}`,
  );
  return new LatchkeyError("BAD_REQUEST", listed.join("; "), { issues });
}
