import { describe, expect, test } from "vitest";
import {
  countedFrom,
  dueRefill,
  isRefillSpan,
  latestRefillDueAt,
  nextRefillDueAt,
  REFILL_INTERVALS,
  type Refill,
  refillAfter,
  refillSetting,
} from "./refill.js";

const DAILY: Refill = { interval: "daily", amount: 100 };
const monthlyOn = (refillDay: number): Refill => ({ interval: "monthly", amount: 100, refillDay });

/** The latest due instant at `now`, both written as ISO 8601. */
const latestDue = (refill: Refill, now: string) =>
  new Date(latestRefillDueAt(refill, Date.parse(now))).toISOString();

describe("a daily refill", () => {
  test.each([
    {
      label: "a millisecond before midnight UTC",
      now: "2026-03-01T23:59:59.999Z",
      due: "2026-03-01T00:00:00.000Z",
    },
    {
      label: "at midnight UTC itself",
      now: "2026-03-02T00:00:00.000Z",
      due: "2026-03-02T00:00:00.000Z",
    },
    {
      label: "a millisecond after midnight UTC",
      now: "2026-03-02T00:00:00.001Z",
      due: "2026-03-02T00:00:00.000Z",
    },
  ])("$label last fell due at $due", ({ now, due }) => {
    expect(latestDue(DAILY, now)).toBe(due);
  });

  test.each([
    { now: "2024-02-29T12:00:00.000Z", due: "2024-02-29T00:00:00.000Z" },
    { now: "2100-03-01T00:00:00.000Z", due: "2100-03-01T00:00:00.000Z" },
    { now: "2027-01-01T00:00:00.000Z", due: "2027-01-01T00:00:00.000Z" },
    { now: "1970-01-01T00:00:00.000Z", due: "1970-01-01T00:00:00.000Z" },
  ])("at $now it last fell due at $due", ({ now, due }) => {
    expect(latestDue(DAILY, now)).toBe(due);
  });

  test("in the hours in which a clock in Berlin is set forward it still falls due at midnight UTC", () => {
    expect(latestDue(DAILY, "2026-03-29T23:30:00.000Z")).toBe("2026-03-29T00:00:00.000Z");
  });
});

describe("an hourly refill", () => {
  test.each([
    ["2026-03-01T23:59:59.999Z", "2026-03-01T23:00:00.000Z"],
    ["2026-03-02T00:00:00.000Z", "2026-03-02T00:00:00.000Z"],
    ["2026-03-02T00:00:00.001Z", "2026-03-02T00:00:00.000Z"],
  ])("at %s last fell due at %s", (now, due) => {
    expect(latestDue({ interval: "hourly", amount: 1 }, now)).toBe(due);
  });
});

describe("a weekly refill", () => {
  // 2026-03-02 is a Monday.
  test.each([
    [1, "2026-03-01T23:59:59.999Z", "2026-02-23T00:00:00.000Z"],
    [1, "2026-03-02T00:00:00.000Z", "2026-03-02T00:00:00.000Z"],
    [1, "2026-03-02T00:00:00.001Z", "2026-03-02T00:00:00.000Z"],
    [7, "2026-03-07T23:59:59.999Z", "2026-03-01T00:00:00.000Z"],
    [7, "2026-03-08T00:00:00.000Z", "2026-03-08T00:00:00.000Z"],
    [4, "2027-01-01T00:00:00.000Z", "2026-12-31T00:00:00.000Z"],
    [1, "1970-01-05T00:00:00.000Z", "1970-01-05T00:00:00.000Z"],
    [1, "1970-01-04T23:59:59.999Z", "1969-12-29T00:00:00.000Z"],
  ])("on day %i, at %s, last fell due at %s", (refillDay, now, due) => {
    expect(latestDue({ interval: "weekly", amount: 1, refillDay }, now)).toBe(due);
  });
});

describe("a refill of a span", () => {
  const every: Refill = { interval: { every: 90_000 }, amount: 5, from: 1_000 };

  test.each([
    [0, null, 91_000],
    [1_000, null, 91_000],
    [90_999, null, 91_000],
    [91_000, 91_000, 181_000],
    [91_001, 91_000, 181_000],
    [180_999, 91_000, 181_000],
    [181_000, 181_000, 271_000],
  ])("at %i last fell due at %s, and falls due next at %i", (now, dueAt, next) => {
    expect(dueRefill(every, now)).toEqual(dueAt === null ? null : { amount: 5, dueAt });
    expect(nextRefillDueAt(every, now)).toBe(next);
  });

  test("that would be later than the last instant of a date does not fall due", () => {
    const longest: Refill = {
      interval: { every: 2 ** 52 },
      amount: 5,
      from: 8_000_000_000_000_000,
    };
    expect(nextRefillDueAt(longest, 8_000_000_000_000_000)).toBeNull();
  });

  test("is shown as it was given, without the instant that it is counted from", () => {
    const given = { interval: { every: 90_000 }, amount: 5 };
    expect(refillSetting(countedFrom(given, 7))).toEqual(given);
    expect(countedFrom(given, 7)).toEqual({ ...given, from: 7 });
    expect(countedFrom(DAILY, 7)).toBe(DAILY);
  });
});

