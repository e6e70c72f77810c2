import { describe, expect, test } from "vitest";
import type { Hold } from "../rules/hold.js";
import { PlainHolds } from "../testing/holds.js";
import { SLOTS, UNITS, usageOf } from "../testing/records.js";
import type { ChargePlan } from "./charge.js";
import {
  applyHoldStep,
  type EndStep,
  type HoldBook,
  type HoldStep,
  MOST_ENDED_AT_ONCE,
  REMEMBER_END_MS,
} from "./settle.js";

const NOW = 90_000;
const MINUTE = 60_000;
const KEY = { kind: "key", id: "key_1" } as const;

/** Four uses of the key. */
const PLAN: ChargePlan = {
  ...{ workspaceId: "ws_default", revision: 7, mode: "commit", cost: 4, uses: 0, limits: [] },
  confirms: [{ ...KEY, version: 3 }],
  hold: { keeps: "all", ttl: 5 * MINUTE, slotTtl: null, most: [1_000] },
};
/** Four uses of the identity, which the key shares. */
const OF_BOTH: ChargePlan = {
  ...{ ...PLAN, uses: 1, hold: { keeps: "all", ttl: 5 * MINUTE, slotTtl: null, most: [9, 9] } },
  confirms: [...PLAN.confirms, { kind: "identity", id: "id_1", version: 3 }],
};

/** A slot of a route, which is held until the answer is sent. */
const slotOf = (owner: number | null): Partial<ChargePlan> => ({
  ...{ cost: 0, limits: [{ ...SLOTS, owner }] },
  hold: { keeps: "slots", ttl: MINUTE, slotTtl: MINUTE, most: [9] },
});

const end = (id: string, fields: Partial<EndStep> = {}): EndStep => {
  return { kind: "end", id, uses: null, limits: [], rest: true, ...fields };
};
const refresh: HoldStep = { kind: "refresh", of: KEY, refill: null };

function holding(uses: number | null = 100, ofIdentity: number | null = null) {
  const holds = new PlainHolds(usageOf(uses), usageOf(ofIdentity));
  const reserve = (holdId: string, plan: Partial<ChargePlan> = {}, now = NOW) =>
    holds.charge({ ...PLAN, ...plan }, { now, refill: null, holdId });
  return { holds, reserve };
}

/** Ids of the open holds, sorted. */
const openOf = ({ open }: PlainHolds) => open.map(({ id }) => id).sort();

