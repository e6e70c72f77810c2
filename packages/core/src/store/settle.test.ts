import { describe, expect, test } from "vitest";
import { type HeldLimit, type Hold, type HoldSums, NO_HOLDS } from "../rules/hold.js";
import { type PlainCounters, PlainHolds } from "../testing/holds.js";
import { SLOTS, UNITS, usageOf } from "../testing/records.js";
import { LAST_INSTANT } from "../time.js";
import type { ChargePlan } from "./charge.js";
import type { Usage } from "./counters.js";
import {
  applyHoldStep,
  type EndStep,
  type FoundHold,
  type HoldBook,
  type HoldStep,
} from "./settle.js";

const NOW = 90_000;
const MINUTE = 60_000;

const PLAN: ChargePlan = {
  ...{ workspaceId: "ws_default", revision: 7, mode: "commit", cost: 4, uses: 0 },
  confirms: [{ kind: "key", id: "key_1", version: 3 }],
  limits: [UNITS, SLOTS],
  hold: { keeps: "all", ttl: 5 * MINUTE, slotTtl: MINUTE, most: [9] },
};

const end = (fields: Partial<EndStep> = {}): EndStep => {
  return { kind: "end", id: "rsv_1", uses: null, limits: [], rest: true, ...fields };
};
const renew = (ttl: number | null): HoldStep => ({ kind: "renew", id: "rsv_1", ttl });

/** A key with 10 uses of which 4 are reserved, with 5 of 9 units and a slot. */
function reserved() {
  const holds = new PlainHolds(usageOf(10), usageOf(null));
  holds.charge(PLAN, { now: NOW, refill: null, holdId: "rsv_1" });
  const left = () => {
    const { usage, windows } = holds.key;
    const used = [UNITS, SLOTS].map(({ window }) => windows.get(window)?.used);
    return [usage.remaining, ...used, usage.holds?.open ?? 0];
  };
  return { holds, left };
}

describe("the end of a reservation", () => {
  test.each<[string, Partial<EndStep>, unknown, readonly unknown[]]>([
    ["of all of it", {}, { uses: 4, limits: [5] }, [6, 5, 0, 0]],
    ["of nothing", { uses: 0, rest: false }, { uses: 0, limits: [0] }, [10, 0, 0, 0]],
    [
      "of some",
      { uses: 3, limits: [{ name: "files", cost: 2 }] },
      { uses: 3, limits: [2] },
      [7, 2, 0, 0],
    ],
    ["that names no limit", { uses: 1 }, { uses: 1, limits: [5] }, [9, 5, 0, 0]],
  ])("%s reports what was used, and returns the rest, once", (_, fields, used, after) => {
    const { holds, left } = reserved();
    expect(left()).toEqual([6, 5, 1, 1]);
    const answer = { kind: "ended", used, usage: { remaining: after[0] }, endedAt: NOW + 7 };
    expect(holds.settle(end(fields), NOW + 7)).toMatchObject({ ...answer, isRepeat: false });
    expect(left()).toEqual(after);
    expect(holds.settle(end(fields), NOW + 9)).toMatchObject({ ...answer, isRepeat: true });
    expect(holds.settle(end({ uses: 2 }), NOW + 9)).toEqual({ kind: "conflict" });
    expect(holds.settle(renew(null), NOW + 9)).toEqual({ kind: "conflict" });
    expect(left()).toEqual(after);
  });

  test.each<[string, Partial<EndStep>, string]>([
    ["more uses", { uses: 5 }, "over"],
    ["more units", { limits: [{ name: "files", cost: 6 }] }, "over"],
    ["a limit without held units", { limits: [{ name: "tiles", cost: 0 }] }, "unnamed"],
    ["slots, which are always freed", { limits: [{ name: "parallel", cost: 0 }] }, "unnamed"],
    ["an unknown id", { id: "rsv_2" }, "unknown"],
  ])("with %s is refused, and changes nothing", (_, fields, kind) => {
    const { holds, left } = reserved();
    expect(holds.settle(end(fields), NOW)).toMatchObject({ kind });
    expect(left()).toEqual([6, 5, 1, 1]);
  });

  test("takes nothing from a limit that was exceeded and refused nobody, whatever was used", () => {
    const { holds, left } = reserved();
    const limits = [{ ...UNITS, cost: UNITS.limit + 1, shadow: true }];
    const plan = { ...PLAN, limits, cost: 1, uses: 0, hold: { ...PLAN.hold, slotTtl: null } };
    holds.charge(plan as ChargePlan, { now: NOW, refill: null, holdId: "rsv_2" });
    const step = end({ id: "rsv_2", limits: [{ name: "files", cost: UNITS.limit + 1 }] });
    const used = { uses: 1, limits: [0] };
    expect(holds.settle(step, NOW)).toMatchObject({ kind: "ended", used });
    expect(left()).toEqual([5, 5, 1, 1]);
  });

  test("comes too late from the instant on at which the hold expires", () => {
    const over = NOW + 5 * MINUTE;
    expect(reserved().holds.settle(end(), over - 1)).toMatchObject({ kind: "ended" });
    for (const step of [end(), renew(null)]) {
      const { holds, left } = reserved();
      expect(holds.settle(step, over)).toMatchObject({ kind: "expired", hold: { id: "rsv_1" } });
      expect(left()).toEqual([10, 0, 0, 0]);
      expect(holds.settle(step, over)).toEqual({ kind: "expired", hold: null });
    }
  });
});

