import fc from "fast-check";
import { expect, test } from "vitest";
import { applyCharge, type ChargePlan, type HoldPlan } from "../store/charge.js";
import { fixedWindows, usageOf } from "../testing/records.js";
import { limitStateText, limitsText, readChargeText } from "./stored-text.js";

const LIMIT = { name: "a b", window: "w", ...fixedWindows(5, 10), cost: 2, owner: 0 };
const PLAN: ChargePlan = {
  workspaceId: "ws_default",
  revision: null,
  confirms: [],
  mode: "commit",
  cost: 1,
  uses: 0,
  limits: [
    LIMIT,
    { ...LIMIT, name: "b", window: "x", algorithm: "sliding", duration: 32 },
    { ...LIMIT, name: "c", window: "y", algorithm: "token-bucket", burst: 3, shadow: true },
  ],
};
const HOLD: HoldPlan = { keeps: "all", ttl: 60_000, slotTtl: null, most: [1_000] };

test("every result of a charge is read back from its text unchanged", () => {
  const groups = fc.array(fc.nat(3), { maxLength: 16 });
  const state = fc.record({
    at: fc.constantFrom(0, 90, 100, 110),
    used: fc.nat(6),
    earlier: fc.constant([]),
  });
  const sliding = fc.record({
    at: fc.constantFrom(90, 104, 110),
    used: fc.nat(6),
    earlier: groups,
  });
  const stored = fc.tuple(fc.option(state), fc.option(sliding), fc.option(state));
  const held = fc.constantFrom(undefined, HOLD);
  fc.assert(
    fc.property(fc.option(fc.nat(3)), stored, held, (remaining, windows, hold) => {
      const state = { usage: usageOf(remaining), windows, remembered: null };
      const moment = { now: 105, refill: null, holdId: "rsv_1" };
      const { result } = applyCharge(state, { ...PLAN, hold }, moment);
      if (!("limits" in result)) throw new Error("there was no request");
      const shown = result.limits.map(({ state: shown, exceeded }, index) => {
        const isMarked = exceeded && PLAN.limits[index]?.shadow;
        return `${limitStateText(shown)}${isMarked ? "!" : ""}`;
      });
      const open = result.hold ? [result.hold.id, result.hold.expiresAt] : [];
      const text = [result.kind, result.remaining ?? "-", ...shown, ...open].join(" ");
      expect(readChargeText(text, PLAN)).toEqual(result);
      const repeat = `repeat ${text}\n${limitsText(PLAN.limits)}`;
      expect(readChargeText(repeat, { ...PLAN, limits: [] })).toEqual({
        ...result,
        isRepeat: true,
      });
    }),
  );
});

test("a request that was remembered with only the values of its limits is repeated with the same answer", () => {
  const read = (limits: string) => readChargeText(`repeat rate-limited 1 100:4\n${limits}`, PLAN);
  expect(read('[["a b",5,10,2]]')).toEqual(read(limitsText([LIMIT])));
  expect(read('[["a b",5,10,2]]')).toMatchObject({ limits: [{ name: "a b", remaining: 1 }] });
});

test.each([
  ["stale 0", { kind: "stale", moved: "revision" }],
  ["STALE 2", { kind: "stale", moved: 1 }],
  ["CONFLICT", { kind: "conflict" }],
  ["unsettled 1", { kind: "unsettled", record: 0 }],
  ["FULL 2", { kind: "too-many-holds", record: 1 }],
])("%s is read", (text, result) => {
  expect(readChargeText(text, PLAN)).toEqual(result);
});

test.each([
  ["corrupt", "STORE_CORRUPT"],
  ["charged x 0:1 0:1", "STORE_CORRUPT"],
  ["charged 1 0:1", "STORE_CORRUPT"],
  ["charged 1 0:1 -1:1 0:1", "STORE_CORRUPT"],
  ["charged 1 0:1 0:1:x 0:1", "STORE_CORRUPT"],
  ["charged 1 0:1 0:1:1:1 0:1", "STORE_CORRUPT"],
  ["charged 1 0:1 0:1 0:1 rsv_1", "STORE_CORRUPT"],
  ["charged 1 0:1 0:1 0:1 rsv_1 soon", "STORE_CORRUPT"],
  ["repeat charged 1 0:1\n{}", "STORE_CORRUPT"],
  ["repeat charged 1 0:1", "STORE_CORRUPT"],
  ["repeat charged 1 0:1\n[null]", "STORE_CORRUPT"],
  ['repeat charged 1 0:1\n[["a b",5,10]]', "STORE_CORRUPT"],
  ['repeat charged 1 0:1\n[{"name":"a b"}]', "STORE_CORRUPT"],
  ["stale", "INTERNAL_SERVER_ERROR"],
  ["stale x", "INTERNAL_SERVER_ERROR"],
  ["something else", "INTERNAL_SERVER_ERROR"],
  ["", "INTERNAL_SERVER_ERROR"],
])("%j is refused", (text, code) => {
  expect(() => readChargeText(text, PLAN)).toThrow(expect.objectContaining({ code }));
});
