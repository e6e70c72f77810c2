import { describe, expect, test } from "vitest";
import { fixedWindows, usageOf } from "../testing/records.js";
import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeState,
  type LimitCharge,
  readLimit,
} from "./charge.js";
import { stateOfReading } from "./read-counters.js";

const NOW = 90_000;
const MINUTE = 60_000;

const planOf = (fields: Partial<ChargePlan> = {}): ChargePlan => ({
  workspaceId: "ws_default",
  revision: 7,
  confirms: [
    { kind: "key", id: "key_1", version: 3 },
    { kind: "identity", id: "id_1", version: 5 },
  ],
  mode: "commit",
  cost: 1,
  uses: 0,
  limits: [],
  ...fields,
});

const momentOf = (fields: Partial<ChargeMoment> = {}): ChargeMoment => ({
  now: NOW,
  refill: null,
  ...fields,
});

const stateOf = (fields: Partial<ChargeState> = {}): ChargeState => ({
  usage: usageOf(10),
  windows: [],
  remembered: null,
  ...fields,
});

/** A charge at {@link NOW}, unless the test says otherwise. */
const charge = (
  state: ChargeState,
  plan: Partial<ChargePlan> = {},
  moment: Partial<ChargeMoment> = {},
) => applyCharge(state, planOf(plan), momentOf(moment));

const limitOf = (fields: Partial<LimitCharge> = {}): LimitCharge => ({
  name: "default",
  ...fixedWindows(fields.limit),
  cost: 1,
  window: `60000:${fields.name ?? "default"}`,
  owner: 0,
  ...fields,
});

const window = (used: number, startedAt = MINUTE) => ({ at: startedAt, used, earlier: [] });

/** The reading of a limit of these tests when this many of its units are used. */
const readingOf = (name: string, used: number, exceeded: boolean) => ({
  name,
  limit: 10,
  remaining: 10 - used,
  resetAt: 2 * MINUTE,
  exceeded,
  state: window(used),
});

describe("uses", () => {
  const remainingAfter = (remaining: number | null, cost: number) =>
    charge(stateOf({ usage: usageOf(remaining) }), { cost });

  test.each([
    { remaining: 5, cost: 4, left: 1 },
    { remaining: 5, cost: 5, left: 0 },
  ])("of $remaining uses a cost of $cost leaves $left", ({ remaining, cost, left }) => {
    expect(remainingAfter(remaining, cost)).toEqual({
      result: { kind: "charged", remaining: left, limits: [] },
      next: { usage: usageOf(left), windows: [], remember: null },
    });
  });

  test.each([
    { remaining: 5, cost: 6 },
    { remaining: 0, cost: 1 },
    { remaining: 0, cost: 0 },
  ])("of $remaining uses a cost of $cost is refused and takes none", ({ remaining, cost }) => {
    expect(remainingAfter(remaining, cost)).toEqual({
      result: { kind: "usage-exceeded", remaining, limits: [] },
      next: null,
    });
  });

  test("a cost of 0 with uses left is admitted, and there is nothing to write", () => {
    expect(remainingAfter(5, 0)).toEqual({
      result: { kind: "charged", remaining: 5, limits: [] },
      next: null,
    });
  });

  test("an unlimited key is admitted at every cost, and there is nothing to write", () => {
    expect(remainingAfter(null, 1_000)).toEqual({
      result: { kind: "charged", remaining: null, limits: [] },
      next: null,
    });
  });
});