describe("a renewal", () => {
  test.each<[string, number | null, number, readonly number[]]>([
    ["for as long as each was made for", null, NOW + 7, [5 * MINUTE, MINUTE]],
    [
      "for longer, but for slots, which their limit bounds",
      9 * MINUTE,
      NOW + 7,
      [9 * MINUTE, MINUTE],
    ],
    ["for a shorter time", 5, NOW + 7, [5, 5]],
    ["without the slots, once these are over", null, NOW + MINUTE, [5 * MINUTE]],
  ])("holds it %s", (_, ttl, now, spans) => {
    const { holds, left } = reserved();
    const expiresAt = now + (spans[0] as number);
    expect(holds.settle(renew(ttl), now)).toMatchObject({ kind: "renewed", hold: { expiresAt } });
    expect(holds.open.map((hold) => hold.expiresAt - now)).toEqual(spans);
    expect(left()).toEqual([6, 5, spans.length - 1, 1]);
    expect(holds.key.usage.holds?.nextEnd).toBe(now + Math.min(...spans));
  });

  test("ends with the last instant of a date", () => {
    const { holds } = reserved();
    expect(holds.settle(renew(LAST_INSTANT), NOW)).toMatchObject({
      hold: { expiresAt: LAST_INSTANT },
    });
  });
});

