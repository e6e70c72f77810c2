import fc from "fast-check";
import { expect, test } from "vitest";
import { latestRefillDueAt, nextRefillDueAt, type Refill } from "./refill.js";

const DAY_MS = 86_400_000;
const refillDay = fc.integer({ min: 1, max: 31 });
const refill: fc.Arbitrary<Refill> = fc.oneof(
  fc.constant({ interval: "daily" as const, amount: 1 }),
  fc.record({ interval: fc.constant("monthly" as const), amount: fc.constant(1), refillDay }),
);

/** Up to the year 2500, with instants right at midnight as common as any. */
const day = fc.integer({ min: 400, max: 193_000 });
const instant = fc.oneof(
  fc.tuple(day, fc.integer({ min: 0, max: DAY_MS - 1 })).map(([days, ms]) => days * DAY_MS + ms),
  fc.tuple(day, fc.integer({ min: -1, max: 1 })).map(([days, ms]) => days * DAY_MS + ms),
);

/** Length of a month by the rule of the Gregorian calendar, without any date function. */
function daysOfMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] as number;
}

/** Every due instant from 1970 to 2500, found by counting day by day from the epoch. */
function naiveDueInstants(wanted: Refill): number[] {
  const due: number[] = [];
  let [year, month, dayOfMonth] = [1970, 0, 1];
  for (let at = 0; year < 2500; at += DAY_MS) {
    const isDue =
      wanted.interval === "daily" ||
      dayOfMonth === Math.min(wanted.refillDay, daysOfMonth(year, month));
    if (isDue) due.push(at);
    dayOfMonth += 1;
    if (dayOfMonth > daysOfMonth(year, month)) [month, dayOfMonth] = [month + 1, 1];
    if (month === 12) [year, month] = [year + 1, 0];
  }
  return due;
}

/** The last of ascending instants that is not after `now`. */
function lastNotAfter(instants: readonly number[], now: number): number {
  let [from, to] = [0, instants.length - 1];
  while (from < to) {
    const middle = Math.ceil((from + to) / 2);
    if ((instants[middle] as number) <= now) from = middle;
    else to = middle - 1;
  }
  return instants[from] as number;
}

const naiveMonthly = Array.from({ length: 31 }, (_, index) =>
  naiveDueInstants({ interval: "monthly", amount: 1, refillDay: index + 1 }),
);

test("a monthly refill falls due on the days that counting day by day from 1970 finds", () => {
  fc.assert(
    fc.property(refillDay, instant, (wantedDay, now) => {
      const expected = lastNotAfter(naiveMonthly[wantedDay - 1] as number[], now);
      const found = latestRefillDueAt(
        { interval: "monthly", amount: 1, refillDay: wantedDay },
        now,
      );
      expect(found).toBe(expected);
    }),
    { numRuns: 1_000 },
  );
});

test("a daily refill falls due on every day that counting from 1970 finds", () => {
  const everyDay = naiveDueInstants({ interval: "daily", amount: 1 });
  fc.assert(
    fc.property(instant, (now) => {
      expect(latestRefillDueAt({ interval: "daily", amount: 1 }, now)).toBe(
        lastNotAfter(everyDay, now),
      );
    }),
  );
});

test("a refill never falls due later than now, and is due at its own due instant", () => {
  fc.assert(
    fc.property(refill, instant, (wanted, now) => {
      const dueAt = latestRefillDueAt(wanted, now);
      expect(dueAt).toBeLessThanOrEqual(now);
      expect(latestRefillDueAt(wanted, dueAt)).toBe(dueAt);
    }),
    { numRuns: 500 },
  );
});

test("a refill falls due again within a period: within a day, or within 31 days", () => {
  fc.assert(
    fc.property(refill, instant, (wanted, now) => {
      const periodMs = wanted.interval === "daily" ? DAY_MS : 31 * DAY_MS;
      const dueAt = latestRefillDueAt(wanted, now);
      expect(latestRefillDueAt(wanted, now + periodMs)).toBeGreaterThan(now);
      expect(now - dueAt).toBeLessThan(periodMs);
    }),
    { numRuns: 500 },
  );
});

test("the due instant never goes back while time goes on", () => {
  fc.assert(
    fc.property(refill, instant, fc.nat({ max: 400 * DAY_MS }), (wanted, now, later) => {
      expect(latestRefillDueAt(wanted, now + later)).toBeGreaterThanOrEqual(
        latestRefillDueAt(wanted, now),
      );
    }),
    { numRuns: 500 },
  );
});

test("a monthly refill falls due exactly once in every calendar month", () => {
  const month = fc.record({
    year: fc.integer({ min: 1971, max: 2499 }),
    month: fc.integer({ min: 0, max: 11 }),
  });
  fc.assert(
    fc.property(refillDay, month, (wantedDay, { year, month: index }) => {
      const wanted: Refill = { interval: "monthly", amount: 1, refillDay: wantedDay };
      const [start, end] = [Date.UTC(year, index, 1), Date.UTC(year, index + 1, 1)];
      const dueAt = latestRefillDueAt(wanted, end - 1);
      expect(dueAt).toBeGreaterThanOrEqual(start);
      expect(latestRefillDueAt(wanted, dueAt - 1)).toBeLessThan(start);
    }),
  );
});

test("the next refill is later than now, and nothing falls due before it", () => {
  fc.assert(
    fc.property(refill, instant, (wanted, now) => {
      const nextAt = nextRefillDueAt(wanted, now) as number;
      expect(nextAt).toBeGreaterThan(now);
      expect(latestRefillDueAt(wanted, nextAt)).toBe(nextAt);
      expect(latestRefillDueAt(wanted, nextAt - 1)).toBe(latestRefillDueAt(wanted, now));
    }),
    { numRuns: 1_000 },
  );
});
