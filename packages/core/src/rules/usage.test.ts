import { describe, expect, test } from "vitest";
import { applyRefill, changeUsage, type Usage, type UsageChange } from "../store/counters.js";
import { decideSpend } from "./usage.js";

describe("decideSpend", () => {
  test.each([
    { remaining: 5, cost: 4, decision: { kind: "spend", remaining: 1 } },
    { remaining: 5, cost: 5, decision: { kind: "spend", remaining: 0 } },
    { remaining: 5, cost: 6, decision: { kind: "refuse", remaining: 5 } },
    { remaining: 1, cost: 1, decision: { kind: "spend", remaining: 0 } },
    { remaining: 0, cost: 1, decision: { kind: "refuse", remaining: 0 } },
  ])(
    "of $remaining uses, a cost of $cost is decided: $decision.kind, $decision.remaining left",
    (example) => {
      expect(decideSpend(example.remaining, example.cost)).toEqual(example.decision);
    },
  );

  test("the use that takes the last one is admitted", () => {
    expect(decideSpend(1, 1).kind).toBe("spend");
  });

  test("a cost above what is left is refused whole, never clamped to what is left", () => {
    expect(decideSpend(3, Number.MAX_SAFE_INTEGER)).toEqual({ kind: "refuse", remaining: 3 });
  });

  test("an exhausted counter refuses a cost of 0 too", () => {
    expect(decideSpend(0, 0)).toEqual({ kind: "refuse", remaining: 0 });
  });

  test("a cost of 0 takes nothing from a counter that has uses left", () => {
    expect(decideSpend(1, 0)).toEqual({ kind: "spend", remaining: 1 });
  });

  test("a counter without a limit admits every cost and stays without a limit", () => {
    expect(decideSpend(null, Number.MAX_SAFE_INTEGER)).toEqual({ kind: "spend", remaining: null });
  });
});

describe("applyRefill", () => {
  const due = { amount: 100, dueAt: 1_000 };

  test.each([
    { label: "a millisecond before the due instant", refilledAt: 999, remaining: 100 },
    { label: "at the due instant itself", refilledAt: 1_000, remaining: 7 },
    { label: "a millisecond after the due instant", refilledAt: 1_001, remaining: 7 },
  ])("a counter settled $label then has $remaining uses", ({ refilledAt, remaining }) => {
    expect(applyRefill({ remaining: 7, refilledAt }, due).remaining).toBe(remaining);
  });

  test.each([
    { remaining: 0, after: 100 },
    { remaining: 99, after: 100 },
    { remaining: 100, after: 100 },
    { remaining: 101, after: 101 },
  ])(
    "a refill of 100 raises $remaining to $after: it never lowers a counter",
    ({ remaining, after }) => {
      expect(applyRefill({ remaining, refilledAt: 0 }, due)).toEqual({
        remaining: after,
        refilledAt: 1_000,
      });
    },
  );

  test("a refill is applied once: settling it again changes nothing", () => {
    const spent = { ...applyRefill({ remaining: 0, refilledAt: 0 }, due), remaining: 40 };
    expect(applyRefill(spent, due)).toBe(spent);
  });

  test("missed periods do not add up: one refill stands for all of them", () => {
    const afterMonths = { amount: 100, dueAt: 90 * 86_400_000 };
    expect(applyRefill({ remaining: 3, refilledAt: 0 }, afterMonths).remaining).toBe(100);
  });

  test("a clock set back brings no refill: an earlier due instant is settled already", () => {
    const usage = { remaining: 3, refilledAt: 5_000 };
    expect(applyRefill(usage, due)).toBe(usage);
  });

  test("a counter without a limit, and a key without a refill, are left as they are", () => {
    const unlimited: Usage = { remaining: null, refilledAt: 0 };
    const counter: Usage = { remaining: 3, refilledAt: 0 };
    expect(applyRefill(unlimited, due)).toBe(unlimited);
    expect(applyRefill(counter, null)).toBe(counter);
  });
});

describe("changeUsage", () => {
  const usage: Usage = { remaining: 10, refilledAt: 0 };
  const change = (
    operation: UsageChange["operation"],
    due: UsageChange["due"] = null,
  ): UsageChange => ({
    due,
    operation,
    settledAt: 2_000,
  });
  const changed = (remaining: number | null) => ({
    kind: "changed",
    usage: { remaining, refilledAt: 2_000 },
  });

  test("keep leaves the uses as they are and settles the refills", () => {
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
    const unlimited: Usage = { remaining: null, refilledAt: 0 };
    expect(changeUsage(unlimited, change({ kind: "set", remaining: 5 }))).toEqual(changed(5));
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
      const unlimited: Usage = { remaining: null, refilledAt: 0 };
      expect(changeUsage(unlimited, change({ kind, by: 1 }))).toEqual({ kind: "unlimited" });
    },
  );

  test("an owed refill comes first, then the operation", () => {
    const due = { amount: 100, dueAt: 1_000 };
    expect(changeUsage(usage, change({ kind: "decrement", by: 11 }, due))).toEqual(changed(89));
    expect(changeUsage(usage, change({ kind: "increment", by: 1 }, due))).toEqual(changed(101));
    expect(changeUsage(usage, change({ kind: "set", remaining: 1 }, due))).toEqual(changed(1));
    expect(changeUsage(usage, change({ kind: "keep" }, due))).toEqual(changed(100));
  });

  test("a refill that fell due before the change is not paid again afterwards", () => {
    const result = changeUsage(usage, change({ kind: "set", remaining: 1 }));
    if (result.kind !== "changed") return expect.unreachable();
    expect(applyRefill(result.usage, { amount: 100, dueAt: 2_000 }).remaining).toBe(1);
    expect(applyRefill(result.usage, { amount: 100, dueAt: 2_001 }).remaining).toBe(100);
  });

  test("a clock set back does not reopen a settled period", () => {
    const settledLater: Usage = { remaining: 10, refilledAt: 9_000 };
    expect(changeUsage(settledLater, change({ kind: "keep" }))).toEqual({
      kind: "changed",
      usage: { remaining: 10, refilledAt: 9_000 },
    });
  });
});