describe("the end of a reservation", () => {
  test("first ends other expired holds of the same counters", () => {
    const { holds, reserve } = holding();
    reserve("rsv_1");
    reserve("rsv_2", {}, NOW + 1);
    reserve("rsv_3", {}, NOW + 2);
    const over = NOW + 5 * MINUTE + 1;
    expect(holds.settle(end("rsv_3", { uses: 1 }), over)).toMatchObject({
      ...{ kind: "ended", used: { uses: 1, limits: [] } },
      usage: { remaining: 99 },
    });
    expect(openOf(holds)).toEqual([]);
    expect(holds.key.usage).toEqual(usageOf(99));
    for (const id of ["rsv_1", "rsv_2"]) expect(holds.ended(id)).toMatchObject({ ended: null });
  });

  test("ends those of both records, the earliest first, then by id", () => {
    const { holds, reserve } = holding(100, 50);
    reserve("rsv_3", {}, NOW + 1);
    reserve("rsv_2", {}, NOW + 2);
    reserve("rsv_1", OF_BOTH, NOW + 1);
    reserve("rsv_0", OF_BOTH, NOW + 2);
    // As if another key of the identity had reserved them.
    for (const id of ["rsv_0", "rsv_1"]) {
      const found = holds.holds.get(id);
      if (found) holds.holds.set(id, { ...found, counters: [null, holds.identity] });
    }
    reserve("rsv_9", OF_BOTH, NOW + 3);
    const answer = holds.settleOnce(end("rsv_9"), NOW + 5 * MINUTE + 2);
    expect(answer).toMatchObject({ kind: "refreshed", hasMore: true });
    const { expired } = answer as { readonly expired: readonly Hold[] };
    expect(expired.map(({ id }) => id)).toEqual(["rsv_1", "rsv_3", "rsv_0", "rsv_2"]);
  });

  test("leaves other expired holds if it is alone or of a lease", () => {
    for (const [id, alone] of [
      ["rsv_2", true],
      ["lse_2", false],
    ] as const) {
      const { holds, reserve } = holding();
      reserve("rsv_1");
      reserve(id, {}, NOW + 1);
      const over = NOW + 5 * MINUTE;
      expect(holds.settle(end(id, { isAlone: alone }), over)).toMatchObject({ kind: "ended" });
      expect(openOf(holds)).toEqual(["rsv_1"]);
      expect(holds.ended("rsv_1")).toBe(null);
    }
  });

  test("waits for no hold that has not expired yet", () => {
    const { holds, reserve } = holding();
    reserve("rsv_1");
    reserve("rsv_2");
    expect(holds.settle(end("rsv_2"), NOW + 1)).toMatchObject({ kind: "ended", isRepeat: false });
    expect(openOf(holds)).toEqual(["rsv_1"]);
  });

  test("is remembered for an hour, with what was used", () => {
    const { holds, reserve } = holding();
    reserve("rsv_1");
    holds.settle(end("rsv_1", { uses: 3 }), NOW + 7);
    expect(holds.ended("rsv_1")).toMatchObject({
      ended: { used: { uses: 3, limits: [] }, endedAt: NOW + 7, usage: usageOf(97) },
      until: NOW + 7 + REMEMBER_END_MS,
    });
    reserve("rsv_2");
    const late = NOW + 9 * MINUTE;
    holds.settle(end("rsv_2"), late);
    expect(holds.ended("rsv_2")).toEqual({ ended: null, until: late + REMEMBER_END_MS });
  });

  test("with other units than before is a conflict", () => {
    const { holds, reserve } = holding();
    reserve("rsv_1", { limits: [UNITS] });
    const ended = (cost: number) => end("rsv_1", { limits: [{ name: "files", cost }] });
    expect(holds.settle(ended(2), NOW)).toMatchObject({ kind: "ended", isRepeat: false });
    expect(holds.settle(ended(3), NOW)).toEqual({ kind: "conflict" });
    expect(holds.settle(ended(2), NOW)).toMatchObject({ kind: "ended", isRepeat: true });
  });

  test.each([
    ["none were taken", { cost: 0 }, 100, usageOf(100)],
    ["they are unlimited", {}, null, null],
    ["none are counted", { uses: null }, 100, null],
  ])("shows no uses that do not exist: %s", (_, plan, uses, usage) => {
    const { holds, reserve } = holding(uses);
    reserve("rsv_1", plan);
    expect(holds.settle(end("rsv_1", { uses: 0 }), NOW)).toMatchObject({ kind: "ended", usage });
  });

  test("frees slots, which cannot be named, whoever owns them", () => {
    for (const owner of [0, null]) {
      const { holds, reserve } = holding();
      reserve("rsv_1", slotOf(owner));
      const windows = owner === null ? holds.windows : holds.key.windows;
      expect(windows.get(SLOTS.window)).toMatchObject({ used: 1 });
      const named = end("rsv_1", { limits: [{ name: "parallel", cost: 0 }] });
      expect(holds.settle(named, NOW)).toMatchObject({ kind: "unnamed" });
      expect(holds.settle(end("rsv_1"), NOW)).toMatchObject({
        ...{ kind: "ended", used: { uses: 0, limits: [0] } },
      });
      expect(windows.get(SLOTS.window)).toMatchObject({ used: 0 });
    }
  });

  test("returns nothing to an owner that is gone, nor to the workspace instead", () => {
    const { holds, reserve } = holding(100, 50);
    reserve("rsv_1", { ...OF_BOTH, limits: [{ ...UNITS, owner: 1 }] });
    const found = holds.holds.get("rsv_1");
    if (found !== undefined) holds.holds.set("rsv_1", { ...found, counters: [holds.key, null] });
    const state = { at: NOW, used: 7 };
    holds.windows.set(UNITS.window, state as never);
    expect(holds.settle(end("rsv_1", { uses: 0, rest: false }), NOW)).toMatchObject({
      ...{ kind: "ended", usage: null },
    });
    expect(holds.windows.get(UNITS.window)).toBe(state);
    expect(holds.identity.usage.remaining).toBe(46);
  });

  test("of a lease returns units to the identity if its key is gone; a reservation is gone with its key", () => {
    for (const [id, kind, remaining] of [
      ["lse_1", "ended", 50],
      ["rsv_1", "unknown", 46],
    ] as const) {
      const { holds, reserve } = holding(100, 50);
      reserve(id, OF_BOTH);
      const found = holds.holds.get(id);
      if (found !== undefined) holds.holds.set(id, { ...found, counters: [null, holds.identity] });
      expect(holds.settle(end(id, { uses: 0 }), NOW)).toMatchObject({ kind });
      expect(holds.identity.usage.remaining).toBe(remaining);
    }
  });
});

