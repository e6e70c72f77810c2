import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type ClockDifferenceError, watchClock } from "./clock-check.js";

const NOW = 1_000_000_000;
const MINUTE = 60_000;

// Only the host's timers: the two compared clocks are passed in.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Watches a store with the given clock, and lets minutes pass. */
function setUp(readClock?: () => Promise<number>, now = () => NOW) {
  const differences: number[] = [];
  const store = readClock === undefined ? {} : { readClock };
  const stop = watchClock(store, now, (error: ClockDifferenceError) => {
    differences.push(error.differenceMs);
  });
  const pass = async (minutes: number) => {
    vi.advanceTimersByTime(minutes * MINUTE);
    await settled();
  };
  return { differences, stop, pass };
}

test.each([
  { ahead: -MINUTE - 1, differences: [-MINUTE - 1] },
  { ahead: -MINUTE, differences: [] },
  { ahead: -MINUTE + 1, differences: [] },
  { ahead: 0, differences: [] },
  { ahead: MINUTE - 1, differences: [] },
  { ahead: MINUTE, differences: [] },
  { ahead: MINUTE + 1, differences: [MINUTE + 1] },
])("a process that is $ahead ms ahead of the store reports $differences", async (example) => {
  const { differences } = setUp(async () => NOW - example.ahead);
  await settled();
  expect(differences).toEqual(example.differences);
});

test("a difference is reported once, and then the clock is not read again", async () => {
  let reads = 0;
  const { differences, pass } = setUp(async () => {
    reads += 1;
    return NOW - 2 * MINUTE;
  });
  await settled();
  await pass(60);
  expect([differences, reads]).toEqual([[2 * MINUTE], 1]);
});

test("the clock is read every ten minutes: one that drifts later is noticed", async () => {
  let drift = 0;
  const { differences, pass } = setUp(async () => NOW + drift);
  await pass(9);
  drift = 2 * MINUTE;
  expect(differences).toEqual([]);
  await pass(1);
  expect(differences).toEqual([-2 * MINUTE]);
});

test("the time that reading takes is not a difference: only a certain one counts", async () => {
  let now = NOW;
  const { differences } = setUp(
    async () => {
      now += 5 * MINUTE;
      return NOW;
    },
    () => now,
  );
  await settled();
  expect(differences).toEqual([]);
});

test("a store without a clock, or one that cannot be reached, is not reported", async () => {
  const away = setUp(() => Promise.reject(new Error("away")));
  const without = setUp();
  await away.pass(20);
  await without.pass(20);
  expect([away.differences, without.differences]).toEqual([[], []]);
});

test("a stopped watch reads no clock", async () => {
  let reads = 0;
  const { stop, pass } = setUp(async () => {
    reads += 1;
    return NOW;
  });
  await settled();
  stop();
  await pass(60);
  expect(reads).toBe(1);
});

test("an answer that comes after the watch was stopped reports nothing", async () => {
  let answer: (clock: number) => void = () => undefined;
  const { differences, stop } = setUp(
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  stop();
  answer(NOW - 2 * MINUTE);
  await settled();
  expect(differences).toEqual([]);
});
