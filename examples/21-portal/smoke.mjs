// Makes the same calls as the page: signs in, creates a key, uses it, revokes it.

import assert from "node:assert/strict";
import { start } from "./main.mjs";

const { origin, close } = await start(0);
const headers = { "x-latchkey-portal": "1", cookie: "login=northwind" };

/**
 * @param {string} path
 * @param {object} body
 * @returns {Promise<{ keyId: string, key: string }>}
 */
async function post(path, body) {
  const response = await fetch(`${origin}/account/keys/${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  assert.equal(response.status, 200, path);
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  if (cookie !== undefined) headers.cookie += `; ${cookie}`;
  return /** @type {Promise<{ keyId: string, key: string }>} */ (response.json());
}

/** @param {string} key */
const tiles = async (key) =>
  (await fetch(`${origin}/tiles`, { headers: { authorization: `Bearer ${key}` } })).status;

await post("session", {});
const { keyId, key } = await post("keys.create", { name: "build server" });
assert.equal(await tiles(key), 200);
await post("keys.revoke", { keyId });
assert.equal(await tiles(key), 401);
await close();
console.log("a customer created a key, used it and revoked it");
