import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { countAttempts } from "../testing/count-attempts.js";
import { aLimit, aPlan, charge, load, NOW, pageOfKeys, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

async function underLock(
  work: (scene: { readonly path: string; readonly release: () => void }) => Promise<void>,
): Promise<void> {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, 1, 100);
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
  "while another connection keeps the lock, writes are STORE_UNAVAILABLE after the deadline (%s)",
  (durability) =>
    underLock(async ({ path }) => {
      const store = sqliteStore(path, { deadlineMs: 50, durability });
      const loaded = await load(store);
      const calls = [charge(store, aPlan(loaded)), charge(store, aPlan(loaded)), withKey(store, 2)];
      for (const settled of await Promise.allSettled(calls)) {
        expect(settled).toMatchObject({
          status: "rejected",
          reason: { code: "STORE_UNAVAILABLE", outcome: "not-applied" },
        });
      }
      expect((await load(store)).usage?.remaining).toBe(100);
      await store.close();
    }),
);

test("a deadline of 0 gives up at once", () =>
  underLock(async ({ path }) => {
    const store = sqliteStore(path, { deadlineMs: 0 });
    const loaded = await load(store);
    await expect(charge(store, aPlan(loaded))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await store.close();
  }));

test("reads and refusals are answered while another connection keeps the lock", () =>
  underLock(async ({ path }) => {
    const store = sqliteStore(path, { deadlineMs: 0 });
    const loaded = await load(store);
    expect(await charge(store, aPlan(loaded, { cost: 101 }))).toMatchObject({
      kind: "usage-exceeded",
      remaining: 100,
    });
    const looking = aPlan(loaded, { mode: "peek", cost: 0, limits: [aLimit("a", null)] });
    expect(await charge(store, looking)).toMatchObject({ kind: "charged" });
    expect((await pageOfKeys(store)).size).toBe(1);
    await store.close();
  }));

test("a charge that need not wait answers at once, and one that is in the way of another waits behind it", () =>
  underLock(async ({ path, release }) => {
    const store = sqliteStore(path, { deadlineMs: 60_000 });
    const plan = aPlan(await load(store));
    const moment = { now: NOW, refill: null };
    const waiting = store.charge(plan, moment);
    expect(waiting).toBeInstanceOf(Promise);
    release();
    const behind = store.charge(plan, moment);
    expect(behind).toBeInstanceOf(Promise);
    expect(await Promise.all([waiting, behind])).toMatchObject([
      { remaining: 99 },
      { remaining: 98 },
    ]);
    expect(store.charge(plan, moment)).toMatchObject({ kind: "charged", remaining: 97 });
    await store.close();
  }));

test("waiting writes are done in order once the lock is free", () =>
  underLock(async ({ path, release }) => {
    const store = sqliteStore(path, { deadlineMs: 60_000 });
    const loaded = await load(store);
    const calls = Array.from({ length: 20 }, () => charge(store, aPlan(loaded)));
    await new Promise(setImmediate);
    release();
    const left = (await Promise.all(calls)).map(
      (result) => "remaining" in result && result.remaining,
    );
    expect(left).toEqual(Array.from({ length: 20 }, (_, index) => 99 - index));
    await store.close();
  }));

test("however many wait for the lock, only one asks for it in a turn of the event loop", () =>
  underLock(async ({ path }) => {
    const database = new Database(path);
    const attempts = countAttempts(database);
    const store = sqliteStore(database, { deadlineMs: 400 });
    const plan = aPlan(await load(store));
    const calls = Promise.allSettled(Array.from({ length: 200 }, () => charge(store, plan)));
    expect(attempts()).toBe(1);
    let isWaiting = true;
    void calls.then(() => {
      isWaiting = false;
    });
    let mostInOneTurn = 0;
    while (isWaiting) {
      const before = attempts();
      await new Promise(setImmediate);
      mostInOneTurn = Math.max(mostInOneTurn, attempts() - before);
    }
    expect(mostInOneTurn).toBe(1);
    expect((await calls).every(({ status }) => status === "rejected")).toBe(true);
    database.close();
  }));

test("closing rejects waiting calls, and none of them takes effect", () =>
  underLock(async ({ path, release }) => {
    const store = sqliteStore(path, { deadlineMs: 60_000 });
    const call = charge(store, aPlan(await load(store)));
    await store.close();
    await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
    release();
    const reopened = sqliteStore(path);
    expect((await load(reopened)).usage?.remaining).toBe(100);
    await reopened.close();
  }));