describe("limits", () => {
  test("an admitted cost is taken, and the reading shows what is left and when the next window opens", () => {
    const step = charge(stateOf({ windows: [window(3)] }), { limits: [limitOf({ cost: 2 })] });
    expect(step).toEqual({
      result: {
        kind: "charged",
        remaining: 9,
        limits: [readingOf("default", 5, false)],
      },
      next: { usage: usageOf(9), windows: [window(5)], remember: null },
    });
  });

  test.each([
    { used: 8, kind: "charged" },
    { used: 9, kind: "charged" },
    { used: 10, kind: "rate-limited" },
  ])("with $used of 10 used, one more is $kind", ({ used, kind }) => {
    expect(charge(stateOf({ windows: [window(used)] }), { limits: [limitOf()] }).result.kind).toBe(
      kind,
    );
  });

  test("a limit whose window was never stored starts with an empty one", () => {
    const step = charge(stateOf({ windows: [null] }), { limits: [limitOf({ cost: 4 })] });
    expect(step.next?.windows).toEqual([window(4)]);
  });

  test("a window that has ended is followed by an empty one, at the edge itself", () => {
    const state = stateOf({ windows: [window(10)] });
    const at = (now: number) => charge(state, { limits: [limitOf()] }, { now });
    expect(at(119_999).result.kind).toBe("rate-limited");
    expect(at(120_000).next?.windows).toEqual([window(1, 120_000)]);
  });

  test("a clock set back takes from the latest window, and its reset does not go back", () => {
    const state = stateOf({ windows: [window(4, 120_000)] });
    const step = charge(state, { limits: [limitOf()] }, { now: 60_000 });
    expect(step.next?.windows).toEqual([window(5, 120_000)]);
    expect(step.result).toMatchObject({ limits: [{ remaining: 5, resetAt: 180_000 }] });
  });

  test("a limit at cost 0 is read and leaves its stored window untouched, even one that has ended", () => {
    const ended = window(10, 0);
    const step = charge(stateOf({ windows: [ended] }), { limits: [limitOf({ cost: 0 })] });
    expect(step.result).toMatchObject({
      limits: [{ remaining: 10, resetAt: 120_000, exceeded: false }],
    });
    expect(step.next?.windows).toEqual([ended]);
  });

  test("a limit at cost 0 admits at a full window", () => {
    const step = charge(stateOf({ windows: [window(10)] }), { limits: [limitOf({ cost: 0 })] });
    expect(step.result).toMatchObject({
      kind: "charged",
      limits: [{ remaining: 0, exceeded: false }],
    });
  });

  test("a limit that was lowered below what was used refuses, and shows 0 left, not less", () => {
    const step = charge(stateOf({ windows: [window(8)] }), { limits: [limitOf({ limit: 5 })] });
    expect(step.result).toMatchObject({
      kind: "rate-limited",
      limits: [{ limit: 5, remaining: 0, exceeded: true }],
    });
    expect(step.next).toBeNull();
  });

  test("readings and windows come in the order of the plan", () => {
    const limits = [limitOf({ name: "b" }), limitOf({ name: "a", owner: 1, limit: 20 })];
    const step = charge(stateOf({ windows: [window(1), window(2)] }), { limits });
    expect(step.next?.windows).toEqual([window(2), window(3)]);
    expect(step.result).toMatchObject({
      limits: [
        { name: "b", remaining: 8 },
        { name: "a", remaining: 17 },
      ],
    });
  });
});

describe("all or nothing", () => {
  test("one full limit among several refuses, takes from none, and is the one that is reported", () => {
    const limits = [limitOf({ name: "a" }), limitOf({ name: "b" }), limitOf({ name: "c" })];
    const state = stateOf({ windows: [window(1), window(10), null] });
    expect(charge(state, { limits })).toEqual({
      result: {
        kind: "rate-limited",
        remaining: 10,
        limits: [readingOf("a", 1, false), readingOf("b", 10, true), readingOf("c", 0, false)],
      },
      next: null,
    });
  });

  test("every limit that refuses is reported, not only the first", () => {
    const limits = [limitOf({ name: "a" }), limitOf({ name: "b" })];
    const { result } = charge(stateOf({ windows: [window(10), window(10)] }), { limits });
    expect(result).toMatchObject({ limits: [{ exceeded: true }, { exceeded: true }] });
  });

  test("limits refuse before uses do", () => {
    const state = stateOf({ usage: usageOf(0), windows: [window(10)] });
    expect(charge(state, { limits: [limitOf()] }).result.kind).toBe("rate-limited");
  });

  test("missing uses take nothing from limits that have room, and the limits are still read", () => {
    const state = stateOf({ usage: usageOf(0), windows: [window(4)] });
    expect(charge(state, { limits: [limitOf()] })).toEqual({
      result: {
        kind: "usage-exceeded",
        remaining: 0,
        limits: [readingOf("default", 4, false)],
      },
      next: null,
    });
  });

  test("the given state is not changed", () => {
    const freeze = <Value extends object>(value: Value): Value => Object.freeze(value);
    const state = freeze(
      stateOf({
        usage: freeze(usageOf(3)),
        windows: freeze([freeze(window(1))]),
      }),
    );
    expect(() =>
      charge(state, { limits: [limitOf()] }, { refill: { amount: 9, dueAt: 5 } }),
    ).not.toThrow();
  });
});

