import { describe, expect, test } from "vitest";
import { decideSpend } from "./spend.js";

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