describe("a monthly refill", () => {
  test.each([
    {
      label: "a millisecond before its day",
      now: "2026-05-14T23:59:59.999Z",
      due: "2026-04-15T00:00:00.000Z",
    },
    {
      label: "at the first instant of its day",
      now: "2026-05-15T00:00:00.000Z",
      due: "2026-05-15T00:00:00.000Z",
    },
    {
      label: "a millisecond into its day",
      now: "2026-05-15T00:00:00.001Z",
      due: "2026-05-15T00:00:00.000Z",
    },
  ])("on the 15th, $label, last fell due at $due", ({ now, due }) => {
    expect(latestDue(monthlyOn(15), now)).toBe(due);
  });

  test("on the 1st falls due when the year begins", () => {
    expect(latestDue(monthlyOn(1), "2026-12-31T23:59:59.999Z")).toBe("2026-12-01T00:00:00.000Z");
    expect(latestDue(monthlyOn(1), "2027-01-01T00:00:00.000Z")).toBe("2027-01-01T00:00:00.000Z");
  });

  test("on a day that January has not reached fell due in December of the year before", () => {
    expect(latestDue(monthlyOn(20), "2027-01-19T23:59:59.999Z")).toBe("2026-12-20T00:00:00.000Z");
  });

  test.each([
    { refillDay: 28, year: 2026, due: "2026-02-28" },
    { refillDay: 29, year: 2026, due: "2026-02-28" },
    { refillDay: 30, year: 2026, due: "2026-02-28" },
    { refillDay: 31, year: 2026, due: "2026-02-28" },
    { refillDay: 28, year: 2024, due: "2024-02-28" },
    { refillDay: 29, year: 2024, due: "2024-02-29" },
    { refillDay: 30, year: 2024, due: "2024-02-29" },
    { refillDay: 31, year: 2024, due: "2024-02-29" },
    { refillDay: 31, year: 2000, due: "2000-02-29" },
    { refillDay: 31, year: 2100, due: "2100-02-28" },
    { refillDay: 29, year: 2400, due: "2400-02-29" },
  ])("on day $refillDay falls due on $due in February $year", ({ refillDay, year, due }) => {
    expect(latestDue(monthlyOn(refillDay), `${year}-03-01T00:00:00.000Z`)).toBe(
      `${due}T00:00:00.000Z`,
    );
  });

  test("on the 31st is not due before the last day of a short month, and is from its first instant on", () => {
    expect(latestDue(monthlyOn(31), "2026-02-27T23:59:59.999Z")).toBe("2026-01-31T00:00:00.000Z");
    expect(latestDue(monthlyOn(31), "2026-02-28T00:00:00.000Z")).toBe("2026-02-28T00:00:00.000Z");
    expect(latestDue(monthlyOn(31), "2026-04-29T23:59:59.999Z")).toBe("2026-03-31T00:00:00.000Z");
    expect(latestDue(monthlyOn(31), "2026-04-30T00:00:00.000Z")).toBe("2026-04-30T00:00:00.000Z");
  });

  test("on the 31st goes back to the 31st after a short month, and stays on no earlier day", () => {
    expect(latestDue(monthlyOn(31), "2026-03-31T00:00:00.000Z")).toBe("2026-03-31T00:00:00.000Z");
    expect(latestDue(monthlyOn(31), "2026-03-30T23:59:59.999Z")).toBe("2026-02-28T00:00:00.000Z");
  });

  test.each([
    { month: "01", days: 31 },
    { month: "02", days: 28 },
    { month: "03", days: 31 },
    { month: "04", days: 30 },
    { month: "05", days: 31 },
    { month: "06", days: 30 },
    { month: "07", days: 31 },
    { month: "08", days: 31 },
    { month: "09", days: 30 },
    { month: "10", days: 31 },
    { month: "11", days: 30 },
    { month: "12", days: 31 },
  ])("on the 31st falls due on day $days of month $month in 2026", ({ month, days }) => {
    expect(latestDue(monthlyOn(31), `2026-${month}-${days}T23:59:59.999Z`)).toBe(
      `2026-${month}-${days}T00:00:00.000Z`,
    );
  });

  test("before its first day in January 1970 was last due before the epoch, when nothing is owed", () => {
    expect(latestDue(monthlyOn(31), "1970-01-01T00:00:00.000Z")).toBe("1969-12-31T00:00:00.000Z");
  });

  test("is still an instant, and not later than now, at the last instant of the calendar", () => {
    const lastInstant = 8_640_000_000_000_000;
    const dueAt = latestRefillDueAt(monthlyOn(13), lastInstant);
    expect(Number.isSafeInteger(dueAt)).toBe(true);
    expect(dueAt).toBeLessThanOrEqual(lastInstant);
  });
});

