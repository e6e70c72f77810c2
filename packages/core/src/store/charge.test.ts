import { describe, expect, test } from "vitest";
import { applyCharge, type ChargePlan, type ChargeState, type LimitCharge } from "./charge.js";

const NOW = 90_000;
const MINUTE = 60_000;

const planOf = (fields: Partial<ChargePlan> = {}): ChargePlan => ({
  workspaceId: "ws_default",
  keyId: "key_1",
  identityId: "id_1",
  sharedCountersId: null,
  usesFrom: "key",
  now: NOW,
  expects: { keyVersion: 3, identityVersion: 5, epoch: 7 },
  mode: "take",
  cost: 1,
  refill: null,
  limits: [],
  ...fields,
});

const stateOf = (fields: Partial<ChargeState> = {}): ChargeState => ({
  keyVersion: 3,
  identityVersion: 5,
  epoch: 7,
  usage: { remaining: 10, refilledAt: 0 },
  windows: [],
  ...fields,
});

const limitOf = (fields: Partial<LimitCharge> = {}): LimitCharge => ({
  owner: "key",
  isConfigured: true,
  name: "default",
  limit: 10,
  duration: MINUTE,
  cost: 1,
  ...fields,
});

const window = (used: number, startedAt = MINUTE) => ({ startedAt, used });

describe("what the plan rests on", () => {
  const stale = { result: { kind: "stale" }, next: null };

  test("a key that is gone makes the plan stale", () => {
    expect(applyCharge(null, planOf())).toEqual(stale);
  });

  test.each([
    { label: "key has an earlier version", moved: { keyVersion: 2 } },
    { label: "key has a later version", moved: { keyVersion: 4 } },
    { label: "identity has an earlier version", moved: { identityVersion: 4 } },
    { label: "identity has a later version", moved: { identityVersion: 6 } },
    { label: "identity is gone", moved: { identityVersion: null } },
    { label: "workspace is at an earlier epoch", moved: { epoch: 6 } },
    { label: "workspace is at a later epoch", moved: { epoch: 8 } },
  ])("the plan is stale and takes nothing when the $label", ({ moved }) => {
    expect(applyCharge(stateOf(moved), planOf())).toEqual(stale);
  });

  test("an identity that appeared since the decision makes the plan stale", () => {
    const plan = planOf({ expects: { keyVersion: 3, identityVersion: null, epoch: 7 } });
    expect(applyCharge(stateOf(), plan)).toEqual(stale);
    expect(applyCharge(stateOf({ identityVersion: null }), plan).result.kind).toBe("charged");
  });

  test("stale answers before any refusal, in both modes", () => {
    const full = stateOf({
      epoch: 8,
      usage: { remaining: 0, refilledAt: 0 },
      windows: [window(10)],
    });
    for (const mode of ["take", "look"] as const) {
      expect(applyCharge(full, planOf({ mode, limits: [limitOf()] }))).toEqual(stale);
    }
  });
});

