import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { damageFile } from "../testing/damage.js";
import { aPlan, charge, load, NOW, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

/** Counts the commits that another connection sees while the work runs. It looks once a turn of the event loop. */
async function commitsDuring(path: string, work: () => Promise<unknown>): Promise<number> {
  const observer = new Database(path);
  const version = observer.prepare("PRAGMA data_version").pluck();
  let commits = 0;
  let last = version.get();
  let isRunning = true;
  const look = () => {
    const current = version.get();
    if (current !== last) commits += 1;
    last = current;
  };
  const done = work().then(() => {
    isRunning = false;
  });
  while (isRunning) {
    await new Promise(setImmediate);
    look();
  }
  await done;
  look();
  observer.close();
  return commits;
}

test("charges of one turn share one commit, and each is decided on what those before it left", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path, { durability: "full" });
  const loaded = await withKey(store, 1, 40);
  let kinds: readonly string[] = [];
  const commits = await commitsDuring(path, async () => {
    const results = await Promise.all(
      Array.from({ length: 64 }, () => charge(store, aPlan(loaded))),
    );
    kinds = results.map(({ kind }) => kind);
  });
  expect(commits).toBe(1);
  expect(kinds.filter((kind) => kind === "charged")).toHaveLength(40);
  expect(kinds.filter((kind) => kind === "usage-exceeded")).toHaveLength(24);
  expect((await load(store)).usage?.remaining).toBe(0);
  await store.close();
});

test("more charges than one batch holds are all answered", async () => {
  const store = sqliteStore(":memory:", { durability: "full" });
  const loaded = await withKey(store, 1, 1_000);
  const results = await Promise.all(
    Array.from({ length: 900 }, () => charge(store, aPlan(loaded))),
  );
  const left = results.map((result) => ("remaining" in result ? result.remaining : null));
  expect(left).toEqual(Array.from({ length: 900 }, (_, index) => 999 - index));
  await store.close();
});

test("a damaged record fails its own charge, and none of those that share its commit", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path, { durability: "full" });
  const whole = await withKey(store, 1, 5);
  const broken = await withKey(store, 2, 5);
  damageFile(path, "UPDATE latchkey_counters SET remaining = -5 WHERE seq = 2");
  // Plans that carry a request are decided inside of the transaction only.
  const request = (id: string) => ({ id, fingerprint: "f", rememberUntil: NOW + 1 });
  const [first, second, third] = await Promise.allSettled([
    charge(store, aPlan(whole), { request: request("a") }),
    charge(store, aPlan(broken), { request: request("b") }),
    charge(store, aPlan(whole), { request: request("c") }),
  ]);
  expect(first).toMatchObject({ status: "fulfilled", value: { remaining: 4 } });
  expect(second).toMatchObject({ status: "rejected", reason: { code: "STORE_CORRUPT" } });
  expect(third).toMatchObject({ status: "fulfilled", value: { remaining: 3 } });
  await store.close();
});

test("charges that were not begun when the store is closed are rejected and take nothing", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path, { durability: "full" });
  const loaded = await withKey(store, 1, 5);
  const call = charge(store, aPlan(loaded));
  await store.close();
  await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  const reopened = sqliteStore(path);
  expect((await load(reopened)).usage?.remaining).toBe(5);
  await reopened.close();
});
