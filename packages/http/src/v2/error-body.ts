import { STATUS_CODES } from "node:http";
import { z } from "zod";
import { IDEMPOTENCY_KEY } from "../request/repeat.js";
import { listOf } from "../response-schemas/shared.js";
import { type PublicError, type PublicErrorCode, STATUS } from "../routing/http-response.js";
import { meta } from "./bodies.js";

/** The type of a problem that has no page of its own (RFC 9457, section 4.2.1). */
const NO_PAGE = "about:blank";

/** `{ meta, error: { title, detail, status, type } }`; a `BAD_REQUEST` has `errors`, too, one for each field. */
export function errorBody(
  { code, message, issues = [] }: PublicError,
  docs: string | undefined,
  requestId: string,
) {
  const status = STATUS[code];
  const error = { title: STATUS_CODES[status], detail: message, status, type: docs ?? NO_PAGE };
  const errors = issues.map((issue) => ({
    location: locationOf(issue.path),
    message: issue.message,
  }));
  return {
    meta: { requestId },
    error: code === "BAD_REQUEST" ? { ...error, errors } : error,
  };
}

/** `body.keys[3].hash` for the path `keys.3.hash`. Only one header can have issues. */
function locationOf(path: string): string {
  if (path === IDEMPOTENCY_KEY) return `header.${path}`;
  const steps = path === "" ? [] : path.split(".");
  return steps.reduce(
    (location, step) => (/^\d+$/.test(step) ? `${location}[${step}]` : `${location}.${step}`),
    "body",
  );
}

const problem = z.strictObject({
  location: z.string().describe("Location of the problem, such as `body.credits.remaining`."),
  message: z.string(),
});

/** Schema of {@link errorBody}. */
export function errorSchema(codes: readonly PublicErrorCode[]) {
  const fields = {
    title: z.string().describe("Name of the status."),
    detail: z.string().describe("What went wrong."),
    status: z.literal([...new Set(codes.map((code) => STATUS[code]))]),
    type: z.url().describe("Address of a page about the kind of error, or `about:blank`."),
  };
  const withErrors = { ...fields, errors: listOf(problem) };
  return z.strictObject({
    meta,
    error: z.strictObject(codes.includes("BAD_REQUEST") ? withErrors : fields),
  });
}