describe("a renewal of slots of the workspace", () => {
  test("marks them as used now, never earlier, so that they are not deleted", () => {
    for (const [now, at] of [
      [NOW + 7, NOW + 7],
      [NOW - 7, NOW],
    ] as const) {
      const { holds, reserve } = holding();
      reserve("rsv_1", slotOf(null));
      expect(holds.windows.get(SLOTS.window)).toMatchObject({ at: NOW, used: 1 });
      holds.settle({ kind: "renew", id: "rsv_1", ttl: null }, now);
      expect(holds.windows.get(SLOTS.window)).toMatchObject({ at, used: 1 });
    }
  });
});

describe("what has expired", () => {
  test("is over from its end on", () => {
    for (const [now, openIds] of [
      [NOW + 5 * MINUTE - 1, ["rsv_1"]],
      [NOW + 5 * MINUTE, []],
    ] as const) {
      const { holds, reserve } = holding();
      reserve("rsv_1");
      reserve("rsv_2", {}, NOW + 1);
      holds.settle(end("rsv_2"), now);
      expect(openOf(holds)).toEqual(openIds);
    }
  });

  test("is not remembered if its key is gone, nor are slots of a reservation that holds more", () => {
    const { holds, reserve } = holding(100, 50);
    reserve("rsv_1", OF_BOTH);
    const found = holds.holds.get("rsv_1");
    if (found !== undefined)
      holds.holds.set("rsv_1", { ...found, counters: [null, holds.identity] });
    const of = { kind: "identity", id: "id_1" } as const;
    holds.settle({ kind: "refresh", of, refill: null }, NOW + 5 * MINUTE);
    expect(openOf(holds)).toEqual([]);
    expect(holds.identity.usage.remaining).toBe(50);
    expect(holds.ended("rsv_1")).toBe(null);
    const hold = { keeps: "all", ttl: 5 * MINUTE, slotTtl: MINUTE, most: [9] } as const;
    reserve("rsv_2", { hold, limits: [SLOTS] });
    holds.settle(refresh, NOW + MINUTE);
    expect(openOf(holds)).toEqual(["rsv_2"]);
    expect(holds.ended("rsv_2.s")).toBe(null);
  });
});

describe("a refresh", () => {
  test("ends expired holds, the earliest first, then by id, and returns them", () => {
    const { holds, reserve } = holding();
    reserve("rsv_2", {}, NOW + 1);
    reserve("rsv_3");
    reserve("rsv_1");
    reserve("rsv_4", {}, NOW + 9);
    const answer = holds.settle(refresh, NOW + 5 * MINUTE + 1);
    expect(answer).toMatchObject({ kind: "refreshed", hasMore: false });
    const { expired } = answer as { readonly expired: readonly Hold[] };
    expect(expired.map(({ id }) => id)).toEqual(["rsv_1", "rsv_3", "rsv_2"]);
    expect(openOf(holds)).toEqual(["rsv_4"]);
    expect(holds.key.usage).toMatchObject({ remaining: 96, holds: { open: 1 } });
  });

  test("ends a bounded number at a time, until there are no more", () => {
    const { holds, reserve } = holding(1_000);
    for (let count = 0; count < MOST_ENDED_AT_ONCE + 1; count += 1)
      reserve(`rsv_${String(count).padStart(3, "0")}`);
    const answer = holds.settle(refresh, NOW + 5 * MINUTE);
    // The store of these tests repeats the step by itself.
    expect(answer).toMatchObject({ hasMore: false, expired: [{ id: "rsv_100" }] });
    expect(holds.key.usage).toEqual(usageOf(1_000));
  });

  test("refills, and uses that were held before come back only in part", () => {
    const { holds, reserve } = holding(10);
    reserve("rsv_1");
    const refill = { instant: NOW + 1, amount: 8, carryOver: false } as never;
    const before = holds.key.usage;
    const answer = holds.settle({ kind: "refresh", of: KEY, refill }, NOW + 2);
    expect(answer).toEqual({ kind: "refreshed", expired: [], hasMore: false });
    expect(holds.key.usage).not.toBe(before);
    expect(holds.key.usage).toMatchObject({ remaining: 8, holds: { open: 1 } });
  });

  test("writes nothing if nothing is due", () => {
    const { holds } = holding();
    expect(holds.settle(refresh, NOW)).toEqual({ kind: "refreshed", expired: [], hasMore: false });
    expect(holds.key.usage).toEqual(usageOf(100));
  });
});

