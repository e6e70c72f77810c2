import { describe, expect, test } from "vitest";
import type { Hold } from "../rules/hold.js";
import type { RecordAddress } from "../store/change.js";
import type { AppliedCharge, ChargePlan, LimitCharge, LimitReading } from "../store/charge.js";
import { lacksSlotEnds, withOwnSlotEnds, withSlotEnds } from "./slot-ends.js";

const NOW = 10_000;
const SLOTS: LimitCharge = {
  ...{ name: "parallel", window: "c60000:parallel", owner: 0, cost: 1, shadow: false },
  ...{ algorithm: "concurrent", limit: 4, burst: 4, duration: 60_000 },
};
const FIXED: LimitCharge = { ...SLOTS, name: "minute", window: "60000:minute", algorithm: "fixed" };

const reading = (fields: Partial<LimitReading> = {}): LimitReading => ({
  ...{ name: "parallel", limit: 4, remaining: 0, resetAt: NOW, exceeded: true },
  state: { at: NOW, used: 4, earlier: [] },
  ...fields,
});

const refusal = (...limits: LimitReading[]): AppliedCharge => ({
  ...{ kind: "rate-limited", remaining: null, limits },
});

/** A hold of units of a window. */
function hold(
  expiresAt: number,
  units: number,
  window = SLOTS.window,
  owner: number | null = 0,
): Hold {
  return {
    ...{ id: `rsv_${expiresAt}`, keyId: "key_1", identityId: null, createdAt: 0, ttl: 60_000 },
    ...{ expiresAt, uses: 0, usesOf: 0, numbers: [0] },
    limits: [{ owner, window, units, at: 0, rate: 4 }],
  };
}

describe("a refusal", () => {
  const lacks = (limits: readonly LimitCharge[], ...readings: LimitReading[]) =>
    lacksSlotEnds({ limits }, refusal(...readings));

  test("by a concurrent limit does not say when slots end", () => {
    expect(lacks([SLOTS], reading())).toBe(true);
    expect(lacks([FIXED, SLOTS], reading({ name: "minute", exceeded: false }), reading())).toBe(
      true,
    );
  });

  test("by another limit lacks nothing, and neither does one by a concurrent limit with known ends", () => {
    expect(lacks([FIXED], reading({ name: "minute" }))).toBe(false);
    expect(lacks([SLOTS], reading({ exceeded: false }))).toBe(false);
    expect(lacks([SLOTS], reading({ admitsAt: NOW + 1 }))).toBe(false);
  });

  test("by any limit does not say when slots end of a concurrent limit that it only read, if some are held", () => {
    const read = { ...SLOTS, cost: 0 };
    const free = reading({ exceeded: false });
    const minute = reading({ name: "minute" });
    expect(lacks([FIXED, read], minute, free)).toBe(true);
    expect(lacks([FIXED, SLOTS], minute, free)).toBe(false);
    const none = { ...free, state: { at: NOW, used: 0, earlier: [] } };
    expect(lacks([FIXED, read], minute, none)).toBe(false);
    expect(lacks([FIXED, read], minute, { ...free, admitsAt: NOW })).toBe(false);
  });

  test("that was remembered may be about other limits than the current ones", () => {
    expect(lacks([SLOTS])).toBe(false);
    expect(lacks([SLOTS], reading({ name: "streams" }))).toBe(false);
    expect(lacks([], reading())).toBe(false);
  });

  test("is the only answer that lacks the ends of slots, unless it took none of them and no repeat returns it", () => {
    const kinds = ["charged", "repeat", "usage-exceeded"] as const;
    const read = { limits: [{ ...SLOTS, cost: 0 }] };
    for (const kind of kinds) {
      const of = (fields: Partial<LimitReading>) =>
        ({ ...refusal(reading(fields)), kind }) as AppliedCharge;
      expect(lacksSlotEnds({ limits: [SLOTS] }, of({}))).toBe(false);
      expect(lacksSlotEnds(read, of({ exceeded: false }))).toBe(true);
      expect(lacksSlotEnds(read, of({ exceeded: false }), true)).toBe(false);
    }
  });
});

