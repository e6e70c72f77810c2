// The demo's side of HTTP: an operator with a root key, and visitors with the keys that were issued.

/**
 * @param {{ management: string, service: string }} urls Looked at with every call, since a server that starts again
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
    const limit = response.headers.get("RateLimit-Remaining");
    return {
      verdict: `${response.status} ${response.ok ? "VALID" : body.error}`,
      left: [
        limit === null
          ? ""
          : `${limit} of ${response.headers.get("RateLimit-Limit")} in the window`,
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
