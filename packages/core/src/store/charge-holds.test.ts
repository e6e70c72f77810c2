import { describe, expect, test } from "vitest";
import { type HoldSums, NO_HOLDS } from "../rules/hold.js";
import { usageOf } from "../testing/records.js";
import { LAST_INSTANT } from "../time.js";
import {
  applyCharge,
  type ChargeMoment,
  type ChargePlan,
  type ChargeState,
  type HoldPlan,
  type LimitCharge,
} from "./charge.js";

const NOW = 90_000;
const MINUTE = 60_000;

const ALL: HoldPlan = { keeps: "all", ttl: 5 * MINUTE, slotTtl: null, most: [2] };
const OF_BOTH: HoldPlan = { ...ALL, most: [2, 3] };

const BUCKET: LimitCharge = {
  ...{ name: "tokens", window: "t60000:tokens", owner: 0, cost: 4, shadow: false },
  ...{ algorithm: "token-bucket", limit: 6, duration: MINUTE, burst: 10 },
};
const FIXED: LimitCharge = { ...BUCKET, window: "60000:tokens", algorithm: "fixed" };
const SLOTS: LimitCharge = {
  ...{ ...BUCKET, name: "parallel", window: "c60000:parallel", cost: 1 },
  ...{ algorithm: "concurrent", limit: 5, burst: 5 },
};

function charge(
  plan: Partial<ChargePlan> = {},
  state: Partial<ChargeState> = {},
  moment: Partial<ChargeMoment> = {},
) {
  return applyCharge(
    { usage: usageOf(10), windows: [], remembered: null, ...state },
    {
      ...{ workspaceId: "ws_default", revision: 7, mode: "commit", cost: 3, uses: 0, limits: [] },
      confirms: [
        { kind: "key", id: "key_1", version: 3 },
        { kind: "identity", id: "id_1", version: 5 },
      ],
      hold: ALL,
      ...plan,
    },
    { now: NOW, refill: null, holdId: "rsv_1", ...moment },
  );
}

const sumsOf = (fields: Partial<HoldSums>): HoldSums => ({ ...NO_HOLDS, ...fields });

/** The holds that a charge makes. */
const heldBy = (...given: Parameters<typeof charge>) => charge(...given).next?.held?.holds;

describe("a charge that reserves", () => {
  test("records its held uses with the counters of the key", () => {
    const { result, next } = charge();
    expect(result).toEqual({
      ...{ kind: "charged", remaining: 7, limits: [] },
      hold: { id: "rsv_1", expiresAt: NOW + 5 * MINUTE },
    });
    const hold = {
      ...{ id: "rsv_1", keyId: "key_1", identityId: null, createdAt: NOW, ttl: 5 * MINUTE },
      ...{ expiresAt: NOW + 5 * MINUTE, uses: 3, usesOf: 0, numbers: [0], limits: [] },
    };
    const sums = sumsOf({ nextEnd: hold.expiresAt, open: 1, uses: 3, next: 1 });
    expect(next?.held).toEqual({ holds: [hold], sums: [sums] });
  });

  test("is recorded with the identity as well if the plan says so, with its number there", () => {
    const holds = [sumsOf({ open: 1, next: 4 }), sumsOf({ open: 2, next: 9, uses: 5 })];
    const held = charge({ hold: OF_BOTH, uses: 1 }, { holds }).next?.held;
    expect(held?.holds).toMatchObject([{ identityId: "id_1", usesOf: 1, numbers: [4, 9] }]);
    expect(held?.sums).toMatchObject([
      { open: 2, next: 5, uses: 0 },
      { open: 3, next: 10, uses: 8 },
    ]);
    const confirms = [{ kind: "key", id: "key_1", version: 3 }] as const;
    expect(heldBy({ hold: OF_BOTH, confirms })).toMatchObject([{ identityId: null }]);
  });

  test("does not take from unlimited uses", () => {
    expect(heldBy({}, { usage: usageOf(null) })).toMatchObject([{ uses: 3, usesOf: null }]);
  });

  test("has an empty id if the moment names none", () => {
    expect(heldBy({}, {}, { holdId: undefined })).toMatchObject([{ id: "" }]);
  });

  test("ends at the last instant at the latest", () => {
    const hold = { ...ALL, ttl: LAST_INSTANT };
    expect(heldBy({ hold })).toMatchObject([{ expiresAt: LAST_INSTANT, ttl: LAST_INSTANT }]);
  });

  test.each([
    [1, 2, undefined],
    [2, 2, 0],
    [1, 3, 1],
  ])(
    "is refused if the key has %i open and the identity %i of at most 2 and 3: record %s",
    (ofKey, ofIdentity, record) => {
      const holds = [sumsOf({ open: ofKey }), sumsOf({ open: ofIdentity })];
      const step = charge({ hold: OF_BOTH }, { holds });
      if (record === undefined) expect(step.next?.held?.holds).toHaveLength(1);
      else expect(step).toEqual({ result: { kind: "too-many-holds", record }, next: null });
    },
  );

  test("that is refused holds nothing", () => {
    const { result, next } = charge({ cost: 11 });
    expect([result.kind, next]).toEqual(["usage-exceeded", null]);
  });
});