describe("the ends of slots", () => {
  const confirms = [
    { kind: "key", id: "key_1", version: 3 },
    { kind: "identity", id: "id_1", version: 5 },
  ] as const;

  /** A refusal completed from the store's holds, and the records whose holds were read. */
  async function told(holds: readonly Hold[], limit: LimitCharge, ...readings: LimitReading[]) {
    const asked: string[] = [];
    const store = {
      holds: async (workspaceId: string, { kind, id }: RecordAddress) => {
        asked.push(`${workspaceId} ${kind} ${id}`);
        return [...holds];
      },
    };
    const plan = { workspaceId: "ws_default", confirms, limits: [limit] } as unknown as ChargePlan;
    const { limits } = await withSlotEnds(store, plan, refusal(...readings), NOW);
    return { limits, asked };
  }

  const holds = [hold(NOW + 300, 1), hold(NOW + 100, 2), hold(NOW + 200, 1)];

  test.each([
    [1, 4, 100],
    [2, 4, 100],
    [3, 4, 200],
    [3, 5, 100],
    [4, 4, 300],
    [4, 5, 200],
    [1, 2, 200],
    [1, 1, 300],
  ])("for %i slots of %i, 4 of which are held, come after %i ms", async (cost, limit, ms) => {
    const { limits, asked } = await told(holds, { ...SLOTS, cost, limit }, reading());
    expect(limits).toEqual([{ ...reading(), resetAt: NOW + 300, admitsAt: NOW + ms }]);
    expect(asked).toEqual(["ws_default key key_1"]);
  });

  test("are those of the latest slots, as many as the limit counts: older ones may be from before a reset", async () => {
    const numbered = [7, 9, 3, 8].map((number, index) => ({
      ...hold(NOW + 100 * (index + 1), 1),
      numbers: [number],
    }));
    const counted = async (used: number) => {
      const state = { at: NOW, used, earlier: [] };
      const { limits } = await told(numbered, { ...SLOTS, limit: used }, reading({ state }));
      return limits[0];
    };
    expect(await counted(1)).toMatchObject({ resetAt: NOW + 200, admitsAt: NOW + 200 });
    expect(await counted(2)).toMatchObject({ resetAt: NOW + 400, admitsAt: NOW + 200 });
    expect(await counted(3)).toMatchObject({ resetAt: NOW + 400, admitsAt: NOW + 100 });
  });

  test.each([
    [1, "identity id_1", 200],
    [0, "key key_1", 100],
    [null, "key key_1", 300],
  ])(
    "are those of the owner of the limit, the key's for an ad hoc one: %s",
    async (owner, of, ms) => {
      const each = [0, 1, null].map((whose, index) =>
        hold(NOW + 100 * (index + 1), 1, undefined, whose),
      );
      const { limits, asked } = await told(each, { ...SLOTS, owner }, reading());
      expect(limits).toMatchObject([{ resetAt: NOW + ms, admitsAt: NOW + ms }]);
      expect(asked).toEqual([`ws_default ${of}`]);
    },
  );

  test("are counted by the numbers of holds of the owner of the limit", async () => {
    const numbers = [
      [1, 9],
      [2, 8],
    ];
    const each = numbers.map((both, index) => ({
      ...hold(NOW + 100 * (index + 1), 1, undefined, 1),
      numbers: both,
    }));
    const state = { at: NOW, used: 1, earlier: [] };
    const { limits } = await told(each, { ...SLOTS, owner: 1, limit: 1 }, reading({ state }));
    expect(limits).toMatchObject([{ admitsAt: NOW + 100 }]);
  });

  test("do not include those of other limits", async () => {
    const others = [hold(NOW + 100, 3, "c60000:streams"), hold(NOW + 500, 1)];
    const { limits } = await told(others, SLOTS, reading());
    expect(limits).toMatchObject([{ resetAt: NOW + 500, admitsAt: NOW + 500 }]);
  });

  test("have passed if nothing is held any more, or every hold has expired", async () => {
    for (const left of [[], [hold(NOW - 50, 0)]]) {
      const { limits } = await told(left, SLOTS, reading());
      expect(limits).toMatchObject([{ resetAt: NOW, admitsAt: NOW }]);
    }
  });

  test("say of a limit that was only read when all of it is free, and that it admits a cost of 0 now", async () => {
    const free = reading({ exceeded: false });
    const { limits, asked } = await told(holds, { ...SLOTS, cost: 0 }, free);
    expect(limits).toEqual([{ ...free, resetAt: NOW + 300, admitsAt: NOW }]);
    expect(asked).toEqual(["ws_default key key_1"]);
  });

  test("are not read if nothing lacks them", async () => {
    const other = reading({ name: "streams" });
    expect(await told(holds, SLOTS, other)).toEqual({ limits: [other], asked: [] });
    const free = reading({ exceeded: false });
    const extra = reading({ name: "minute" });
    expect(await told(holds, SLOTS, free, extra)).toEqual({ limits: [free, extra], asked: [] });
  });
});

describe("slots that were just taken", () => {
  const SHORT: LimitCharge = { ...SLOTS, name: "short", window: "c20000:short", duration: 20_000 };
  const taken = (name: string, used: number): LimitReading => ({
    ...reading({ name, exceeded: false, resetAt: NOW + 60_000 }),
    state: { at: NOW, used, earlier: [] },
  });
  const resets = (
    limits: readonly LimitCharge[],
    readings: readonly LimitReading[],
    fields: Partial<AppliedCharge & Pick<ChargePlan, "hold">> = {},
  ) => {
    const { hold, ...charged } = { ...refusal(...readings), kind: "charged" as const, ...fields };
    const known = withOwnSlotEnds({ limits, hold: hold as ChargePlan["hold"] }, charged, NOW);
    return known.limits.map(({ resetAt }) => resetAt - NOW);
  };

  test("end with the shortest limit if they are the only ones, and may end later otherwise", () => {
    expect(resets([SLOTS, SHORT], [taken("parallel", 1), taken("short", 1)])).toEqual([
      20_000, 20_000,
    ]);
    expect(resets([SLOTS, SHORT], [taken("parallel", 2), taken("short", 1)])).toEqual([
      60_000, 20_000,
    ]);
  });

  test("say nothing of limits that no slots were taken from", () => {
    const free = { ...SHORT, cost: 0 };
    expect(resets([SLOTS, free], [taken("parallel", 1), taken("short", 0)])).toEqual([
      60_000, 60_000,
    ]);
    expect(resets([FIXED, SHORT], [taken("minute", 1), taken("short", 1)])).toEqual([
      60_000, 20_000,
    ]);
    expect(resets([FIXED], [taken("minute", 1)])).toEqual([60_000]);
    const fields = { kind: "usage-exceeded" } as const;
    expect(resets([SHORT], [taken("short", 1)], fields)).toEqual([60_000]);
  });

  test("that a repeat returns may be of other limits, and of a time before there were states", () => {
    expect(resets([SHORT], [taken("streams", 1)])).toEqual([60_000]);
    expect(resets([], [taken("short", 1)])).toEqual([60_000]);
    const { state: _, ...stateless } = taken("short", 1);
    expect(resets([SHORT], [stateless as LimitReading])).toEqual([60_000]);
  });
});