describe("uses", () => {
  const remainingAfter = (remaining: number | null, cost: number) =>
    applyCharge(stateOf({ usage: { remaining, refilledAt: 0 } }), planOf({ cost }));

  test.each([
    { remaining: 5, cost: 4, left: 1 },
    { remaining: 5, cost: 5, left: 0 },
  ])("of $remaining uses a cost of $cost leaves $left", ({ remaining, cost, left }) => {
    expect(remainingAfter(remaining, cost)).toEqual({
      result: { kind: "charged", remaining: left, limits: [] },
      next: { usage: { remaining: left, refilledAt: 0 }, windows: [], remember: null },
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
    const step = applyCharge(
      stateOf({ windows: [window(3)] }),
      planOf({ limits: [limitOf({ cost: 2 })] }),
    );
    expect(step).toEqual({
      result: {
        kind: "charged",
        remaining: 9,
        limits: [{ name: "default", limit: 10, remaining: 5, resetAt: 120_000, exceeded: false }],
      },
      next: { usage: { remaining: 9, refilledAt: 0 }, windows: [window(5)], remember: null },
    });
  });

  test.each([
    { used: 8, kind: "charged" },
    { used: 9, kind: "charged" },
    { used: 10, kind: "rate-limited" },
  ])("with $used of 10 used, one more is $kind", ({ used, kind }) => {
    expect(
      applyCharge(stateOf({ windows: [window(used)] }), planOf({ limits: [limitOf()] })).result
        .kind,
    ).toBe(kind);
  });

  test("a limit whose window was never stored starts with an empty one", () => {
    const step = applyCharge(
      stateOf({ windows: [null] }),
      planOf({ limits: [limitOf({ cost: 4 })] }),
    );
    expect(step.next?.windows).toEqual([window(4)]);
  });

  test("a window that has ended is followed by an empty one, at the edge itself", () => {
    const state = stateOf({ windows: [window(10)] });
    const at = (now: number) => applyCharge(state, planOf({ now, limits: [limitOf()] }));
    expect(at(119_999).result.kind).toBe("rate-limited");
    expect(at(120_000).next?.windows).toEqual([window(1, 120_000)]);
  });

  test("a clock set back takes from the latest window, and its reset does not go back", () => {
    const state = stateOf({ windows: [window(4, 120_000)] });
    const step = applyCharge(state, planOf({ now: 60_000, limits: [limitOf()] }));
    expect(step.next?.windows).toEqual([window(5, 120_000)]);
    expect(step.result).toMatchObject({ limits: [{ remaining: 5, resetAt: 180_000 }] });
  });

  test("a limit at cost 0 is read and leaves its stored window untouched, also one that has ended", () => {
    const ended = window(10, 0);
    const step = applyCharge(
      stateOf({ windows: [ended] }),
      planOf({ limits: [limitOf({ cost: 0 })] }),
    );
    expect(step.result).toMatchObject({
      limits: [{ remaining: 10, resetAt: 120_000, exceeded: false }],
    });
    expect(step.next?.windows).toEqual([ended]);
  });

  test("a limit at cost 0 admits at a full window", () => {
    const step = applyCharge(
      stateOf({ windows: [window(10)] }),
      planOf({ limits: [limitOf({ cost: 0 })] }),
    );
    expect(step.result).toMatchObject({
      kind: "charged",
      limits: [{ remaining: 0, exceeded: false }],
    });
  });

  test("a limit that was lowered below what was used refuses, and shows 0 left, not less", () => {
    const step = applyCharge(
      stateOf({ windows: [window(8)] }),
      planOf({ limits: [limitOf({ limit: 5 })] }),
    );
    expect(step.result).toMatchObject({
      kind: "rate-limited",
      limits: [{ limit: 5, remaining: 0, exceeded: true }],
    });
    expect(step.next).toBeNull();
  });

  test("readings and windows come in the order of the plan", () => {
    const limits = [limitOf({ name: "b" }), limitOf({ name: "a", owner: "identity", limit: 20 })];
    const step = applyCharge(stateOf({ windows: [window(1), window(2)] }), planOf({ limits }));
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
  test("one full limit among several refuses, takes from none, and is the one that is named", () => {
    const limits = [limitOf({ name: "a" }), limitOf({ name: "b" }), limitOf({ name: "c" })];
    const state = stateOf({ windows: [window(1), window(10), null] });
    expect(applyCharge(state, planOf({ limits }))).toEqual({
      result: {
        kind: "rate-limited",
        remaining: 10,
        limits: [
          { name: "a", limit: 10, remaining: 9, resetAt: 120_000, exceeded: false },
          { name: "b", limit: 10, remaining: 0, resetAt: 120_000, exceeded: true },
          { name: "c", limit: 10, remaining: 10, resetAt: 120_000, exceeded: false },
        ],
      },
      next: null,
    });
  });

  test("every limit that refuses is named, not only the first", () => {
    const limits = [limitOf({ name: "a" }), limitOf({ name: "b" })];
    const { result } = applyCharge(
      stateOf({ windows: [window(10), window(10)] }),
      planOf({ limits }),
    );
    expect(result).toMatchObject({ limits: [{ exceeded: true }, { exceeded: true }] });
  });

  test("limits refuse before uses do", () => {
    const state = stateOf({ usage: { remaining: 0, refilledAt: 0 }, windows: [window(10)] });
    expect(applyCharge(state, planOf({ limits: [limitOf()] })).result.kind).toBe("rate-limited");
  });

  test("missing uses take nothing from limits that have room, and the limits are still read", () => {
    const state = stateOf({ usage: { remaining: 0, refilledAt: 0 }, windows: [window(4)] });
    expect(applyCharge(state, planOf({ limits: [limitOf()] }))).toEqual({
      result: {
        kind: "usage-exceeded",
        remaining: 0,
        limits: [{ name: "default", limit: 10, remaining: 6, resetAt: 120_000, exceeded: false }],
      },
      next: null,
    });
  });

  test("nothing of the state handed in is changed", () => {
    const freeze = <Value extends object>(value: Value): Value => Object.freeze(value);
    const state = freeze(
      stateOf({
        usage: freeze({ remaining: 3, refilledAt: 0 }),
        windows: freeze([freeze(window(1))]),
      }),
    );
    expect(() =>
      applyCharge(state, planOf({ limits: [limitOf()], refill: { amount: 9, dueAt: 5 } })),
    ).not.toThrow();
  });
});

describe("a refill in the same step", () => {
  const refill = { amount: 100, dueAt: 50_000 };
  const exhausted = stateOf({ usage: { remaining: 0, refilledAt: 49_999 } });

  test("that is owed comes before the spend: an exhausted key is admitted", () => {
    expect(applyCharge(exhausted, planOf({ refill }))).toEqual({
      result: { kind: "charged", remaining: 99, limits: [] },
      next: { usage: { remaining: 99, refilledAt: 50_000 }, windows: [], remember: null },
    });
  });

  test("that was settled at its due instant is not paid again", () => {
    const settled = stateOf({ usage: { remaining: 0, refilledAt: 50_000 } });
    expect(applyCharge(settled, planOf({ refill })).result.kind).toBe("usage-exceeded");
  });

  test("that is owed is shown by a refusal and not written", () => {
    const step = applyCharge(exhausted, planOf({ refill, cost: 101 }));
    expect(step).toEqual({
      result: { kind: "usage-exceeded", remaining: 100, limits: [] },
      next: null,
    });
  });

  test("that is owed is written by an admitted cost of 0", () => {
    expect(applyCharge(exhausted, planOf({ refill, cost: 0 })).next?.usage).toEqual({
      remaining: 100,
      refilledAt: 50_000,
    });
  });

  test("never lowers a counter that was set above the amount", () => {
    const rich = stateOf({ usage: { remaining: 500, refilledAt: 0 } });
    expect(applyCharge(rich, planOf({ refill })).result).toMatchObject({ remaining: 499 });
  });

  test("leaves an unlimited key unlimited", () => {
    const unlimited = stateOf({ usage: { remaining: null, refilledAt: 0 } });
    expect(applyCharge(unlimited, planOf({ refill }))).toEqual({
      result: { kind: "charged", remaining: null, limits: [] },
      next: null,
    });
  });
});

describe("a look", () => {
  test("answers as a take does and writes nothing", () => {
    const state = stateOf({ usage: { remaining: 0, refilledAt: 0 }, windows: [window(3)] });
    const plan = planOf({ refill: { amount: 5, dueAt: 1 }, limits: [limitOf()] });
    const take = applyCharge(state, plan);
    const look = applyCharge(state, { ...plan, mode: "look" });
    expect(look.result).toEqual(take.result);
    expect(take.next).not.toBeNull();
    expect(look.next).toBeNull();
  });
});

describe("a request id", () => {
  const request = { id: "r", fingerprint: "f", rememberUntil: 700_000 };
  const result = { kind: "charged", remaining: 4, limits: [] } as const;
  const remembered = { fingerprint: "f", until: 700_000, result };

  test("is remembered together with what was taken", () => {
    const step = applyCharge(
      stateOf({ usage: { remaining: 5, refilledAt: 0 } }),
      planOf({ request }),
    );
    expect(step.result).toEqual(result);
    expect(step.next?.remember).toEqual(remembered);
  });

  test("is remembered with a refusal too, which moves no counter", () => {
    const state = stateOf({ usage: { remaining: 0, refilledAt: 0 } });
    const step = applyCharge(state, planOf({ request }));
    expect(step.next).toMatchObject({ usage: state.usage, windows: state.windows });
    expect(step.next?.remember?.result).toEqual(step.result);
  });

  test("that is remembered gets the same result, and nothing is taken", () => {
    const state = stateOf({ usage: { remaining: 1, refilledAt: 0 }, remembered });
    expect(applyCharge(state, planOf({ request }))).toEqual({ result, next: null });
  });

  test("used for another question is a conflict, and nothing is taken", () => {
    const plan = planOf({ request: { ...request, fingerprint: "g" } });
    expect(applyCharge(stateOf({ remembered }), plan)).toEqual({
      result: { kind: "conflict" },
      next: null,
    });
  });

  test.each([
    [-1, null],
    [0, "taken anew"],
    [1, "taken anew"],
  ])("at %i ms from its end is %s", (offset, expected) => {
    const plan = planOf({ now: remembered.until + offset, request });
    const { next } = applyCharge(stateOf({ remembered }), plan);
    expect(next === null ? null : "taken anew").toBe(expected);
  });

  test("outlives no change of the key", () => {
    const state = stateOf({ keyVersion: 99, remembered });
    expect(applyCharge(state, planOf({ request })).result).toEqual({ kind: "stale" });
  });

  test("in a plan that only looks is not remembered", () => {
    expect(applyCharge(stateOf(), planOf({ mode: "look", request })).next).toBeNull();
  });
});
