import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { aKey, aPlan, load, withKey } from "./testing/fixtures.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

async function underLock(
  work: (scene: { readonly path: string; readonly release: () => void }) => Promise<void>,
): Promise<void> {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, aKey(1, 100));
  await store.close();
  const holder = new Database(path);
  holder.exec("BEGIN IMMEDIATE");
  try {
    await work({ path, release: () => holder.exec("ROLLBACK") });
  } finally {
    holder.close();
  }
}

test.each(["normal", "full"] as const)(
  "where another connection keeps the lock, writes are STORE_UNAVAILABLE after the deadline (%s)",
  (durability) =>
    underLock(async ({ path }) => {
      const store = sqliteStore(path, { deadlineMs: 50, durability });
      const loaded = await load(store);
      const calls = [store.charge(aPlan(loaded)), store.charge(aPlan(loaded)), withKey(store)];
      for (const settled of await Promise.allSettled(calls)) {
        expect(settled).toMatchObject({
          status: "rejected",
          reason: { code: "STORE_UNAVAILABLE", outcome: "not-applied" },
        });
      }
      expect((await load(store)).usage.remaining).toBe(100);
      await store.close();
    }),
);

test("a deadline of 0 gives up at once", () =>
  underLock(async ({ path }) => {
    const store = sqliteStore(path, { deadlineMs: 0 });
    const loaded = await load(store);
    await expect(store.charge(aPlan(loaded))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
  }));

test("reads and refusals are answered while another connection keeps the lock", () =>
  underLock(async ({ path }) => {
    const store = sqliteStore(path, { deadlineMs: 0 });
    const loaded = await load(store);
    expect(await store.charge(aPlan(loaded, { cost: 101 }))).toMatchObject({
      kind: "usage-exceeded",
      remaining: 100,
    });
    expect(await store.charge(aPlan(loaded, { mode: "look", cost: 0 }))).toMatchObject({
      kind: "charged",
    });
    await store.close();
  }));

test("what waits for the lock is done in order once it is free", () =>
  underLock(async ({ path, release }) => {
    const store = sqliteStore(path, { deadlineMs: 60_000 });
    const loaded = await load(store);
    const calls = Array.from({ length: 20 }, () => store.charge(aPlan(loaded)));
    await new Promise(setImmediate);
    release();
    const left = (await Promise.all(calls)).map(
      (result) => "remaining" in result && result.remaining,
    );
    expect(left).toEqual(Array.from({ length: 20 }, (_, index) => 99 - index));
    await store.close();
  }));

test("waiting for the lock does not freeze the event loop, however many wait", () =>
  underLock(async ({ path }) => {
    const store = sqliteStore(path, { deadlineMs: 400 });
    const loaded = await load(store);
    const calls = Promise.allSettled(
      Array.from({ length: 200 }, () => store.charge(aPlan(loaded))),
    );
    let isWaiting = true;
    void calls.then(() => {
      isWaiting = false;
    });
    let frozenMs = 0;
    let waitedMs = 0;
    while (isWaiting) {
      const before = performance.now();
      await new Promise(setImmediate);
      const turnMs = performance.now() - before;
      waitedMs += turnMs;
      if (turnMs > 100) frozenMs += turnMs;
    }
    expect(waitedMs).toBeGreaterThan(300);
    expect(frozenMs / waitedMs).toBeLessThan(0.5);
    await store.close();
  }));

test("closing rejects what waits, and nothing of it happens", () =>
  underLock(async ({ path, release }) => {
    const store = sqliteStore(path, { deadlineMs: 60_000 });
    const call = store.charge(aPlan(await load(store)));
    await store.close();
    await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    release();
    const reopened = sqliteStore(path);
    expect((await load(reopened)).usage.remaining).toBe(100);
    await reopened.close();
  }));