describe("a refill in the same step", () => {
  const refill = { amount: 100, dueAt: 50_000 };
  const exhausted = stateOf({ usage: usageOf(0, 49_999) });

  test("that is owed comes before the spend: an exhausted key is admitted", () => {
    expect(charge(exhausted, {}, { refill })).toEqual({
      result: { kind: "charged", remaining: 99, limits: [] },
      next: { usage: usageOf(99, 50_000, 50_000), windows: [], remember: null },
    });
  });

  test("that was applied at its due instant is not paid again", () => {
    const applied = stateOf({ usage: usageOf(0, 50_000) });
    expect(charge(applied, {}, { refill }).result.kind).toBe("usage-exceeded");
  });

  test("that is owed is shown by a refusal and not written", () => {
    const step = charge(exhausted, { cost: 101 }, { refill });
    expect(step).toEqual({
      result: { kind: "usage-exceeded", remaining: 100, limits: [] },
      next: null,
    });
  });

  test("that is owed is written by an admitted cost of 0", () => {
    expect(charge(exhausted, { cost: 0 }, { refill }).next?.usage).toEqual(
      usageOf(100, 50_000, 50_000),
    );
  });

  test("never lowers a counter that was set above the amount", () => {
    const rich = stateOf({ usage: usageOf(500) });
    expect(charge(rich, {}, { refill }).result).toMatchObject({ remaining: 499 });
  });

  test("leaves an unlimited key unlimited", () => {
    const unlimited = stateOf({ usage: usageOf(null) });
    expect(charge(unlimited, {}, { refill })).toEqual({
      result: { kind: "charged", remaining: null, limits: [] },
      next: null,
    });
  });
});

describe("a peek", () => {
  test("answers like a charge and writes nothing", () => {
    const state = stateOf({ usage: usageOf(0), windows: [window(3)] });
    const moment = { refill: { amount: 5, dueAt: 1 } };
    const commit = charge(state, { limits: [limitOf()] }, moment);
    const peek = charge(state, { limits: [limitOf()], mode: "peek" }, moment);
    expect(peek.result).toEqual(commit.result);
    expect(commit.next).not.toBeNull();
    expect(peek.next).toBeNull();
  });
});

describe("a request id", () => {
  const request = { id: "r", fingerprint: "f", rememberUntil: 700_000 };
  const result = { kind: "charged", remaining: 4, limits: [] } as const;
  const remembered = { fingerprint: "f", until: 700_000, result };

  test("is remembered together with what was taken", () => {
    const step = charge(stateOf({ usage: usageOf(5) }), {}, { request });
    expect(step.result).toEqual(result);
    expect(step.next?.remember).toEqual(remembered);
  });

  test("is remembered with a refusal too, which changes no counter", () => {
    const state = stateOf({ usage: usageOf(0) });
    const step = charge(state, {}, { request });
    expect(step.next).toMatchObject({ usage: state.usage, windows: state.windows });
    expect(step.next?.remember?.result).toEqual(step.result);
  });

  test("that is remembered gets the same result, and nothing is taken", () => {
    const state = stateOf({ usage: usageOf(1), remembered });
    expect(charge(state, {}, { request })).toEqual({
      result: { ...result, isRepeat: true },
      next: null,
    });
  });

  test("used for another question is a conflict, and nothing is taken", () => {
    const other = { ...request, fingerprint: "g" };
    expect(charge(stateOf({ remembered }), {}, { request: other })).toEqual({
      result: { kind: "conflict" },
      next: null,
    });
  });

  test.each([
    [-1, null],
    [0, "taken anew"],
    [1, "taken anew"],
  ])("at %i ms from its end is %s", (offset, expected) => {
    const moment = { now: remembered.until + offset, request };
    const { next } = charge(stateOf({ remembered }), {}, moment);
    expect(next === null ? null : "taken anew").toBe(expected);
  });

  test("is needed for a look-up: without one, remembered results are ignored", () => {
    expect(charge(stateOf({ remembered })).result).toMatchObject({ remaining: 9 });
  });

  test("in a plan that only peeks is not remembered", () => {
    expect(charge(stateOf(), { mode: "peek" }, { request }).next).toBeNull();
  });
});

describe("a state that is read for copying", () => {
  const sliding = limitOf({ algorithm: "sliding", limit: 9, duration: 1_600 });
  const readOf = (used: number, earlier: readonly number[]) =>
    stateOfReading(readLimit(sliding, { at: NOW, used, earlier }, false), sliding);

  test("has no empty groups before the earliest that counts, like a newly written one", () => {
    expect(readOf(2, [0, 3, 0, 0])).toEqual({ at: NOW, used: 2, earlier: [0, 3] });
    expect(readOf(2, [0, 0])).toEqual({ at: NOW, used: 2, earlier: [] });
    expect(readOf(2, [0, 3])).toEqual({ at: NOW, used: 2, earlier: [0, 3] });
  });

  test("is null if nothing was taken", () => {
    expect([readOf(0, []), readOf(0, [0, 0])]).toEqual([null, null]);
  });
});
