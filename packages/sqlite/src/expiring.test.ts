import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sqliteStore } from "./index.js";
import { aLimit, aPlan, charge, NOW, withKey } from "./testing/fixtures.js";

const DAY_MS = 86_400_000;
/** The machine's clock when the tests begin. */
const MACHINE = NOW - 100 * DAY_MS;
let database: Database.Database;
beforeEach(() => {
  database = new Database(":memory:");
  vi.useFakeTimers({ toFake: ["Date"], now: MACHINE });
});
afterEach(() => {
  vi.useRealTimers();
  database.close();
});

const rows = () => database.prepare("SELECT count(*) FROM latchkey_passing").pluck().get();

test("windows without an owner are deleted once they ended over 24 hours ago, two with each write", async () => {
  const store = sqliteStore(database);
  const chargeAt = (window: string, now: number) => {
    const limits = [{ ...aLimit(window, null), limit: 99, duration: 1_000 }];
    return charge(store, aPlan([], { uses: null, limits }), { now });
  };
  const machineAt = (now: number) => vi.setSystemTime(MACHINE + now - NOW);
  for (let count = 0; count < 20; count += 1) await chargeAt(`window-${count}`, NOW);
  await chargeAt("later", NOW + 9 * DAY_MS);
  expect(rows()).toBe(21);
  machineAt(NOW + 1_000 + DAY_MS);
  await chargeAt("later", NOW);
  expect(rows()).toBe(21);
  machineAt(NOW + 1_001 + DAY_MS);
  await chargeAt("later", NOW);
  expect(rows()).toBe(19);
  for (let count = 0; count < 15; count += 1) await chargeAt("later", NOW + 1_001 + DAY_MS);
  expect(rows()).toBe(1);
});

test("a request is repeated until its time is over, and deleted a day later", async () => {
  const store = sqliteStore(database);
  const plan = aPlan(await withKey(store, 1, 100));
  const chargeAt = (id: string, now: number) =>
    charge(store, plan, { now, request: { id, fingerprint: "f", rememberUntil: now + 1_000 } });
  for (let count = 0; count < 20; count += 1) await chargeAt(`request-${count}`, NOW);
  expect(await chargeAt("request-7", NOW + 999)).toMatchObject({ remaining: 92 });
  expect(await chargeAt("request-7", NOW + 1_000)).toMatchObject({ remaining: 79 });
  await chargeAt("ahead", NOW + 9 * DAY_MS);
  expect(rows()).toBe(21);
  vi.setSystemTime(MACHINE + DAY_MS + 1_001);
  for (let count = 1; count <= 15; count += 1)
    await chargeAt("again", NOW + DAY_MS + count * 2_000);
  expect(rows()).toBe(1);
});

test("requests of two records, and those of no record, are remembered apart", async () => {
  const store = sqliteStore(database);
  const request = { id: "r", fingerprint: "f", rememberUntil: NOW + 1_000 };
  const keys = [await withKey(store, 1, 5), await withKey(store, 2, 7)];
  const plans = [...keys.map((key) => aPlan(key)), aPlan([], { uses: null })];
  for (let round = 0; round < 2; round += 1) {
    const results = await Promise.all(plans.map((plan) => charge(store, plan, { request })));
    expect(results).toMatchObject([{ remaining: 4 }, { remaining: 6 }, { remaining: null }]);
  }
  expect(rows()).toBe(3);
});
