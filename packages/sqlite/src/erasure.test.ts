import { readFileSync } from "node:fs";
import type { KeyStore, LoadedRecord } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import {
  aLimit,
  aPlan,
  aRecord,
  charge,
  commit,
  deleteKey,
  find,
  hashOf,
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

test("what deleted records said is on the disk no more, in the file as in the log", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  for (let number = 1; number <= 40; number += 1) {
    const body = { sealed: `sealed-${number}-${"x".repeat(300)}` };
    await withKey(store, number, 5, { body });
  }
  await charge(store, aPlan(await load(store)));
  expect(bytesOf(path)).toContain("sealed-7-");
  for (const number of [7, 8, 21]) await deleteKey(store, number);
  const bytes = bytesOf(path);
  for (const number of [7, 8, 21]) expect(bytes).not.toContain(`sealed-${number}-`);
  expect(bytes).toContain("sealed-9-");
  await store.close();
});

test("of a record that was deleted with its names and lists nothing is on the disk any more", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, 1, 5, { body: { note: "vanishing-note" } });
  await withKey(store, 2, 5, { body: { note: "staying-note" } });
  await leaveTraces(store, await load(store));
  const traces = ["vanishing-", "hash-of-1", keyIdOf(1)];
  for (const trace of traces) expect(bytesOf(path)).toContain(trace);
  await deleteKey(store, 1);
  const bytes = bytesOf(path);
  for (const trace of traces) expect(bytes).not.toContain(trace);
  expect(bytes).toContain("staying-note");
  await store.close();
});

test("a record that takes the place of one that was deleted inherits nothing of it", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  await leaveTraces(store, await withKey(store, 1, 5));
  await deleteKey(store, 1);
  for (const table of ["record", "counters", "claim", "entry", "used"]) {
    const count = database.prepare(`SELECT count(*) FROM latchkey_${table}`).pluck();
    expect([table, count.get()]).toEqual([table, 0]);
  }
  const heir = await withKey(store, 1, 5);
  expect(heir).toMatchObject({ usedAt: null, usage: { remaining: 5 } });
  const plan = aPlan(heir, { limits: [aLimit("vanishing-window", 0)] });
  expect(await charge(store, plan)).toMatchObject({ remaining: 4, limits: [{ remaining: 9 }] });
  database.close();
});

test("a name whose record was deleted without it is free, and is not the next record's", async () => {
  const store = sqliteStore(":memory:");
  await withKey(store, 1, 5);
  await commit(store, { deletes: [{ kind: "key", id: keyIdOf(1) }] });
  await commit(store, { puts: [{ record: aRecord(2) }] });
  expect((await store.read(WORKSPACE, [hashOf(1)])).found).toEqual([null]);
  const claims = [{ ...hashOf(1), id: keyIdOf(2) }];
  expect(await commit(store, { claims })).toMatchObject({ kind: "committed" });
  expect((await store.read(WORKSPACE, [hashOf(1)])).found[0]?.record.id).toBe(keyIdOf(2));
  await store.close();
});

test("counters that records share stay as long as one of them is left, and no longer", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  const counters = database.prepare("SELECT count(*) FROM latchkey_counters").pluck();
  await withKey(store, 1, 5);
  for (const number of [2, 3]) {
    const counters = { sharedWith: keyIdOf(number - 1) };
    await commit(store, { puts: [{ record: aRecord(number), counters }] });
  }
  for (const number of [1, 2]) {
    await charge(store, aPlan(await load(store, 3)));
    await deleteKey(store, number);
    expect(counters.get()).toBe(1);
  }
  await withKey(store, 4, 7);
  expect(await charge(store, aPlan(await load(store, 3)))).toMatchObject({ remaining: 2 });
  expect((await load(store, 4)).usage?.remaining).toBe(7);
  await deleteKey(store, 3);
  expect(counters.get()).toBe(1);
  expect(await find(store, 3)).toBeNull();
  database.close();
});

const REQUEST = { id: "vanishing-request", fingerprint: "f", rememberUntil: NOW + 60_000 };

/** Leaves a row in every table that has rows for a record. */
async function leaveTraces(store: KeyStore, loaded: LoadedRecord): Promise<void> {
  const plan = aPlan(loaded, { limits: [aLimit("vanishing-window", 0)] });
  await charge(store, plan);
  await charge(store, aPlan(loaded), { request: REQUEST });
  const { kind, id } = loaded.record;
  await store.addStatistics(WORKSPACE, { counts: [], uses: [{ kind, id, usedAt: NOW }] });
}