describe("a restored record", () => {
  const aHold = (id: string): Hold => ({
    ...{ id, keyId: "key_1", identityId: "id_1", createdAt: NOW, expiresAt: NOW + MINUTE },
    ...{ ttl: MINUTE, uses: 4, usesOf: 0, numbers: [0, 0], limits: [] },
  });
  const sums = {
    ...{ nextEnd: NOW + MINUTE, open: 1, uses: 4, next: 1, setBefore: 0, raises: [], drops: [] },
  };

  test("has the holds and totals of the copy, and no others", () => {
    const { holds, reserve } = holding();
    reserve("rsv_1");
    reserve("rsv_2");
    const copied = [{ ...aHold("rsv_2"), uses: 3 }, aHold("rsv_3")];
    const step: HoldStep = { kind: "restore", of: KEY, sums, holds: copied };
    expect(holds.settle(step, NOW)).toEqual({ kind: "restored" });
    expect(openOf(holds)).toEqual(["rsv_2", "rsv_3"]);
    expect(holds.open.find(({ id }) => id === "rsv_2")).toMatchObject({ uses: 3 });
    // Nothing is taken or given back.
    expect(holds.key.usage).toEqual({ ...usageOf(92), holds: sums });
    expect(holds.settle({ ...step, sums: null, holds: [] }, NOW)).toEqual({ kind: "restored" });
    expect(openOf(holds)).toEqual([]);
    expect(holds.key.usage).toEqual(usageOf(92));
  });

  test("looks at each hold of the copy a few times, however many there are", () => {
    const ids = Array.from({ length: 300 }, (_, number) => `rsv_${number}`);
    const kept = new PlainHolds(usageOf(10), usageOf(null)).key;
    const nothing = () => undefined;
    const book = {
      ...{ counters: () => kept, usage: () => kept.usage, setUsage: nothing, attach: nothing },
      over: () => ids.map((id) => ({ hold: aHold(id), counters: [kept] })),
      detach: () => expect.unreachable(),
    } as unknown as HoldBook<typeof kept>;
    let looks = 0;
    const copied = ids.map((id) => ({
      ...aHold("unused"),
      get id() {
        looks += 1;
        return id;
      },
    }));
    const step: HoldStep = { kind: "restore", of: KEY, sums, holds: copied };
    expect(applyHoldStep(book, step, NOW)).toEqual({ kind: "restored" });
    expect(looks).toBeLessThan(3 * ids.length);
  });

  test("is at the index of its kind", () => {
    for (const [kind, place] of [
      ["key", 0],
      ["identity", 1],
    ] as const) {
      const { holds } = holding();
      const of = { kind, id: "any" } as const;
      holds.settle({ kind: "restore", of, sums, holds: [aHold("rsv_1")] }, NOW);
      const { counters = [] } = holds.holds.get("rsv_1") ?? {};
      expect(counters[place]).toBe(holds.counters(of));
      expect(counters[1 - place] ?? null).toBe(null);
    }
  });
});

test("nothing is done to a record that is gone", () => {
  class Gone extends PlainHolds {
    override counters() {
      return null as never;
    }
  }
  const holds = new Gone(usageOf(10), usageOf(null));
  expect(holds.settle(refresh, NOW)).toEqual({ kind: "refreshed", expired: [], hasMore: false });
  const step: HoldStep = { kind: "restore", of: KEY, sums: null, holds: [] };
  expect(holds.settle(step, NOW)).toEqual({ kind: "restored" });
});
