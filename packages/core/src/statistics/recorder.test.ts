import { expect, test } from "vitest";
import { LatchkeyError } from "../errors.js";
import type { ErrorListener } from "../lib/error-listener.js";
import type { StatisticsBatch } from "../store/statistics.js";
import { loadedWith } from "../testing/records.js";
import { cachedKey } from "../verification/key-cache.js";
import { createStatisticsRecorder } from "./recorder.js";

const FLUSH_MS = 5_000;
const unavailable = (outcome: "not-applied" | "unknown") =>
  new LatchkeyError("STORE_UNAVAILABLE", "away", { outcome });

/** A store that keeps every batch and fails as the test says, and timers that the test fires. */
function setUp(onError: ErrorListener | null = null, isDurable = false, flushMs = FLUSH_MS) {
  const batches: StatisticsBatch[] = [];
  const failures: (Error | undefined)[] = [];
  /** How many calls of the store were under way, at each moment. */
  const atOnce: number[] = [];
  const timers: { readonly callback: () => void; readonly delayMs: number }[] = [];
  const store = {
    async addStatistics(_workspaceId: string, batch: StatisticsBatch) {
      batches.push(batch);
      atOnce.push((atOnce.at(-1) ?? 0) + 1);
      const failure = failures.shift();
      await Promise.resolve();
      atOnce.push((atOnce.at(-1) ?? 0) - 1);
      if (failure !== undefined) throw failure;
    },
  };
  const passed = { ms: 5 };
  const recorder = createStatisticsRecorder(
    store,
    { flushMs, isDurable },
    onError,
    { steady: () => passed.ms, machineNow: null },
    async () => undefined,
    (callback, delayMs) => {
      const timer = { callback, delayMs };
      timers.push(timer);
      return () => {
        if (timers.includes(timer)) timers.splice(timers.indexOf(timer), 1);
      };
    },
  );
  /** Fires the next timer, and waits until what it started is done. */
  const fire = async () => {
    timers.shift()?.callback();
    await recorder.flush();
  };
  const countsOfKey = (batch: StatisticsBatch | undefined) =>
    batch?.counts.filter(({ subject }) => subject.kind === "key").map(({ count }) => count);
  return { recorder, batches, failures, atOnce, timers, passed, fire, countsOfKey };
}

const keyNamed = (id: string) => cachedKey(loadedWith({ id }), []);
const loaded = keyNamed("key_1");

test("no timer runs before the first count, and one from then on", () => {
  const { recorder, timers } = setUp();
  expect(timers).toHaveLength(0);
  recorder.count(loaded, "VALID", 1);
  recorder.count(loaded, "VALID", 2);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([FLUSH_MS]);
});

test("many verifications reach the store at once, and none twice", async () => {
  const { recorder, batches, fire, countsOfKey, timers } = setUp();
  for (let at = 1; at <= 3; at += 1) recorder.count(loaded, "VALID", at);
  await fire();
  expect(batches.map(countsOfKey)).toEqual([[3]]);
  expect(timers).toHaveLength(0);
  recorder.count(loaded, "VALID", 4);
  await fire();
  expect(batches.map(countsOfKey)).toEqual([[3], [1]]);
});

test("a secret that no key has is not counted", () => {
  const { recorder, timers } = setUp();
  recorder.count(loaded, "NOT_FOUND", 1);
  expect(timers).toHaveLength(0);
});

test("a flush without counts does not call the store", async () => {
  const { recorder, batches } = setUp();
  await recorder.flush();
  expect(batches).toEqual([]);
});

test("a flush cancels the timer", async () => {
  const { recorder, timers } = setUp();
  recorder.count(loaded, "VALID", 1);
  await recorder.flush();
  expect(timers).toEqual([]);
});

test("a batch that was not applied is written with the next", async () => {
  const { recorder, batches, failures, fire, countsOfKey } = setUp();
  failures.push(unavailable("not-applied"), unavailable("not-applied"));
  recorder.count(loaded, "VALID", 1);
  await fire();
  recorder.count(loaded, "VALID", 2);
  await fire();
  expect(countsOfKey(batches.at(-1))).toEqual([2]);
});

test("a batch that was not applied is written a few seconds later, even if nothing is counted meanwhile", async () => {
  const { recorder, batches, failures, timers, countsOfKey } = setUp(null, false, 3_600_000);
  const fire = async () => {
    timers.shift()?.callback();
    // Waits for the flush, and writes only what belongs to another workspace.
    await recorder.flush("ws_other");
  };
  failures.push(unavailable("not-applied"), unavailable("not-applied"));
  recorder.count(loaded, "VALID", 1);
  for (let tries = 1; tries <= 2; tries += 1) {
    await fire();
    expect(timers.map(({ delayMs }) => delayMs)).toEqual([5_000]);
  }
  await fire();
  expect(batches.map(countsOfKey)).toEqual([[1], [1], [1]]);
  expect(timers).toEqual([]);
});

