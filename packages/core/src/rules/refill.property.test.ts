import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DAY_MS } from "../time.js";
import {
  dueRefill,
  latestRefillDueAt,
  nextRefillDueAt,
  type Refill,
  refillsDue,
  refillsUntilUses,
  usesAfterRefills,
} from "./refill.js";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const monthDay = fc.integer({ min: 1, max: 31 });
const weekDay = fc.integer({ min: 1, max: 7 });
const calendarRefill: fc.Arbitrary<Refill> = fc.oneof(
  fc.constant({ interval: "hourly" as const, amount: 1 }),
  fc.constant({ interval: "daily" as const, amount: 1 }),
  weekDay.map((refillDay) => ({ interval: "weekly" as const, amount: 1, refillDay })),
  monthDay.map((refillDay) => ({ interval: "monthly" as const, amount: 1, refillDay })),
);
/** Of a span, from the year 1970 on. */
const spanRefill: fc.Arbitrary<Refill> = fc.record({
  interval: fc.record({ every: fc.integer({ min: MINUTE_MS, max: 90 * DAY_MS }) }),
  amount: fc.constant(1),
  from: fc.integer({ min: 0, max: 30 * DAY_MS }),
});
const refill: fc.Arbitrary<Refill> = fc.oneof(calendarRefill, spanRefill);

/** Up to the year 2500, with instants right at midnight and at the full hour as common as any. */
const day = fc.integer({ min: 400, max: 193_000 });
const instant = fc.oneof(
  fc.tuple(day, fc.integer({ min: 0, max: DAY_MS - 1 })).map(([days, ms]) => days * DAY_MS + ms),
  fc.tuple(day, fc.integer({ min: -1, max: 1 })).map(([days, ms]) => days * DAY_MS + ms),
  fc
    .tuple(day, fc.integer({ min: 0, max: 23 }), fc.integer({ min: -1, max: 1 }))
    .map(([days, hours, ms]) => days * DAY_MS + hours * HOUR_MS + ms),
);

/** Length of a month by the rule of the Gregorian calendar, without any date function. */
function daysOfMonth(year: number, month: number): number {
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month] as number;
}

/** A day of the calendar; `weekDay`: 1 for Monday to 7. */
interface Day {
  readonly month: number;
  readonly dayOfMonth: number;
  readonly daysOfMonth: number;
  readonly weekDay: number;
}

