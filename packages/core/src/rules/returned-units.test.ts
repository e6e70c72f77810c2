import { describe, expect, test } from "vitest";
import { LAST_INSTANT } from "../time.js";
import { afterReturn, endsAfterReturn } from "./returned-units.js";

const AT = 60_000;
const DURATION = 60_000;
const NOW = 90_000;

const stateOf = (used: number, earlier: readonly number[] = []) => ({ at: AT, used, earlier });
const heldAt = (at: number) => ({ window: "w", owner: 0, units: 4, at, rate: 2 });

const back = (
  algorithm: Parameters<typeof afterReturn>[1]["algorithm"],
  { at = AT, used = 9, units = 3, isLeased = false } = {},
) =>
  afterReturn(stateOf(used), { algorithm, duration: DURATION }, heldAt(at), units, NOW, isLeased);

describe("units that come back", () => {
  test("return to the window that they came from, and to no other", () => {
    expect(back("fixed")).toEqual(stateOf(6));
    expect(back("fixed", { at: 0 })).toEqual(stateOf(9));
    expect(back("fixed", { used: 2 })).toEqual(stateOf(0));
  });

  test("are slots, whenever they were taken", () => {
    for (const at of [0, AT]) expect(back("concurrent", { at })).toEqual(stateOf(6));
    expect(back("concurrent", { used: 2 })).toEqual(stateOf(0));
  });

  test("return to the sixteenth of a sliding span that they came from", () => {
    expect(back("sliding")).toEqual(stateOf(6));
  });

  test("to a bucket are those that have not flowed in since; from a lease, all of them", () => {
    const used = 9 * DURATION;
    // Two a minute, for half a minute.
    expect(back("token-bucket", { used })).toEqual(stateOf(7 * DURATION));
    expect(back("token-bucket", { used, isLeased: true })).toEqual({
      ...stateOf(5 * DURATION),
      at: NOW,
    });
  });
});

describe("a limit to which units came back counts", () => {
  test.each([
    ["fixed", AT + DURATION],
    ["concurrent", AT + DURATION],
    ["sliding", AT + DURATION + DURATION / 16 - 1],
    ["token-bucket", AT + 5],
  ] as const)("%s: until %i", (algorithm, end) => {
    const kind = { algorithm, duration: DURATION };
    expect(endsAfterReturn(stateOf(9), kind, heldAt(AT))).toBe(end);
  });

  test("at the latest until the last instant", () => {
    const late = { ...stateOf(9), at: LAST_INSTANT };
    const kind = { algorithm: "fixed", duration: DURATION } as const;
    expect(endsAfterReturn(late, kind, heldAt(AT))).toBe(LAST_INSTANT);
  });
});
