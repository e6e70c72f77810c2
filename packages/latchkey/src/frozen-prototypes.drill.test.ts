import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** The built package. */
const ENTRY = new URL("../dist/index.js", import.meta.url);

/**
 * Loads latchkey, freezes the built-ins that all modules share, then creates, changes, verifies, rotates and deletes a key on two stores.
 * Freezing before loading fails: ipaddr.js assigns a `toString` to its own prototypes, which a frozen Object.prototype forbids. The
 * prototype of errors is never frozen, because zod sets the `name` of its own errors.
 */
const PROGRAM = `
const { createLatchkey, openStore } = await import(${JSON.stringify(ENTRY.href)});
for (const { prototype } of [Object, Array, Function, String, Number, RegExp, Map, Set, Promise, Date, Uint8Array])
  Object.freeze(prototype);
const vault = { current: "a", keys: { a: Uint8Array.from({ length: 32 }, (_, at) => at + 1) } };
for (const url of ["memory:", "sqlite::memory:"]) {
  const latchkey = createLatchkey({ store: openStore(url), vault });
  const { apiId } = await latchkey.createApi({ name: "maps" });
  const meta = { toString: "text", valueOf: 7, hasOwnProperty: { toJSON: true } };
  const externalId = "__proto__";
  await latchkey.createIdentity({ externalId, ratelimits: [{ name: "tiles", limit: 9, duration: 60000 }] });
  const { key, keyId } = await latchkey.createKey({ apiId, externalId, meta, recoverable: true, remaining: 5 });
  await latchkey.setPermissions({ keyId, permissions: [{ name: "tiles.read", create: true }] });
  await latchkey.updateKey({ keyId, name: "toString" });
  const good = await latchkey.verifyKey({ key, authorization: { permissions: "tiles.read" }, ratelimits: [{ name: "tiles" }] });
  const { plaintext } = await latchkey.getKey({ keyId, decrypt: true });
  const next = await latchkey.rotateKey({ keyId, graceMs: 0 });
  await latchkey.deleteKey({ keyId: next.keyId });
  const gone = await latchkey.verifyKey({ key: next.key });
  const bad = await latchkey.createKey({ apiId, prefix: 7 }).catch((error) => error.code);
  console.log(good.code, plaintext === key, gone.code, bad, (await latchkey.listAuditEvents()).events.length > 5);
  await latchkey.close();
}
`;

test("a key lives its life on prototypes that were frozen once latchkey was loaded, without code made of texts", () => {
  const flags = ["--disallow-code-generation-from-strings", "--unhandled-rejections=strict"];
  const args = [...flags, "--input-type=module", "--eval", PROGRAM];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  expect(stderr).toBe("");
  expect(stdout).toBe("VALID true NOT_FOUND BAD_REQUEST true\n".repeat(2));
  expect(status).toBe(0);
});
