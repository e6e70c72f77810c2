import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { aKey, aPlan, NOW, WORKSPACE, withKey } from "./testing/fixtures.js";

const DAY_MS = 86_400_000;
let database: Database.Database;
beforeEach(() => {
  database = new Database(":memory:");
});
afterEach(() => database.close());

const rowsOf = (table: string) => database.prepare(`SELECT count(*) FROM ${table}`).pluck().get();

test("windows of limits that requests made up are forgotten once they ended over 24 hours ago", async () => {
  const store = sqliteStore(database);
  const loaded = await withKey(store);
  const chargeAt = (name: string, now: number) => {
    const limit = {
      owner: "key",
      isConfigured: false,
      name,
      limit: 99,
      durationMs: 1_000,
    } as const;
    return store.charge(aPlan(loaded, { now, limits: [{ ...limit, cost: 1 }] }));
  };
  for (let count = 0; count < 20; count += 1) await chargeAt(`limit ${count}`, NOW);
  await chargeAt("later", NOW + 1_000 + DAY_MS);
  expect(rowsOf("latchkey_window")).toBe(21);
  for (let count = 0; count < 15; count += 1) await chargeAt("later", NOW + 1_001 + DAY_MS);
  expect(rowsOf("latchkey_window")).toBe(1);
});

test("windows of limits without a key are forgotten once they ended over 24 hours ago", async () => {
  const store = sqliteStore(database);
  const takeAt = (identifier: string, now: number) =>
    store.takeFromNamespace({
      workspaceId: WORKSPACE,
      namespace: "signup",
      identifier,
      limit: 99,
      durationMs: 1_000,
      cost: 1,
      now,
    });
  for (let count = 0; count < 20; count += 1) await takeAt(`address ${count}`, NOW);
  await takeAt("later", NOW + 1_000 + DAY_MS);
  expect(rowsOf("latchkey_namespace_window")).toBe(21);
  for (let count = 0; count < 15; count += 1) await takeAt("later", NOW + 1_001 + DAY_MS);
  expect(rowsOf("latchkey_namespace_window")).toBe(1);
});

test("what is remembered of requests is forgotten when its time is over", async () => {
  const store = sqliteStore(database);
  const loaded = await withKey(store, aKey(1, 100));
  const chargeAt = (id: string, now: number) => {
    const request = { id, fingerprint: "f", rememberUntil: now + 1_000 };
    return store.charge(aPlan(loaded, { now, request }));
  };
  for (let count = 0; count < 20; count += 1) await chargeAt(`request ${count}`, NOW);
  expect(await chargeAt("request 7", NOW + 999)).toMatchObject({ remaining: 92 });
  expect(rowsOf("latchkey_request")).toBe(20);
  for (let count = 0; count < 15; count += 1) await chargeAt("again", NOW + 1_000 + count * 1_000);
  expect(rowsOf("latchkey_request")).toBe(1);
});
