import { aChange, aRecord, at, WORKSPACE } from "@latchkey/conformance";
import { createLatchkey } from "@latchkey/core";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { damageFile } from "./testing/damage.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const EVERY_KEY = { kind: "key", list: "keys", after: null, limit: 9 } as const;

test("a key whose link is not text is read and listed without a body, hides no other, and can be deleted", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const [damaged, other] = [aRecord("key", 1, { link: "id_1" }), aRecord("key", 2)];
  const counters = { usage: { remaining: 5, refilledAt: 0, lastRefillAt: null } };
  await store.commit(
    WORKSPACE,
    aChange({
      puts: [damaged, other].map((record) => ({ record, counters })),
      enters: [damaged, other].map(({ id }) => ({ list: "keys", id })),
    }),
  );
  damageFile(path, "UPDATE latchkey_record SET link = x'01ff' WHERE id = ?", [damaged.id]);

  const { found } = await store.read(WORKSPACE, [at("key", 1), at("key", 2)]);
  expect(found[0]?.record).toEqual({ ...damaged, link: null, body: undefined });
  expect(found[1]?.record).toEqual(other);
  expect((await store.page(WORKSPACE, EVERY_KEY)).found).toEqual(found);

  const deletion = { deletes: [at("key", 1)], leaves: [{ list: "keys", id: damaged.id }] };
  expect(await store.commit(WORKSPACE, aChange(deletion))).toMatchObject({ kind: "committed" });
  expect(await store.page(WORKSPACE, EVERY_KEY)).toMatchObject({ found: [found[1]], size: 1 });
  await store.close();
});

test("a workspace whose version cannot be read can be switched off", async () => {
  const path = scratch.newPath();
  const latchkey = createLatchkey({ store: sqliteStore(path), usage: false });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { key } = await latchkey.createKey({ apiId });
  await latchkey.setWorkspaceEnabled(true);
  damageFile(path, "UPDATE latchkey_record SET version = 'one' WHERE id = ?", ["ws_default"]);

  await latchkey.setWorkspaceEnabled(false);
  expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: false, code: "FORBIDDEN" });
  await latchkey.close();
});

test("a role and a permission that cannot be read can be deleted, which makes their keys whole again and their names free", async () => {
  const path = scratch.newPath();
  const latchkey = createLatchkey({ store: sqliteStore(path), usage: false });
  const { permissionId } = await latchkey.createPermission({ name: "read" });
  const { roleId } = await latchkey.createRole({ name: "reader", permissions: ["read"] });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { key } = await latchkey.createKey({ apiId, roles: ["reader"], permissions: ["read"] });
  for (const id of [roleId, permissionId])
    damageFile(path, "UPDATE latchkey_record SET body = '{' WHERE id = ?", [id]);

  expect(await latchkey.deleteRole({ roleId })).toEqual({});
  expect(await latchkey.deletePermission({ permissionId })).toEqual({});
  const nothing = { valid: true, roles: [], permissions: [] };
  expect(await latchkey.verifyKey({ key })).toMatchObject(nothing);
  await latchkey.createPermission({ name: "read" });
  await latchkey.createRole({ name: "reader", permissions: ["read"] });
  await latchkey.close();
});

test("a remembered verdict whose limit has no end, because a digit became an E, is damage", async () => {
  const path = scratch.newPath();
  const latchkey = createLatchkey({ store: sqliteStore(path), usage: false });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const { key } = await latchkey.createKey({ apiId, ratelimit: { limit: 5, duration: "1m" } });
  const question = { key, requestId: "request 1" };
  expect(await latchkey.verifyKey(question)).toMatchObject({ valid: true });
  const [from, to] = ['"resetAt":17', '"resetAt":1E'];
  damageFile(path, "UPDATE latchkey_passing SET value = replace(value, ?, ?)", [from, to]);

  await expect(latchkey.verifyKey(question)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
  await latchkey.close();
});
