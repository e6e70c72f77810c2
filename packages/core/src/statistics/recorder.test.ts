import { expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import type { StatisticsBatch } from "../store/statistics.js";
import { loadedWith } from "../testing/records.js";
import { createVerificationCounter } from "./recorder.js";

const FLUSH_MS = 5_000;
const unavailable = (outcome: "not-applied" | "unknown") =>
  new LatchkeyError("STORE_UNAVAILABLE", "away", { outcome });

/** A store that notes what it is told, and fails as the test says; and a clock of timers that the test lets run. */
function setUp() {
  const told: StatisticsBatch[] = [];
  const failures: Error[] = [];
  const timers: { readonly callback: () => void; readonly delayMs: number }[] = [];
  const store = {
    async addVerifications(_workspaceId: string, batch: StatisticsBatch) {
      told.push(batch);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
    },
  };
  const counter = createVerificationCounter(store, FLUSH_MS, (callback, delayMs) => {
    const timer = { callback, delayMs };
    timers.push(timer);
    return () => {
      if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
    };
  });
  /** Lets the next timer run, and waits until what it began is done. */
  const fire = async () => {
    timers.shift()?.callback();
    await counter.flush();
  };
  const countsOfKey = (batch: StatisticsBatch | undefined) =>
    batch?.counts.filter(({ subject }) => subject.kind === "key").map(({ count }) => count);
  return { counter, told, failures, timers, fire, countsOfKey };
}

const keyNamed = (id: string) => ({ ...loadedWith({ id }), standing: [], tally: null });
const loaded = keyNamed("key_1");

test("no timer runs before the first count, and one from then on", () => {
  const { counter, timers } = setUp();
  expect(timers).toHaveLength(0);
  counter.count(loaded, "VALID", 1);
  counter.count(loaded, "VALID", 2);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([FLUSH_MS]);
});

test("the store is told of many verifications at once, and of none twice", async () => {
  const { counter, told, fire, countsOfKey, timers } = setUp();
  for (let at = 1; at <= 3; at += 1) counter.count(loaded, "VALID", at);
  await fire();
  expect(told.map(countsOfKey)).toEqual([[3]]);
  expect(timers).toHaveLength(0);
  counter.count(loaded, "VALID", 4);
  await fire();
  expect(told.map(countsOfKey)).toEqual([[3], [1]]);
});

test("a secret that no key has is not counted", () => {
  const { counter, timers } = setUp();
  counter.count(loaded, "NOT_FOUND", 1);
  expect(timers).toHaveLength(0);
});

test("a flush without counts asks nothing of the store", async () => {
  const { counter, told } = setUp();
  await counter.flush();
  expect(told).toEqual([]);
});

test("a flush calls the timer off", async () => {
  const { counter, timers } = setUp();
  counter.count(loaded, "VALID", 1);
  await counter.flush();
  expect(timers).toEqual([]);
});

test("what was not applied is told with the next", async () => {
  const { counter, told, failures, fire, countsOfKey } = setUp();
  failures.push(unavailable("not-applied"), unavailable("not-applied"));
  counter.count(loaded, "VALID", 1);
  await fire();
  counter.count(loaded, "VALID", 2);
  await fire();
  expect(countsOfKey(told.at(-1))).toEqual([2]);
});

test.each([
  unavailable("unknown"),
  new LatchkeyError("STORE_CORRUPT", "damaged"),
  new Error("anything else"),
])("what may have been applied is told no more: %s", async (failure) => {
  const { counter, told, failures, fire, countsOfKey } = setUp();
  failures.push(failure);
  counter.count(loaded, "VALID", 1);
  await fire();
  counter.count(loaded, "VALID", 2);
  await fire();
  expect(told.map(countsOfKey)).toEqual([[1], [1]]);
});

test("a store that is away is not asked for every batch: the rest waits for the next time", async () => {
  const { counter, told, failures } = setUp();
  for (let index = 0; index < 1_200; index += 1)
    counter.count(keyNamed(`key_${index}`), "VALID", 1);
  failures.push(unavailable("not-applied"));
  await counter.flush();
  expect(told).toHaveLength(1);
  await counter.flush();
  const keys = told.slice(1).flatMap(({ lastUsed }) => lastUsed.map(({ keyId }) => keyId));
  expect(new Set(keys).size).toBe(1_200);
});

test("nothing fails where the store fails", async () => {
  const { counter, failures } = setUp();
  failures.push(new Error("broken"));
  counter.count(loaded, "VALID", 1);
  expect(await counter.flush()).toBeUndefined();
});

test("two flushes at once wait for each other and tell of everything once", async () => {
  const { counter, told, countsOfKey } = setUp();
  counter.count(loaded, "VALID", 1);
  const first = counter.flush();
  counter.count(loaded, "VALID", 2);
  await Promise.all([first, counter.flush()]);
  const total = told.flatMap((batch) => countsOfKey(batch) ?? []).reduce((sum, n) => sum + n, 0);
  expect(total).toBe(2);
});

test.each([
  { keys: 49_999, delayMs: FLUSH_MS },
  { keys: 50_000, delayMs: 0 },
])("with $keys keys held the store is told in $delayMs ms", ({ keys, delayMs }) => {
  const { counter, timers } = setUp();
  for (let index = 0; index < keys; index += 1) counter.count(keyNamed(`key_${index}`), "VALID", 1);
  expect(timers.map((timer) => timer.delayMs)).toEqual([delayMs]);
});