/** The instants at which the wanted days from 1970 to 2500 begin, found by counting day by day from the epoch, a Thursday. */
function countedDays(isWanted: (day: Day) => boolean): number[] {
  const found: number[] = [];
  let [year, month, dayOfMonth, weekDay] = [1970, 0, 1, 4];
  for (let at = 0; year < 2500; at += DAY_MS) {
    const days = daysOfMonth(year, month);
    if (isWanted({ month, dayOfMonth, daysOfMonth: days, weekDay })) found.push(at);
    dayOfMonth += 1;
    weekDay = weekDay === 7 ? 1 : weekDay + 1;
    if (dayOfMonth > days) [month, dayOfMonth] = [month + 1, 1];
    if (month === 12) [year, month] = [year + 1, 0];
  }
  return found;
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

const byMonthDay = Array.from({ length: 31 }, (_, index) =>
  countedDays(({ dayOfMonth, daysOfMonth: days }) => dayOfMonth === Math.min(index + 1, days)),
);
const byWeekDay = Array.from({ length: 7 }, (_, index) =>
  countedDays((each) => each.weekDay === index + 1),
);
const everyDay = countedDays(() => true);

describe("a calendar refill falls due on the days that counting day by day from 1970 finds", () => {
  test("monthly", () => {
    fc.assert(
      fc.property(monthDay, instant, (refillDay, now) => {
        const expected = lastNotAfter(byMonthDay[refillDay - 1] as number[], now);
        expect(latestRefillDueAt({ interval: "monthly", amount: 1, refillDay }, now)).toBe(
          expected,
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test("weekly", () => {
    fc.assert(
      fc.property(weekDay, instant, (refillDay, now) => {
        const expected = lastNotAfter(byWeekDay[refillDay - 1] as number[], now);
        expect(latestRefillDueAt({ interval: "weekly", amount: 1, refillDay }, now)).toBe(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test("daily", () => {
    fc.assert(
      fc.property(instant, (now) => {
        const expected = lastNotAfter(everyDay, now);
        expect(latestRefillDueAt({ interval: "daily", amount: 1 }, now)).toBe(expected);
      }),
    );
  });

  test("hourly: on each of them 24 times", () => {
    fc.assert(
      fc.property(instant, (now) => {
        let expected = lastNotAfter(everyDay, now);
        while (expected + HOUR_MS <= now) expected += HOUR_MS;
        expect(latestRefillDueAt({ interval: "hourly", amount: 1 }, now)).toBe(expected);
      }),
    );
  });
});

test("a refill of a span falls due at each multiple of it after its beginning, found by adding up, and not before", () => {
  const span = fc.record({
    every: fc.integer({ min: MINUTE_MS, max: DAY_MS }),
    from: fc.integer({ min: 0, max: 2 ** 42 }),
    spans: fc.integer({ min: -2, max: 40 }),
    off: fc.constantFrom(-1, 0, 1, 59_999),
  });
  fc.assert(
    fc.property(span, ({ every, from, spans, off }) => {
      const now = Math.max(0, from + spans * every + off);
      const due: number[] = [];
      for (let at = from + every; at <= now; at += every) due.push(at);
      const dueAt = due.at(-1);
      const wanted: Refill = { interval: { every }, amount: 7, from };
      expect(dueRefill(wanted, now)).toEqual(dueAt === undefined ? null : { amount: 7, dueAt });
      expect(nextRefillDueAt(wanted, now)).toBe((dueAt ?? from) + every);
    }),
    { numRuns: 1_000 },
  );
});

test("spans are exact up to the last instant, as with big integers", () => {
  const [longest, lastInstant] = [2 ** 52, 8_640_000_000_000_000];
  const span = fc.record({
    every: fc.oneof(
      fc.integer({ min: MINUTE_MS, max: 10 * MINUTE_MS }),
      fc.integer({ min: MINUTE_MS, max: longest }),
    ),
    from: fc.integer({ min: 0, max: lastInstant }),
    now: fc.integer({ min: 0, max: lastInstant }),
  });
  fc.assert(
    fc.property(span, ({ every, from, now }) => {
      const steps = (BigInt(now) - BigInt(from)) / BigInt(every);
      const expected = Number(BigInt(from) + steps * BigInt(every));
      const wanted: Refill = { interval: { every }, amount: 1, from };
      const isDue = now >= from && steps > 0n;
      expect(dueRefill(wanted, now)).toEqual(isDue ? { amount: 1, dueAt: expected } : null);
      const next = BigInt(isDue ? expected : from) + BigInt(every);
      expect(nextRefillDueAt(wanted, now)).toBe(next > BigInt(lastInstant) ? null : Number(next));
    }),
    { numRuns: 2_000 },
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

/** The longest time between two refills. */
function longestPeriod({ interval }: Refill): number {
  if (typeof interval === "object") return interval.every;
  return { hourly: HOUR_MS, daily: DAY_MS, weekly: 7 * DAY_MS, monthly: 31 * DAY_MS }[interval];
}

test("a refill falls due again within a period: an hour, a day, a week, 31 days, a span", () => {
  fc.assert(
    fc.property(refill, instant, (wanted, now) => {
      const periodMs = longestPeriod(wanted);
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
    fc.property(monthDay, month, (wantedDay, { year, month: index }) => {
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

describe("the refills that fell due between two instants", () => {
  /** Not more than a few hundred refills of any interval. */
  const apart = fc.oneof(
    fc.integer({ min: 0, max: 3 * HOUR_MS }),
    fc.integer({ min: 0, max: 12 * DAY_MS }),
    fc.integer({ min: 0, max: 100 }).map((hours) => hours * HOUR_MS),
    fc.integer({ min: 0, max: 100 }).map((days) => days * DAY_MS),
  );
  const shortSpan = fc.record({
    interval: fc.record({ every: fc.integer({ min: HOUR_MS, max: 9 * DAY_MS }) }),
    amount: fc.constant(1),
    from: fc.integer({ min: 390 * DAY_MS, max: 420 * DAY_MS }),
  });
  const near = fc.integer({ min: 380 * DAY_MS, max: 430 * DAY_MS });

  test("are those found by stepping from each to the next, also around the beginning of a span", () => {
    const cases = fc.oneof(fc.tuple(calendarRefill, instant), fc.tuple(shortSpan, near));
    fc.assert(
      fc.property(cases, apart, ([wanted, since], ms) => {
        const now = since + ms;
        let count = 0;
        for (let at = since; ; count += 1) {
          at = nextRefillDueAt(wanted, at) as number;
          if (at > now) break;
        }
        expect(refillsDue(wanted, since, now)).toBe(count);
        expect(refillsDue(wanted, now, since)).toBe(0);
      }),
      { numRuns: 1_000 },
    );
  });

  test("by the week and the month are those found by counting day by day from 1970, even centuries apart", () => {
    const countIn = (instants: readonly number[], since: number, now: number) =>
      instants.filter((at) => at > since && at <= now).length;
    fc.assert(
      fc.property(monthDay, weekDay, instant, instant, (monthly, weekly, since, now) => {
        const month: Refill = { interval: "monthly", amount: 1, refillDay: monthly };
        const inMonths = countIn(byMonthDay[monthly - 1] as number[], since, now);
        expect(refillsDue(month, since, now)).toBe(inMonths);
        const week: Refill = { interval: "weekly", amount: 1, refillDay: weekly };
        const inWeeks = countIn(byWeekDay[weekly - 1] as number[], since, now);
        expect(refillsDue(week, since, now)).toBe(inWeeks);
      }),
      { numRuns: 200 },
    );
  });

  test("add up: those up to an instant in between, and those after it", () => {
    fc.assert(
      fc.property(refill, fc.tuple(instant, instant, instant), (wanted, instants) => {
        const [since, between, now] = instants.sort((one, other) => one - other) as [
          number,
          number,
          number,
        ];
        const parts = refillsDue(wanted, since, between) + refillsDue(wanted, between, now);
        expect(refillsDue(wanted, since, now)).toBe(parts);
      }),
    );
  });
});

describe("uses after refills that carry over", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const carrying = fc
    .record({
      amount: fc.oneof(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: most })),
      wantedCarry: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.nat({ max: most })),
    })
    .map(({ amount, wantedCarry }) => ({
      amount,
      carryOver: Math.min(wantedCarry, most - amount),
    }));
  const left = fc.oneof(fc.integer({ min: 0, max: 300 }), fc.nat({ max: most }));
  const times = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.nat({ max: most }));

  test("are the same as computed with big integers", () => {
    fc.assert(
      fc.property(left, carrying, times, (before, refill, count) => {
        const { amount, carryOver } = refill;
        const grown = BigInt(before) + BigInt(count) * BigInt(amount);
        const cap = BigInt(amount) + BigInt(carryOver);
        const raised = grown < cap ? grown : cap;
        const expected = raised > BigInt(before) ? raised : BigInt(before);
        expect(usesAfterRefills(before, refill, count)).toBe(Number(expected));
      }),
      { numRuns: 2_000 },
    );
  });

  test("are enough for a cost after the computed number of refills, and not after one less", () => {
    fc.assert(
      fc.property(
        carrying,
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 300 }),
        (refill, before, more) => {
          const [left, wanted] = [before - 1, before - 1 + more];
          const count = refillsUntilUses(left, refill, wanted);
          if (count === null) expect(usesAfterRefills(left, refill, most)).toBeLessThan(wanted);
          else {
            expect(usesAfterRefills(left, refill, count)).toBeGreaterThanOrEqual(wanted);
            expect(usesAfterRefills(left, refill, count - 1)).toBeLessThan(wanted);
          }
        },
      ),
    );
  });

  test("are the same whether refills are applied one by one or all at once", () => {
    fc.assert(
      fc.property(left, carrying, fc.integer({ min: 0, max: 50 }), (before, refill, count) => {
        let remaining = before;
        for (let one = 0; one < count; one += 1) remaining = usesAfterRefills(remaining, refill, 1);
        expect(usesAfterRefills(before, refill, count)).toBe(remaining);
      }),
    );
  });

  test("are the same as without a carry-over if nothing carries over", () => {
    fc.assert(
      fc.property(left, carrying, times, (before, { amount }, count) => {
        const after = count === 0 ? before : Math.max(before, amount);
        expect(usesAfterRefills(before, { amount, carryOver: 0 }, count)).toBe(after);
      }),
    );
  });
});
