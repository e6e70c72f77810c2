import { describe, expect, test } from "vitest";
import { NO_HOLDS } from "../rules/hold.js";
import { dueRefill } from "../rules/refill.js";
import { usageOf } from "../testing/records.js";
import {
  applyRefill,
  changeUsage,
  NO_USAGE_CHANGE,
  NO_USES,
  UNLIMITED_USES,
  type UsageChange,
} from "./counters.js";

const HOUR_MS = 3_600_000;

describe("applyRefill", () => {
  const due = { amount: 100, dueAt: 1_000 };

  test.each([
    { label: "a millisecond before the due instant", refilledAt: 999, remaining: 100 },
    { label: "at the due instant itself", refilledAt: 1_000, remaining: 7 },
    { label: "a millisecond after the due instant", refilledAt: 1_001, remaining: 7 },
  ])(
    "a counter with refills applied up to $label then has $remaining uses",
    ({ refilledAt, remaining }) => {
      expect(applyRefill(usageOf(7, refilledAt), due).remaining).toBe(remaining);
    },
  );

  test.each([
    { remaining: 0, after: 100 },
    { remaining: 99, after: 100 },
    { remaining: 100, after: 100 },
    { remaining: 101, after: 101 },
  ])(
    "a refill of 100 raises $remaining to $after: it never lowers a counter",
    ({ remaining, after }) => {
      expect(applyRefill(usageOf(remaining), due)).toEqual(usageOf(after, 1_000, 1_000));
    },
  );

  test("a refill is applied once: applying it again changes nothing", () => {
    const spent = { ...applyRefill(usageOf(0), due), remaining: 40 };
    expect(applyRefill(spent, due)).toBe(spent);
  });

  describe("with uses that are carried over", () => {
    const refill = { interval: "hourly", amount: 10, carryOver: 5 } as const;
    const owed = dueRefill(refill, 3 * HOUR_MS);

    test("adds those of each period since the counter was refilled", () => {
      const refilled = usageOf(12, 3 * HOUR_MS, 3 * HOUR_MS);
      expect(applyRefill(usageOf(2, 2 * HOUR_MS), owed)).toEqual(refilled);
      expect(applyRefill(usageOf(2, HOUR_MS), owed).remaining).toBe(15);
    });

    test("adds nothing that was counted from another instant", () => {
      const usage = usageOf(2, 2 * HOUR_MS);
      expect(applyRefill(usage, owed?.carry?.countedFrom(HOUR_MS) ?? null)).toBe(usage);
    });
  });

  test.each([
    { label: "no uses", uses: 0, left: 7, raises: [] },
    { label: "uses, and nothing is added", uses: 3, left: 100, raises: [] },
    { label: "uses", uses: 3, left: 7, raises: [{ before: 4, free: 0, units: 93 }] },
  ])("where holds have $label, a refill notes what it added for them: $raises", (given) => {
    const { uses, left, raises } = given;
    const holds = { ...NO_HOLDS, open: 1, uses, next: 4 };
    expect(applyRefill({ ...usageOf(left), holds }, due)).toStrictEqual({
      ...usageOf(100, 1_000, 1_000),
      holds: { ...holds, raises },
    });
  });

  test("missed periods do not add up: one refill stands for all of them", () => {
    const afterMonths = { amount: 100, dueAt: 90 * 86_400_000 };
    expect(applyRefill(usageOf(3), afterMonths).remaining).toBe(100);
  });

  test("a clock set back brings no refill: an earlier due instant is applied already", () => {
    const usage = usageOf(3, 5_000);
    expect(applyRefill(usage, due)).toBe(usage);
  });

  test("a counter without a limit, and a key without a refill, are left as they are", () => {
    const unlimited = usageOf(null);
    const counter = usageOf(3);
    expect(applyRefill(unlimited, due)).toBe(unlimited);
    expect(applyRefill(counter, null)).toBe(counter);
  });
});

