// HTTP clients of the demo: an operator with a root key, and visitors with issued keys.

/**
 * @param {{ management: string, service: string }} urls Read with every call, because a restarted server
 * has another port.
 * @param {string} rootKey
 */
export function createClient(urls, rootKey) {
  const authorization = { Authorization: `Bearer ${rootKey}` };

  /** @param {string} operation @param {object} body @returns {Promise<any>} */
  async function post(operation, body) {
    const headers = { ...authorization, "Content-Type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    return answerOf(operation, await fetch(`${urls.management}/v1/${operation}`, init));
  }

  /** @param {string} operation @param {Record<string, string>} query @returns {Promise<any>} */
  async function get(operation, query) {
    const url = `${urls.management}/v1/${operation}?${new URLSearchParams(query)}`;
    return answerOf(operation, await fetch(url, { headers: authorization }));
  }

  /** Calls a guarded route. @param {string | null} key @param {string} path */
  async function visit(key, path) {
    const headers = key === null ? undefined : { Authorization: `Bearer ${key}` };
    const response = await fetch(`${urls.service}${path}`, headers && { headers });
    /** @type {any} */
    const body = await response.json();
    const limit = limitOf(response.headers);
    return {
      verdict: `${response.status} ${response.ok ? "VALID" : body.code}`,
      left: [
        limit === null ? "" : `${limit.left} of ${limit.units} in the window`,
        body.usesLeft === undefined ? "" : `uses: ${body.usesLeft}`,
      ]
        .filter((part) => part !== "")
        .join(", "),
    };
  }

  return { post, get, visit };
}

/** @param {string} operation @param {Response} response */
async function answerOf(operation, response) {
  const body = await response.json();
  if (!response.ok) throw new Error(`${operation}: ${response.status} ${JSON.stringify(body)}`);
  return body;
}

/**
 * The first rate limit that an answer names: `RateLimit: "default";r=9;t=42` and `RateLimit-Policy: "default";q=10;w=60`.
 *
 * @param {Headers} headers
 */
function limitOf(headers) {
  const left = /;r=(\d+)/.exec(headers.get("RateLimit") ?? "")?.[1];
  const units = /;q=(\d+)/.exec(headers.get("RateLimit-Policy") ?? "")?.[1];
  return left === undefined || units === undefined ? null : { left, units };
}