describe("limits of a charge that reserves", () => {
  test("hold what was taken and when, and for a bucket its rate and its inflow counter", () => {
    expect(heldBy({ limits: [FIXED] })?.[0]?.limits).toStrictEqual([
      { window: "60000:tokens", owner: 0, units: 4, at: MINUTE, rate: 0 },
    ]);
    expect(heldBy({ limits: [BUCKET] })?.[0]?.limits).toStrictEqual([
      { window: "t60000:tokens", owner: 0, units: 4, at: NOW, rate: 6, flowed: 0 },
    ]);
  });

  test("hold nothing at a cost of 0, and no units of a shadow limit without room", () => {
    const shadow = { ...FIXED, name: "tried", window: "60000:tried", shadow: true, cost: 11 };
    expect(heldBy({ limits: [{ ...FIXED, cost: 0 }, shadow] })?.[0]?.limits).toMatchObject([
      { window: "60000:tried", units: 0 },
    ]);
  });

  test("a bucket counts its inflow once units of it may come back", () => {
    const stateAfter = (plan: Partial<ChargePlan>) => charge(plan).next?.windows[0]?.earlier;
    expect(stateAfter({ limits: [BUCKET] })).toEqual([0, 0, NOW]);
    expect(stateAfter({ limits: [BUCKET], hold: undefined })).toEqual([]);
    const ofSlots = { ...ALL, keeps: "slots", slotTtl: MINUTE } as const;
    expect(stateAfter({ limits: [BUCKET, SLOTS], hold: ofSlots })).toEqual([]);
    // Units of a lease belong to it until it ends.
    expect(stateAfter({ limits: [{ ...BUCKET, held: 4 }] })).toEqual([4]);
  });

  test("a peek changes none of this", () => {
    const { result, next } = charge({ limits: [BUCKET], mode: "peek" });
    expect(next).toBeNull();
    expect(result).not.toHaveProperty("hold");
    expect(result).toMatchObject({ limits: [{ state: { earlier: [] } }] });
  });

  test("its slots are held separately, for as long as they last, and alone if nothing else is held", () => {
    const limits = [FIXED, SLOTS];
    const both = heldBy({ limits, hold: { ...ALL, slotTtl: MINUTE } });
    expect(both).toMatchObject([
      { id: "rsv_1", uses: 3, expiresAt: NOW + 5 * MINUTE, limits: [{ window: FIXED.window }] },
      { id: "rsv_1.s", uses: 0, expiresAt: NOW + MINUTE, limits: [{ window: SLOTS.window }] },
    ]);
    const alone = heldBy({ limits, hold: { ...ALL, keeps: "slots", slotTtl: 9 * MINUTE } });
    expect(alone).toMatchObject([{ id: "rsv_1", uses: 0, ttl: 5 * MINUTE }]);
    expect(alone?.[0]?.limits).toHaveLength(1);
  });
});

describe("while units are held", () => {
  const due = { amount: 10, dueAt: NOW - 1 };

  test("nothing is decided while a hold has expired", () => {
    const holds = [undefined, sumsOf({ open: 1, nextEnd: NOW })];
    expect(charge({}, { holds }).result).toEqual({ kind: "unsettled", record: 1 });
    const later = [undefined, sumsOf({ open: 1, nextEnd: NOW + 1 })];
    expect(charge({}, { holds: later }).result.kind).toBe("charged");
  });

  test.each([
    ["uses are held", { holds: sumsOf({ uses: 1 }) }, due, 0, "unsettled"],
    ["only slots are held", { holds: sumsOf({ uses: 0 }) }, due, 0, "charged"],
    ["it carries over", {}, { ...due, carry: { at: 0, by: 1 } }, 0, "unsettled"],
    ["nothing is held", {}, due, 0, "charged"],
    ["it has been applied", { holds: sumsOf({ uses: 1 }), refilledAt: NOW }, due, 0, "charged"],
    ["uses are not counted", { holds: sumsOf({ uses: 1 }) }, due, null, "charged"],
  ])(
    "a charge decides whether a due refill must be applied first: %s",
    (_, usage, refill, uses, kind) => {
      const step = charge(
        { uses, cost: 0 },
        { usage: { ...usageOf(10), ...usage } },
        { refill: refill as never },
      );
      expect(step.result.kind).toBe(kind);
    },
  );
});