describe("what a reservation gives back", () => {
  /** Changes what is stored of the counters of the key. */
  function patchSums({ key }: PlainHolds, sums: Partial<HoldSums>) {
    key.usage = { ...key.usage, holds: { ...(key.usage.holds ?? NO_HOLDS), ...sums } };
  }
  const patchHold = (holds: PlainHolds, id: string, found: Partial<FoundHold<PlainCounters>>) =>
    holds.holds.set(id, { ...(holds.holds.get(id) as FoundHold<PlainCounters>), ...found });
  const release = end({ uses: 0, rest: false });

  test("is no unit of a limit that was reset meanwhile", () => {
    const { holds, left } = reserved();
    patchSums(holds, { drops: [{ before: 9, windows: [UNITS.window], isKept: false }] });
    holds.settle(release, NOW);
    expect(left()).toEqual([10, 5, 0, 0]);
  });

  test("is no unit of a window that nothing is known of", () => {
    const { holds } = reserved();
    const state = { at: 0, used: 5, earlier: [] };
    const [limit, ...others] = holds.open[0]?.limits ?? [];
    const limits = [{ ...(limit as HeldLimit), window: "strange" }, ...others];
    patchHold(holds, "rsv_1", { hold: { ...(holds.open[0] as Hold), limits } });
    holds.key.windows.set("strange", state);
    expect(holds.settle(release, NOW)).toMatchObject({ kind: "ended" });
    expect(holds.key.windows.get("strange")).toEqual(state);
  });

  test("goes to no window of the workspace that has the name of one of a deleted identity", () => {
    const { holds } = reserved();
    const [limit] = holds.open[0]?.limits ?? [];
    const state = { at: limit?.at ?? 0, used: 5, earlier: [] };
    const limits = [{ ...(limit as HeldLimit), owner: 1 }];
    const hold = { ...(holds.open[0] as Hold), limits, numbers: [0, 0] };
    patchHold(holds, "rsv_1", { hold, counters: [holds.key, null] });
    holds.windows.set(UNITS.window, state);
    expect(holds.settle(renew(null), NOW)).toMatchObject({ kind: "renewed" });
    expect(holds.settle(release, NOW)).toMatchObject({ kind: "ended" });
    expect(holds.windows.get(UNITS.window)).toEqual(state);
  });

  test("of a lease whose key is deleted goes to the windows of the workspace", () => {
    const holds = new PlainHolds(usageOf(10), usageOf(null));
    const limits = [{ ...UNITS, owner: null }];
    holds.charge({ ...PLAN, limits }, { now: NOW, refill: null, holdId: "lse_1" });
    expect(holds.windows.get(UNITS.window)?.used).toBe(5);
    patchHold(holds, "lse_1", { counters: [null] });
    holds.settle({ ...release, id: "lse_1" }, NOW);
    expect(holds.windows.get(UNITS.window)?.used).toBe(0);
  });

  test("is not written where everything was used, but what a lease has used no longer counts as held", () => {
    const bucket = { ...UNITS, name: "tokens", window: "t60000:tokens" };
    const limits = [UNITS, { ...bucket, algorithm: "token-bucket" as const, held: 5 }];
    for (const [id, held] of [
      ["rsv_1", [5]],
      ["lse_1", []],
    ] as const) {
      const holds = new PlainHolds(usageOf(10), usageOf(null));
      const hold = { ...PLAN.hold, slotTtl: null };
      holds.charge({ ...PLAN, limits, hold } as ChargePlan, { now: NOW, refill: null, holdId: id });
      const { windows } = holds.key;
      const [fixed, { window }] = [windows.get(UNITS.window), bucket];
      expect(windows.get(window)?.earlier).toEqual([5]);
      holds.settle(end({ id }), NOW);
      if (id === "rsv_1") expect(windows.get(UNITS.window)).toBe(fixed);
      expect(windows.get(window)?.earlier).toEqual(held);
    }
  });

  test("needs no raises once no uses are held, and those of older holds go with a refill", () => {
    const { holds } = reserved();
    const reserve = (holdId: string, cost: number) =>
      holds.charge({ ...PLAN, cost, limits: [] }, { now: NOW, refill: null, holdId });
    reserve("rsv_2", 1);
    reserve("rsv_3", 0);
    patchSums(holds, { raises: [{ before: 1, free: 0, units: 2 }] });
    holds.settle(end(), NOW);
    const of = { kind: "key", id: "key_1" } as const;
    holds.settle({ kind: "refresh", of, refill: { amount: 20, dueAt: NOW } }, NOW);
    const { next, raises } = holds.key.usage.holds ?? NO_HOLDS;
    expect(raises).toEqual([{ before: next, free: 0, units: 15 }]);
    holds.settle(end({ id: "rsv_2" }), NOW);
    expect(holds.key.usage.holds).toMatchObject({ open: 1, uses: 0, raises: [] });
  });
});

test("a refresh without a due refill does not look through all open holds", () => {
  const usage = usageOf(10);
  const book = {
    ...{ counters: () => usage, usage: () => usage, over: () => [], nextEnd: () => NOW + 1 },
    setUsage: () => undefined,
    oldest: () => {
      throw new Error("looked through all of them");
    },
  } as Partial<HoldBook<Usage>> as HoldBook<Usage>;
  const of = { kind: "key", id: "key_1" } as const;
  for (const refill of [null, { amount: 20, dueAt: usage.refilledAt }])
    expect(applyHoldStep(book, { kind: "refresh", of, refill }, NOW)).toEqual({
      kind: "refreshed",
      expired: [],
      hasMore: false,
    });
});

test("a renewal of slots of a key leaves a window of the workspace with the same name", () => {
  const { holds } = reserved();
  const state = { at: 0, used: 1, earlier: [] };
  holds.windows.set(SLOTS.window, state);
  holds.settle(renew(null), NOW + 7);
  expect(holds.windows.get(SLOTS.window)).toEqual(state);
});