describe("changeUsage", () => {
  const usage = usageOf(10);
  const change = (
    operation: UsageChange["operation"],
    due: UsageChange["due"] = null,
  ): UsageChange => ({
    due,
    operation,
    restartsAt: 2_000,
  });
  const changed = (remaining: number | null, lastRefillAt: number | null = null) => ({
    kind: "changed",
    usage: usageOf(remaining, 2_000, lastRefillAt),
  });

  test("keep leaves the uses as they are", () => {
    expect(changeUsage(usage, change({ kind: "keep" }))).toEqual(changed(10));
  });

  test.each([
    { remaining: 0 },
    { remaining: 1 },
    { remaining: Number.MAX_SAFE_INTEGER },
    { remaining: null },
  ])("set replaces the uses by $remaining", ({ remaining }) => {
    expect(changeUsage(usage, change({ kind: "set", remaining }))).toEqual(changed(remaining));
  });

  test("set gives a limit to a counter without one", () => {
    expect(changeUsage(usageOf(null), change({ kind: "set", remaining: 5 }))).toEqual(changed(5));
  });

  test("increment adds uses", () => {
    expect(changeUsage(usage, change({ kind: "increment", by: 5 }))).toEqual(changed(15));
  });

  test("increment reaches 2^53 - 1 and goes no further", () => {
    const room = Number.MAX_SAFE_INTEGER - 10;
    expect(changeUsage(usage, change({ kind: "increment", by: room }))).toEqual(
      changed(Number.MAX_SAFE_INTEGER),
    );
    expect(changeUsage(usage, change({ kind: "increment", by: room + 1 }))).toEqual({
      kind: "overflow",
      remaining: 10,
    });
  });

  test("increment leaves room for the uses that holds may return", () => {
    const holds = { ...NO_HOLDS, open: 1, uses: 3, next: 1 };
    const by = Number.MAX_SAFE_INTEGER - 10 - 3;
    const increment = (more: number) =>
      changeUsage({ ...usage, holds }, change({ kind: "increment", by: more }));
    expect(increment(by).kind).toBe("changed");
    expect(increment(by + 1)).toEqual({ kind: "overflow", remaining: 10 });
  });

  test("set leaves a counter without holds without them", () => {
    const result = changeUsage(usage, change({ kind: "set", remaining: 5 }));
    expect(result).toStrictEqual(changed(5));
  });

  test.each([
    { by: 9, result: changed(1) },
    { by: 10, result: changed(0) },
    { by: 11, result: { kind: "insufficient", remaining: 10 } },
  ])("decrement of 10 by $by: $result.kind", ({ by, result }) => {
    expect(changeUsage(usage, change({ kind: "decrement", by }))).toEqual(result);
  });

  test.each(["increment", "decrement"] as const)(
    "%s of a counter without a limit is refused",
    (kind) => {
      expect(changeUsage(usageOf(null), change({ kind, by: 1 }))).toEqual({ kind: "unlimited" });
    },
  );

  test("an owed refill comes first, then the operation", () => {
    const due = { amount: 100, dueAt: 1_000 };
    expect(changeUsage(usage, change({ kind: "decrement", by: 11 }, due))).toEqual(
      changed(89, 1_000),
    );
    expect(changeUsage(usage, change({ kind: "increment", by: 1 }, due))).toEqual(
      changed(101, 1_000),
    );
    expect(changeUsage(usage, change({ kind: "set", remaining: 1 }, due))).toEqual(
      changed(1, 1_000),
    );
    expect(changeUsage(usage, change({ kind: "keep" }, due))).toEqual(changed(100, 1_000));
  });

  test("a refill that fell due before the change is not paid again afterwards", () => {
    const result = changeUsage(usage, change({ kind: "set", remaining: 1 }));
    if (result.kind !== "changed") return expect.unreachable();
    expect(applyRefill(result.usage, { amount: 100, dueAt: 2_000 }).remaining).toBe(1);
    expect(applyRefill(result.usage, { amount: 100, dueAt: 2_001 }).remaining).toBe(100);
  });

  describe("where refills start anew", () => {
    const from = (refilledAt: number, lastRefillAt: number | null) =>
      changeUsage(usageOf(10, refilledAt, lastRefillAt), change({ kind: "keep" }));

    test.each([1_999, 2_000, 2_001])(
      "they do so from the given instant, even if they were applied up to %i",
      (refilledAt) => {
        expect(from(refilledAt, null)).toEqual(changed(10));
      },
    );

    test.each([
      { lastRefillAt: 1_999, kept: 1_999 },
      { lastRefillAt: 2_000, kept: 2_000 },
      { lastRefillAt: 2_001, kept: null },
    ])(
      "a last refill at $lastRefillAt is then shown as $kept: one that lies ahead was a wrong clock's",
      ({ lastRefillAt, kept }) => {
        expect(from(0, lastRefillAt)).toEqual(changed(10, kept));
      },
    );
  });

  describe("where refills go on", () => {
    const going = (operation: UsageChange["operation"], due: UsageChange["due"] = null) =>
      changeUsage(usageOf(10, 5_000, 4_000), { due, operation, restartsAt: null });

    test("nothing about them changes", () => {
      expect(going({ kind: "increment", by: 1 })).toEqual({
        kind: "changed",
        usage: usageOf(11, 5_000, 4_000),
      });
    });

    test("one that is owed is applied, and counts as the last", () => {
      expect(going({ kind: "decrement", by: 1 }, { amount: 20, dueAt: 5_001 })).toEqual({
        kind: "changed",
        usage: usageOf(19, 5_001, 5_001),
      });
    });

    test("a clock set back does not reopen a period", () => {
      expect(going({ kind: "keep" }, { amount: 20, dueAt: 5_000 })).toEqual({
        kind: "changed",
        usage: usageOf(10, 5_000, 4_000),
      });
    });
  });

  test("a refusal shows the uses left with the owed refill applied", () => {
    const due = { amount: 100, dueAt: 1_000 };
    expect(changeUsage(usage, change({ kind: "decrement", by: 101 }, due))).toEqual({
      kind: "insufficient",
      remaining: 100,
    });
  });
});

test("the counter of a record that does not exist has nothing left; that of a plan without uses is unlimited", () => {
  expect(NO_USES).toEqual(usageOf(0));
  expect(UNLIMITED_USES).toEqual(usageOf(null));
  expect(Object.isFrozen(NO_USES) && Object.isFrozen(UNLIMITED_USES)).toBe(true);
});

test("the empty change leaves the counter as it is, restarts nothing, and is frozen", () => {
  const usage = { remaining: 7, refilledAt: 1_000, lastRefillAt: 900 };
  expect(changeUsage(usage, NO_USAGE_CHANGE)).toEqual({ kind: "changed", usage });
  expect(NO_USAGE_CHANGE).toEqual({ due: null, operation: { kind: "keep" }, restartsAt: null });
  expect(Object.isFrozen(NO_USAGE_CHANGE.operation)).toBe(true);
});