test("nothing is written any more after closing, even if the last batch was not applied", async () => {
  const { recorder, failures, timers } = setUp();
  failures.push(unavailable("not-applied"));
  recorder.count(loaded, "VALID", 1);
  await recorder.close();
  expect(timers).toEqual([]);
});

test.each([
  unavailable("unknown"),
  new LatchkeyError("STORE_CORRUPT", "damaged"),
  new Error("anything else"),
])("a batch that may have been applied is not written again: %s", async (failure) => {
  const { recorder, batches, failures, fire, countsOfKey } = setUp();
  failures.push(failure);
  recorder.count(loaded, "VALID", 1);
  await fire();
  recorder.count(loaded, "VALID", 2);
  await fire();
  expect(batches.map(countsOfKey)).toEqual([[1], [1]]);
});

test("a store that cannot be reached is not called for every batch: the rest waits for the next flush", async () => {
  const { recorder, batches, failures } = setUp();
  for (let index = 0; index < 1_200; index += 1)
    recorder.count(keyNamed(`key_${index}`), "VALID", 1);
  failures.push(unavailable("not-applied"));
  await recorder.flush();
  expect(batches).toHaveLength(1);
  await recorder.flush();
  const keys = batches.slice(1).flatMap(({ uses }) => uses.map(({ id }) => id));
  expect(new Set(keys).size).toBe(1_200);
});

/** Counts of 2,000 workspaces with two keys each. */
function countMany({ recorder }: ReturnType<typeof setUp>) {
  for (const key of ["key_a", "key_b"])
    for (let index = 0; index < 2_000; index += 1) {
      const fields = { id: `${key}_${index}`, workspaceId: `ws_${index}` };
      recorder.count(cachedKey(loadedWith(fields), []), "VALID", 1);
    }
}

test("counts of many workspaces are written four workspaces at a time, after the first alone", async () => {
  const all = setUp();
  countMany(all);
  await all.recorder.flush();
  expect(all.batches.map(({ uses }) => uses.length)).toEqual(Array(2_000).fill(2));
  expect(all.atOnce.slice(0, 4)).toEqual([1, 0, 1, 2]);
  expect(Math.max(...all.atOnce)).toBe(4);
});

test("the counts of one workspace can be written alone; the timer of the others runs on", async () => {
  const all = setUp();
  countMany(all);
  await all.recorder.flush("ws_7");
  expect(all.batches.map(({ uses }) => uses.map(({ id }) => id))).toEqual([["key_a_7", "key_b_7"]]);
  expect(all.timers).toHaveLength(1);
  await all.fire();
  expect(all.batches).toHaveLength(2_000);
});

test("full batches are written one after another", async () => {
  const { recorder, batches, atOnce } = setUp();
  for (let index = 0; index < 2_000; index += 1)
    recorder.count(keyNamed(`key_${index}`), "VALID", 1);
  await recorder.flush();
  expect([batches.length, Math.max(...atOnce)]).toEqual([5, 1]);
});

test("a store that goes away in the middle loses no count of any workspace", async () => {
  const errors: unknown[] = [];
  const all = setUp((error) => void errors.push(error));
  countMany(all);
  const away = unavailable("not-applied");
  all.failures.push(...Array(1).fill(undefined), ...Array(4).fill(away));
  await all.recorder.flush();
  expect([all.batches.length, errors.length]).toEqual([5, 4]);
  all.failures.push(away);
  await all.recorder.flush();
  expect(all.batches).toHaveLength(6);
  await all.recorder.flush();
  const added = [...all.batches.slice(0, 1), ...all.batches.slice(6)];
  const keys = added.flatMap(({ uses }) => uses.map(({ id }) => id));
  expect([keys.length, new Set(keys).size]).toEqual([4_000, 4_000]);
});

test("nothing fails if the store fails", async () => {
  const { recorder, failures } = setUp();
  failures.push(new Error("broken"));
  recorder.count(loaded, "VALID", 1);
  expect(await recorder.flush()).toBeUndefined();
});

