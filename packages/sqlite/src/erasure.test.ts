import { copyFileSync, existsSync, readFileSync } from "node:fs";
import type { KeyStore, LoadedRecord } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, afterEach, beforeEach, expect, test, vi } from "vitest";
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
beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout"] }));
afterEach(() => vi.useRealTimers());
afterAll(() => scratch.remove());

/** How long the log is left alone after it was emptied, at most, in ms. */
const PAUSE_MS = 1_000;

/** All bytes that a database has on the disk now. */
function bytesOf(path: string): string {
  const files = [path, `${path}-wal`].filter((file) => existsSync(file));
  return files.map((file) => readFileSync(file, "latin1")).join("");
}

/** Writes keys with notes that can be found on the disk, charges one of them, and waits until the log may be emptied again. */
async function openWithNotes(path: string, count: number): Promise<KeyStore> {
  const store = sqliteStore(path);
  for (let number = 1; number <= count; number += 1)
    await withKey(store, number, 5, { body: { note: `note-of-${number}-${"x".repeat(300)}` } });
  await leaveTraces(store, await load(store));
  vi.advanceTimersByTime(PAUSE_MS);
  return store;
}

test("what a deleted record said, its names and its lists are on the disk no more, in the file as in the log", async () => {
  const path = scratch.newPath();
  const store = await openWithNotes(path, 2);
  const traces = ["note-of-1-", "vanishing-", "hash-of-1", keyIdOf(1)];
  for (const trace of traces) expect(bytesOf(path)).toContain(trace);
  await deleteKey(store, 1);
  for (const trace of traces) expect(bytesOf(path)).not.toContain(trace);
  expect(bytesOf(path)).toContain("note-of-2-");
  await store.close();
});

test("data that is deleted soon after other data stays in the log for a second at most", async () => {
  const path = scratch.newPath();
  const store = await openWithNotes(path, 40);
  for (const number of [7, 8, 21]) await deleteKey(store, number);
  expect(bytesOf(path)).toContain("note-of-21-");
  vi.advanceTimersByTime(PAUSE_MS);
  for (const number of [7, 8, 21]) expect(bytesOf(path)).not.toContain(`note-of-${number}-`);
  expect(bytesOf(path)).toContain("note-of-9-");
  await store.close();
});

test("a reader keeps the log from being emptied only as long as it reads", async () => {
  const path = scratch.newPath();
  const store = await openWithNotes(path, 2);
  const reader = new Database(path);
  reader.exec("BEGIN; SELECT * FROM latchkey_record");
  await deleteKey(store, 1);
  expect(bytesOf(path)).toContain("note-of-1-");
  vi.advanceTimersByTime(PAUSE_MS);
  expect(bytesOf(path)).toContain("note-of-1-");
  reader.close();
  vi.advanceTimersByTime(PAUSE_MS);
  expect(bytesOf(path)).not.toContain("note-of-1-");
  await store.close();
});

test.each([true, false])(
  "closing empties the log, of a file that the store opened: %s",
  async (isOwned) => {
    const path = scratch.newPath();
    const database = new Database(path);
    const store = sqliteStore(isOwned ? path : database);
    await withKey(store, 1, 5, { body: { note: "note-of-1-" } });
    await deleteKey(store, 1);
    expect(bytesOf(path)).toContain("note-of-1-");
    await store.close();
    expect(bytesOf(path)).not.toContain("note-of-1-");
    database.close();
  },
);

test("data deleted just before the process was killed is gone when the file is opened next", async () => {
  const [path, copy] = [scratch.newPath(), scratch.newPath()];
  const store = await openWithNotes(path, 2);
  for (const number of [2, 1]) await deleteKey(store, number);
  // A killed process leaves behind exactly what is on the disk.
  for (const end of ["", "-wal"]) copyFileSync(`${path}${end}`, `${copy}${end}`);
  expect(bytesOf(copy)).toContain("note-of-1-");
  const next = sqliteStore(copy);
  expect(bytesOf(copy)).not.toContain("note-of-1-");
  expect(await find(next, 1)).toBeNull();
  await next.close();
  await store.close();
});

test("a record that replaces a deleted one inherits nothing of it", async () => {
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

test("a name whose record was deleted without it is free, and does not pass to the next record", async () => {
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

test("shared counters stay as long as one of their records is left, and no longer", async () => {
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

/** Leaves a row in every table that can have rows for a record. */
async function leaveTraces(store: KeyStore, loaded: LoadedRecord): Promise<void> {
  const plan = aPlan(loaded, { limits: [aLimit("vanishing-window", 0)] });
  await charge(store, plan);
  await charge(store, aPlan(loaded), { request: REQUEST });
  const { kind, id } = loaded.record;
  await store.addStatistics(WORKSPACE, { counts: [], uses: [{ kind, id, usedAt: NOW }] });
}
