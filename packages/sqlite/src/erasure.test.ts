import { readFileSync } from "node:fs";
import { type KeyStore, type LoadedKey, NO_CHANGES } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import {
  aKey,
  anIdentity,
  aPlan,
  aRotation,
  deleteKey,
  insertKey,
  keyIdOf,
  load,
  NOW,
  WORKSPACE,
  withKey,
} from "./testing/fixtures.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

/** Everything that is on the disk of a database now. */
function bytesOf(path: string): string {
  return [path, `${path}-wal`].map((file) => readFileSync(file, "latin1")).join("");
}

test("the encrypted secret of a deleted key is on the disk no more, in the file as in the log", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const sealedOf = (number: number) => `v1.vault.sealed-${number}-${"x".repeat(300)}`;
  await withKey(store, aKey(1, 5, { sealedSecret: sealedOf(1) }));
  for (let number = 2; number <= 40; number += 1) {
    await insertKey(store, aKey(number, 5, { sealedSecret: sealedOf(number) }));
  }
  await store.charge(aPlan(await load(store)));
  expect(bytesOf(path)).toContain("sealed-7-");
  for (const number of [7, 8, 21]) await deleteKey(store, number);
  const bytes = bytesOf(path);
  for (const number of [7, 8, 21]) expect(bytes).not.toContain(`sealed-${number}-`);
  expect(bytes).toContain("sealed-9-");
  await store.close();
});

test("a deleted key is found by nothing, and its hash can be given to another", async () => {
  const store = sqliteStore(":memory:");
  const loaded = await withKey(store, aKey(1, 5));
  await deleteKey(store);
  expect(await store.findKey(loaded.key.hash, WORKSPACE)).toBeNull();
  expect(await store.charge(aPlan(loaded))).toEqual({ kind: "stale" });
  const again = aKey(2, null, { hash: loaded.key.hash });
  expect(await insertKey(store, again)).toEqual({ kind: "inserted", created: [] });
  await store.close();
});

test("of a key that is deleted for good nothing is on the disk any more", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const meta = { note: "vanishing-note" };
  const identity = anIdentity();
  await withKey(store, { ...aKey(1, 5, { hash: "vanishing-hash", meta }), identity });
  await insertKey(store, aKey(2, 5, { meta: { note: "staying-note" } }));
  await leaveTraces(store, await load(store));
  for (const trace of ["vanishing-", keyIdOf(1)]) expect(bytesOf(path)).toContain(trace);
  await deleteKey(store, 1, true);
  const bytes = bytesOf(path);
  for (const trace of ["vanishing-", keyIdOf(1)]) expect(bytes).not.toContain(trace);
  expect(bytes).toContain("staying-note");
  await store.close();
});

test("a key that takes the place of one that was deleted for good inherits nothing of it", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  await leaveTraces(store, await withKey(store, aKey(1, 5)));
  await deleteKey(store, 1, true);
  for (const table of ["window", "request", "last_use", "counters", "key", "key_permission"]) {
    const count = database.prepare(`SELECT count(*) FROM latchkey_${table}`).pluck();
    expect([table, count.get()]).toEqual([table, 0]);
  }
  await insertKey(store, aKey(2, 5));
  const heir = await load(store, keyIdOf(2));
  expect(heir).toMatchObject({ lastUsedAt: null, permissions: [], usage: { remaining: 5 } });
  const result = await store.charge(aPlan(heir, { limits: [AD_HOC], request: REQUEST }));
  expect(result).toMatchObject({ remaining: 4, limits: [{ remaining: 9 }] });
  database.close();
});

test("counters that keys of a rotation share stay as long as one of them is left, and no longer", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  const counters = database.prepare("SELECT count(*) FROM latchkey_counters").pluck();
  const loaded = await withKey(store, aKey(1, 5));
  await store.rotateKey(WORKSPACE, keyIdOf(1), 1, aRotation(loaded), NO_CHANGES);
  const second = await load(store, keyIdOf(2));
  await store.rotateKey(WORKSPACE, keyIdOf(2), 1, aRotation(second, 3), NO_CHANGES);
  for (const [number, permanent] of [
    [1, true],
    [2, false],
  ] as const) {
    await store.charge(aPlan(await load(store, keyIdOf(3)), { limits: [AD_HOC] }));
    await deleteKey(store, number, permanent);
    expect(counters.get()).toBe(1);
  }
  await insertKey(store, aKey(4, 7));
  const last = await load(store, keyIdOf(3));
  const result = await store.charge(aPlan(last, { limits: [AD_HOC] }));
  expect(result).toMatchObject({ remaining: 2, limits: [{ remaining: 7 }] });
  expect((await load(store, keyIdOf(4))).usage.remaining).toBe(7);
  await deleteKey(store, 3);
  expect(counters.get()).toBe(1);
  database.close();
});

const AD_HOC = {
  owner: "key",
  isConfigured: false,
  name: "vanishing-limit",
  limit: 10,
  durationMs: 60_000,
  cost: 1,
} as const;

const REQUEST = { id: "vanishing-request", fingerprint: "f", rememberUntil: NOW + 60_000 };

/** Leaves a row in every table that has rows for a key. */
async function leaveTraces(store: KeyStore, loaded: LoadedKey): Promise<void> {
  await store.charge(aPlan(loaded, { limits: [AD_HOC], request: REQUEST }));
  const lastUsed = [{ keyId: loaded.key.id, usedAt: NOW }];
  await store.addVerifications(WORKSPACE, { counts: [], lastUsed });
  const orCreate = { ...NAMED, description: null, createdAt: NOW };
  const permissions = [{ kind: "name", name: NAMED.name, orCreate }] as const;
  await store.updateKey(WORKSPACE, loaded.key.id, 1, { grants: { permissions } }, NO_CHANGES);
}

const NAMED = { id: "perm_1", workspaceId: WORKSPACE, name: "docs.read" };
