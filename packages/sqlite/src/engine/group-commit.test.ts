import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { type Durability, sqliteStore } from "../index.js";
import { countAttempts } from "../testing/count-attempts.js";
import { damageFile } from "../testing/damage.js";
import { aLimit, aPlan, charge, load, NOW, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const DURABILITIES = ["normal", "full"] as const;

/** With `normal`, charges wait for the others of their turn if the previous turn had several. */
async function openCrowded(source: string | Database.Database, durability: Durability) {
  const store = sqliteStore(source, { durability });
  const plan = aPlan(await withKey(store, 9, 2));
  await Promise.all([charge(store, plan), charge(store, plan)]);
  await new Promise(setImmediate);
  return store;
}

test.each(DURABILITIES)(
  "charges of one turn share one commit, and each is decided on what those before it left (%s)",
  async (durability) => {
    const database = new Database(scratch.newPath());
    const attempts = countAttempts(database);
    const store = await openCrowded(database, durability);
    const loaded = await withKey(store, 1, 40);
    const before = attempts();
    const calls = Array.from({ length: 64 }, () => charge(store, aPlan(loaded)));
    const kinds = (await Promise.all(calls)).map(({ kind }) => kind);
    expect(attempts() - before).toBe(1);
    expect(kinds.filter((kind) => kind === "charged")).toHaveLength(40);
    expect(kinds.filter((kind) => kind === "usage-exceeded")).toHaveLength(24);
    expect((await load(store)).usage?.remaining).toBe(0);
    await store.close();
    database.close();
  },
);

test("a charge that is alone in its turn does not wait for the end of the turn, unless its commit waits for the disk", async () => {
  for (const durability of DURABILITIES) {
    const store = await openCrowded(":memory:", durability);
    const plan = aPlan(await withKey(store, 1, 5));
    const moment = { now: NOW, refill: null };
    const afterCrowd = store.charge(plan, moment);
    expect(afterCrowd).toBeInstanceOf(Promise);
    expect(await afterCrowd).toMatchObject({ remaining: 4 });
    const alone = store.charge(plan, moment);
    expect(alone instanceof Promise).toBe(durability === "full");
    expect(await alone).toMatchObject({ remaining: 3 });
    await store.close();
  }
});

test("charges that follow each other at once let the event loop take its turn", async () => {
  const store = sqliteStore(":memory:");
  const plan = aPlan(await withKey(store, 1, 1_000));
  let turns = 0;
  const count = () => {
    turns += 1;
    immediate = setImmediate(count);
  };
  let immediate = setImmediate(count);
  for (let left = 999; left >= 0; left -= 1)
    expect(await charge(store, plan)).toMatchObject({ remaining: left });
  clearImmediate(immediate);
  expect(turns).toBeGreaterThanOrEqual(5);
  await store.close();
});

test.each(DURABILITIES)(
  "more charges than one batch holds are all answered (%s)",
  async (durability) => {
    const store = await openCrowded(":memory:", durability);
    const loaded = await withKey(store, 1, 1_000);
    const results = await Promise.all(
      Array.from({ length: 900 }, () => charge(store, aPlan(loaded))),
    );
    const left = results.map((result) => ("remaining" in result ? result.remaining : null));
    expect(left).toEqual(Array.from({ length: 900 }, (_, index) => 999 - index));
    await store.close();
  },
);

test.each(DURABILITIES)(
  "a damaged record fails its own charge, and no other in the same commit (%s)",
  async (durability) => {
    const path = scratch.newPath();
    const store = await openCrowded(path, durability);
    const whole = await withKey(store, 1, 5);
    const broken = await withKey(store, 2, 5);
    damageFile(path, "UPDATE latchkey_counters SET remaining = -5 WHERE seq = 3");
    // Plans with a request are decided only inside the transaction.
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
  },
);

test.each(DURABILITIES)(
  "a charge that fails in the middle of its writes leaves nothing behind and fails alone (%s)",
  async (durability) => {
    const store = await openCrowded(scratch.newPath(), durability);
    const sound = aPlan(await withKey(store, 1, 5), { limits: [aLimit("minute", 0)] });
    // Takes its use, and then fails to write an invalid window.
    const faulty = aPlan(await withKey(store, 2, 5), {
      limits: [aLimit("minute", 0), { ...aLimit("hour", null), duration: Number.NaN }],
    });
    const [first, second, third] = await Promise.allSettled([
      charge(store, sound),
      charge(store, faulty),
      charge(store, sound),
    ]);
    expect(first).toMatchObject({ status: "fulfilled", value: { remaining: 4 } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "INTERNAL_SERVER_ERROR" } });
    expect(third).toMatchObject({ status: "fulfilled", value: { remaining: 3 } });
    expect((await load(store, 1)).usage?.remaining).toBe(3);
    expect((await load(store, 2)).usage?.remaining).toBe(5);
    await store.close();
  },
);

test("charges that have not begun when the store is closed are rejected and take nothing", async () => {
  const path = scratch.newPath();
  const store = await openCrowded(path, "normal");
  const loaded = await withKey(store, 1, 5);
  const call = charge(store, aPlan(loaded));
  await store.close();
  await expect(call).rejects.toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  const reopened = sqliteStore(path);
  expect((await load(reopened)).usage?.remaining).toBe(5);
  await reopened.close();
});