test("the named intervals are those of the calendar", () => {
  expect(REFILL_INTERVALS).toEqual(["hourly", "daily", "weekly", "monthly"]);
});

test.each([
  [59_999, false],
  [60_000, true],
  [60_000.5, false],
  [2 ** 52, true],
  [2 ** 52 + 1, false],
  [Number.NaN, false],
])("a refill every %d ms: %s", (ms, isAllowed) => {
  expect(isRefillSpan(ms)).toBe(isAllowed);
});

describe("dueRefill", () => {
  test("a key without a refill is never owed one", () => {
    expect(dueRefill(null, Date.parse("2026-05-15T00:00:00.000Z"))).toBeNull();
  });

  test("after several missed periods only one refill is owed, the latest", () => {
    expect(dueRefill(monthlyOn(15), Date.parse("2026-05-20T08:00:00.000Z"))).toEqual({
      amount: 100,
      dueAt: Date.parse("2026-05-15T00:00:00.000Z"),
    });
  });
});

describe("a refill that carries uses over", () => {
  const refill: Refill = { interval: "daily", amount: 100, carryOver: 250 };
  const [now, dueAt] = [Date.parse("2026-05-20T08:00:00.000Z"), Date.parse("2026-05-20")];
  const daysAgo = (days: number) => now - days * 86_400_000;

  test("raises uses to at most its amount plus its carry-over", () => {
    expect(dueRefill(refill, now)).toMatchObject({ amount: 350, dueAt });
    expect(dueRefill({ ...refill, carryOver: 0 }, now)).toEqual({ amount: 100, dueAt });
  });

  test("adds nothing until it is known up to when refills were applied", () => {
    expect(dueRefill(refill, now)?.carry).toMatchObject({ units: 0, since: null });
  });

  test.each([
    [0, 0],
    [1, 100],
    [3, 300],
    [4, 350],
    [400, 350],
  ])("adds what %i days have brought: %i", (days, units) => {
    const since = daysAgo(days);
    const due = dueRefill(refill, now)?.carry?.countedFrom(since);
    expect(due).toMatchObject({ amount: 350, dueAt, carry: { units, since } });
    expect(due?.carry?.countedFrom(now).carry).toMatchObject({ units: 0, since: now });
  });
});

describe("the next refill", () => {
  test.each([
    { refill: DAILY, now: "2026-03-01T23:59:59.999Z", next: "2026-03-02T00:00:00.000Z" },
    { refill: DAILY, now: "2026-03-02T00:00:00.000Z", next: "2026-03-03T00:00:00.000Z" },
    { refill: DAILY, now: "2026-12-31T00:00:00.001Z", next: "2027-01-01T00:00:00.000Z" },
    { refill: monthlyOn(15), now: "2026-05-14T23:59:59.999Z", next: "2026-05-15T00:00:00.000Z" },
    { refill: monthlyOn(15), now: "2026-05-15T00:00:00.000Z", next: "2026-06-15T00:00:00.000Z" },
    { refill: monthlyOn(31), now: "2026-01-31T00:00:00.000Z", next: "2026-02-28T00:00:00.000Z" },
    { refill: monthlyOn(31), now: "2026-12-31T12:00:00.000Z", next: "2027-01-31T00:00:00.000Z" },
  ])(
    "of $refill.interval $refill.refillDay at $now falls due at $next",
    ({ refill, now, next }) => {
      const nextAt = nextRefillDueAt(refill, Date.parse(now)) as number;
      expect(new Date(nextAt).toISOString()).toBe(next);
    },
  );

  test.each([DAILY, monthlyOn(1)])("of %o is null if no date is that late", (refill) => {
    expect(nextRefillDueAt(refill, 8_640_000_000_000_000)).toBeNull();
  });
});

describe("refillAfter", () => {
  const refill = { interval: "daily", amount: 5 } as const;

  test("uses without a limit have no refill", () => {
    expect(refillAfter(refill, null)).toBeNull();
    expect(refillAfter(null, null)).toBeNull();
  });

  test.each([0, 1, Number.MAX_SAFE_INTEGER])("with %d uses left it goes on", (remaining) => {
    expect(refillAfter(refill, remaining)).toBe(refill);
    expect(refillAfter(null, remaining)).toBeNull();
  });
});