test("two flushes at once wait for each other and write everything once", async () => {
  const { recorder, batches, countsOfKey } = setUp();
  recorder.count(loaded, "VALID", 1);
  const first = recorder.flush();
  recorder.count(loaded, "VALID", 2);
  await Promise.all([first, recorder.flush()]);
  const total = batches.flatMap((batch) => countsOfKey(batch) ?? []).reduce((sum, n) => sum + n, 0);
  expect(total).toBe(2);
});

test.each([
  { keys: 49_999, delayMs: FLUSH_MS },
  { keys: 50_000, delayMs: 0 },
])("with $keys keys held the flush is due in $delayMs ms", ({ keys, delayMs }) => {
  const { recorder, timers } = setUp();
  for (let index = 0; index < keys; index += 1)
    recorder.count(keyNamed(`key_${index}`), "VALID", 1);
  expect(timers.map((timer) => timer.delayMs)).toEqual([delayMs]);
});

test("every failure is reported, even if the batch is kept", async () => {
  const reported: unknown[] = [];
  const { recorder, failures } = setUp((error) => reported.push(error));
  const all = [unavailable("not-applied"), unavailable("unknown"), new Error("broken")];
  failures.push(...all);
  for (const _ of all) {
    recorder.count(loaded, "VALID", 1);
    await recorder.flush();
  }
  expect(reported).toEqual(all);
});

test("nothing is reported without a failure", async () => {
  const reported: unknown[] = [];
  const { recorder } = setUp((error) => reported.push(error));
  recorder.count(loaded, "VALID", 1);
  await recorder.flush();
  expect(reported).toEqual([]);
});

test("a listener that throws or rejects does not stop the flush, nor the next", async () => {
  for (const onError of [
    () => {
      throw new Error("listener");
    },
    async () => {
      throw new Error("listener");
    },
  ]) {
    const { recorder, failures, batches, countsOfKey } = setUp(onError);
    failures.push(unavailable("not-applied"));
    recorder.count(loaded, "VALID", 1);
    await recorder.flush();
    recorder.count(loaded, "VALID", 2);
    await recorder.flush();
    expect(countsOfKey(batches.at(-1))).toEqual([2]);
  }
});

test("if counts are durable, only the latest use is written later", async () => {
  const { recorder, batches, fire } = setUp(null, true);
  recorder.count(loaded, "VALID", 3_700_001);
  recorder.count(loaded, "EXTRA_USES", 3_700_001, 4);
  recorder.count(loaded, "RATE_LIMITED", 3_700_002);
  recorder.count(keyNamed("key_refused"), "DISABLED", 3_700_002);
  await fire();
  const uses = [{ kind: "key", id: loaded.key.id, usedAt: 3_700_001 }];
  expect(batches).toEqual([{ counts: [], uses }]);
});

test.each([
  { afterMs: 3_629_000, hourAt: 0 },
  { afterMs: 3_631_000, hourAt: 3_600_000 },
])(
  "counts written $afterMs ms after the start of their hour are added to the hour of $hourAt",
  async ({ afterMs, hourAt }) => {
    const { recorder, batches, passed } = setUp();
    recorder.count(loaded, "VALID", 1_000);
    passed.ms += afterMs - 1_000;
    await recorder.flush();
    expect(new Set(batches.flatMap(({ counts }) => counts.map((one) => one.hourAt)))).toEqual(
      new Set([hourAt]),
    );
  },
);

test("the counts of an hour are written at most five seconds after its end", () => {
  const { recorder, timers } = setUp(null, false, 3_600_000);
  recorder.count(loaded, "VALID", 3_599_000);
  expect(timers.map(({ delayMs }) => delayMs)).toEqual([6_000]);
});

test.each([true, false])(
  "counts that wait for a slow store are added to an hour that was not exported yet: after a failure %s",
  async (isAfterFailure) => {
    const { recorder, batches, passed, failures } = setUp(null, false, 3_600_000);
    const startMs = 3_599_000 - passed.ms;
    for (let index = 0; index < 10_000; index += 1)
      recorder.count(keyNamed(`key_${index}`), "VALID", 3_599_000);
    if (isAfterFailure) {
      failures.push(unavailable("not-applied"));
      await recorder.flush();
    }
    /** How long after the end of the hour that it is added to each batch is written. */
    const lateBy: number[] = [];
    batches.push = (batch) => {
      lateBy.push(startMs + passed.ms - ((batch.counts[0]?.hourAt ?? 0) + 3_600_000));
      passed.ms += 8_000;
      return Array.prototype.push.call(batches, batch);
    };
    await recorder.flush();
    expect(Math.max(...lateBy)).toBeLessThan(120_000);
    expect(lateBy.length).toBeGreaterThan(20);
  },
);
