import { LatchkeyError } from "latchkey";

/**
 * What a route asks of a key, beside whether it is good.
 *
 * @typedef {Omit<Parameters<import("latchkey").Latchkey["verifyKey"]>[0], "key" | "apiId">} Question
 */

/**
 * Makes the guard of one API's routes: it answers the verdict on a good key, or writes the refusal and answers null.
 *
 * @param {import("latchkey").Latchkey} latchkey
 * @param {string} apiId
 */
export function createGuard(latchkey, apiId) {
  /**
   * @param {import("node:http").IncomingMessage} request
   * @param {import("node:http").ServerResponse} response
   * @param {Question} [question]
   */
  return async function guard(request, response, question = {}) {
    const key = bearerToken(request.headers.authorization);
    if (key === null) return refuse(response, 401, "UNAUTHORIZED");
    try {
      const verdict = await latchkey.verifyKey({ ...question, key, apiId });
      if (verdict.code !== "NOT_FOUND") writeLimit(response, verdict);
      return verdict.valid ? verdict : refuse(response, STATUS[verdict.code], verdict.code);
    } catch (error) {
      // Without a verdict nobody gets in.
      const code = error instanceof LatchkeyError ? error.code : "INTERNAL_SERVER_ERROR";
      return refuse(response, ERROR_STATUS.get(code) ?? 500, code);
    }
  };
}

const STATUS = {
  NOT_FOUND: 401,
  DISABLED: 401,
  EXPIRED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_PERMISSIONS: 403,
  RATE_LIMITED: 429,
  USAGE_EXCEEDED: 429,
};

/** @type {ReadonlyMap<string, number>} */
const ERROR_STATUS = new Map([
  ["BAD_REQUEST", 400], // a limit that neither the key nor its identity has
  ["FORBIDDEN", 403], // the workspace is disabled
  ["CONFLICT", 409], // a requestId that was used for another question
  ["STORE_UNAVAILABLE", 503],
]);

/** @param {string | undefined} header */
function bearerToken(header) {
  return /^Bearer +(\S{1,512})$/i.exec(header ?? "")?.[1] ?? null;
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {import("latchkey").VerifiedKey & { code: string }} verdict
 */
function writeLimit(response, { code, ratelimit }) {
  if (ratelimit === undefined) return;
  const seconds = Math.max(0, Math.ceil((ratelimit.reset - Date.now()) / 1000));
  response.setHeader("RateLimit-Limit", ratelimit.limit);
  response.setHeader("RateLimit-Remaining", ratelimit.remaining);
  response.setHeader("RateLimit-Reset", seconds);
  if (code === "RATE_LIMITED") response.setHeader("Retry-After", seconds);
}

/**
 * @param {import("node:http").ServerResponse} response
 * @param {number} status
 * @param {string} code
 */
function refuse(response, status, code) {
  if (status === 401) response.setHeader("WWW-Authenticate", "Bearer");
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ error: code }));
  return null;
}
