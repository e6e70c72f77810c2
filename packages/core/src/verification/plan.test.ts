import { describe, expect, test } from "vitest";
import type { LimitCharge } from "../store/charge.js";
import { fixedWindows, identityWith, loadedWith, usageOf } from "../testing/records.js";
import { DAY_MS } from "../time.js";
import { dueRefillOf, MOST_OPEN, planCharge, planPeek } from "./plan.js";

const daily = { interval: "daily", amount: 9 } as const;
const limits = [{ name: "default", ...fixedWindows(), cost: 1, window: "60000:default", owner: 0 }];

const loaded = loadedWith(
  { identityId: "id_1", version: 3, refill: daily },
  {
    identity: identityWith({ version: 5 }),
    identityUsage: usageOf(),
    revision: 7,
    handle: "row 1",
    identityHandle: "row 2",
  },
);

describe("the plan of the atomic step", () => {
  test("contains what the decision is based on, the cost and the limits", () => {
    expect(planCharge(loaded, 2, limits)).toEqual({
      workspaceId: "ws_default",
      revision: 7,
      confirms: [
        { kind: "key", id: "key_1", version: 3, handle: "row 1" },
        { kind: "identity", id: "id_1", version: 5, handle: "row 2" },
      ],
      mode: "commit",
      cost: 2,
      uses: 0,
      limits,
      memo: undefined,
    });
  });

  test("of a key without an identity confirms only the key", () => {
    const { confirms } = planCharge(loadedWith(), 1, []);
    expect(confirms).toEqual([{ kind: "key", id: "key_1", version: 1, handle: undefined }]);
  });

  test("of a key whose identity was deleted expects it to be missing", () => {
    const { confirms } = planCharge(loadedWith({ identityId: "id_1" }), 1, []);
    expect(confirms[1]).toMatchObject({ kind: "identity", id: "id_1", version: null });
  });

  test("takes the uses from their owner: the key, or its identity", () => {
    const shared = loadedWith({ ...loaded.key, usesFrom: "identity" }, loaded);
    const confirmed = (key: typeof loaded) => {
      const { confirms, uses } = planCharge(key, 1, []);
      return uses === null ? null : confirms[uses]?.kind;
    };
    expect(confirmed(loaded)).toBe("key");
    expect(confirmed({ ...shared, key: { ...loaded.key, usesFrom: "identity" } })).toBe("identity");
  });

  test("that only confirms is a peek: it takes no use and no limit", () => {
    expect(planPeek(loaded)).toEqual({ ...planCharge(loaded, 0, []), mode: "peek" });
  });

  test("that shows the result of a verification is a peek at its whole cost", () => {
    expect(planPeek(loaded, 2, limits)).toEqual({ ...planCharge(loaded, 2, limits), mode: "peek" });
  });
});

describe("what a plan holds", () => {
  const slots = (duration: number, cost = 1): LimitCharge => ({
    ...{ name: "parallel", ...fixedWindows(4, duration), cost, window: "c:parallel", owner: 0 },
    algorithm: "concurrent",
  });
  const most = [...MOST_OPEN];

  test("is nothing if it takes no slots and is no reservation", () => {
    for (const charged of [[], limits, [slots(5_000, 0)]])
      expect(planCharge(loaded, 1, charged).hold).toBeUndefined();
    expect(planPeek(loaded, 1, [slots(5_000)]).hold).toBeUndefined();
    expect(planCharge(loaded, 1, [], 60_000, "peek").hold).toBeUndefined();
  });

  test("is only its slots if it is no reservation, for the shortest of their durations", () => {
    const hold = (...charged: LimitCharge[]) => planCharge(loaded, 1, charged).hold;
    expect(hold(slots(5_000))).toEqual({ keeps: "slots", ttl: 5_000, slotTtl: 5_000, most });
    for (const durations of [
      [7_000, 5_000, 9_000],
      [5_000, 7_000],
    ])
      expect(hold(...durations.map((duration) => slots(duration)))?.ttl).toBe(5_000);
    expect(hold(slots(5_000), slots(1_000, 0))?.ttl).toBe(5_000);
  });

  test("is all of it if it is a reservation, with slots for at most their own duration", () => {
    const hold = (...charged: LimitCharge[]) => planCharge(loaded, 1, charged, 60_000).hold;
    expect(hold()).toEqual({ keeps: "all", ttl: 60_000, slotTtl: null, most });
    expect(hold(slots(5_000))).toEqual({ keeps: "all", ttl: 60_000, slotTtl: 5_000, most });
  });

  test("is one of at most 1,000 holds of a key, and 10,000 of an identity", () => {
    expect(most).toEqual([1_000, 10_000]);
    expect(planCharge(loadedWith(), 1, [], 60_000).hold?.most).toEqual([1_000]);
  });
});

describe("the refill that is due", () => {
  test("is that of the key, or of the identity whose uses it takes", () => {
    const own = { amount: 9, dueAt: DAY_MS };
    expect(dueRefillOf(loaded, DAY_MS)).toEqual(own);
    const identity = identityWith({ refill: { interval: "daily", amount: 4 } });
    const shared = loadedWith(
      { identityId: "id_1", usesFrom: "identity", refill: daily },
      { identity },
    );
    expect(dueRefillOf(shared, DAY_MS)).toEqual({ ...own, amount: 4 });
  });

  test("is null without one, and null if the identity is gone", () => {
    expect(dueRefillOf(loadedWith(), DAY_MS)).toBeNull();
    const orphan = loadedWith({ identityId: "id_1", usesFrom: "identity", refill: daily });
    expect(dueRefillOf(orphan, DAY_MS)).toBeNull();
  });

  test.each([
    { now: DAY_MS - 1, dueAt: 0 },
    { now: DAY_MS, dueAt: DAY_MS },
    { now: DAY_MS + 1, dueAt: DAY_MS },
  ])("at $now fell due at $dueAt", ({ now, dueAt }) => {
    expect(dueRefillOf(loaded, now)).toEqual({ amount: 9, dueAt });
  });
});
