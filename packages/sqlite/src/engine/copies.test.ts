import Database from "better-sqlite3";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import {
  aPlan,
  aRecord,
  charge,
  commit,
  deleteKey,
  find,
  load,
  withKey,
} from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());
beforeEach(() => vi.resetModules());

/** Two stores on one database, from two copies of this package, as a bundler or a reloaded module makes them. */
async function twoCopies() {
  const database = new Database(scratch.newPath());
  const here = (await import("../index.js")).sqliteStore(database);
  vi.resetModules();
  const there = (await import("../index.js")).sqliteStore(database);
  return { database, here, there };
}

test("two copies of the package on one database never take the same use", async () => {
  const { database, here, there } = await twoCopies();
  const loaded = await withKey(here, 1, 10);
  const [planHere, planThere] = [aPlan(loaded), aPlan(await load(there))];
  const left: unknown[] = [];
  for (let count = 0; count < 3; count += 1)
    for (const [store, plan] of [
      [here, planHere],
      [there, planThere],
    ] as const)
      left.push(((await charge(store, plan)) as { remaining?: unknown }).remaining);
  expect(left).toEqual([9, 8, 7, 6, 5, 4]);
  expect((await load(here)).usage?.remaining).toBe(4);
  database.close();
});

test("a change, a revision and a deletion by one copy are seen by the next charge of another copy", async () => {
  const { database, here, there } = await twoCopies();
  const loaded = await withKey(here, 1, 10);
  const plan = aPlan(loaded, { revision: 0 });
  expect((await charge(here, plan)).kind).toBe("charged");
  await commit(there, { revision: 1 });
  expect(await charge(here, plan)).toEqual({ kind: "stale", moved: "revision" });
  const next = aPlan(loaded);
  expect((await charge(here, next)).kind).toBe("charged");
  await commit(there, { puts: [{ record: aRecord(1, { version: 2 }) }] });
  expect(await charge(here, next)).toEqual({ kind: "stale", moved: 0 });
  const last = aPlan(await load(here));
  expect((await charge(here, last)).kind).toBe("charged");
  await deleteKey(there);
  expect(await charge(here, last)).toEqual({ kind: "stale", moved: 0 });
  expect(await find(here)).toBeNull();
  database.close();
});
