import { type InputIssue, LatchkeyError } from "@latchkey/core";
import type { Given } from "./header-fields.js";

/**
 * Says what is wrong with an input in terms of what was sent. A schema knows fields alone: of a parameter that could not
 * be decoded it would say something about the value that stands in for it, and of a header it would name the field.
 *
 * @param error - Whatever an operation or its schema threw; all but issues of fields and conflicts is answered as it is.
 */
export function nameAsSent(error: unknown, { issues: own, unreadable, headers }: Given): unknown {
  if (!(error instanceof LatchkeyError)) return error;
  if (error.code === "CONFLICT") return conflictUnderHeaders(error, headers);
  if (error.code !== "BAD_REQUEST") return error;
  const told = error.issues
    .filter((issue) => own.includes(issue) || !unreadable.includes(issue.path))
    .map((issue) => (own.includes(issue) ? issue : underHeader(issue, headers)));
  return told.every((issue, index) => issue === error.issues[index]) ? error : badRequest(told);
}

function underHeader(issue: InputIssue, headers: Given["headers"]): InputIssue {
  const name = headers.get(issue.path);
  return name === undefined ? issue : { ...issue, path: name };
}

/** A conflict is told in a sentence alone, which may name a field. */
function conflictUnderHeaders(error: LatchkeyError, headers: Given["headers"]): LatchkeyError {
  let { message } = error;
  for (const [field, name] of headers)
    message = message.replaceAll(`this ${field} `, `this ${name} `);
  return message === error.message
    ? error
    : new LatchkeyError("CONFLICT", message, { cause: error });
}

/** As core words it. */
function badRequest(issues: readonly InputIssue[]): LatchkeyError {
  const listed = issues.map(({ path, message }) =>
    path === "" ? message : `"${path}" ${message}`,
  );
  return new LatchkeyError("BAD_REQUEST", listed.join("; "), { issues });
}
