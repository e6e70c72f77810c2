import assert from "node:assert/strict";
import type { LimitReading } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aLimit,
  aPlan,
  aPlanOfLimits,
  aRequest,
  charge,
  chargeAs,
  leftOfLimits,
  repeatOf,
  usedOf,
} from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  atFirst,
  commit,
  DAY,
  KEY,
  MINUTE,
  NOW,
  nextOf,
  put,
  putWithUses,
  usesOf,
} from "../../fixtures/records.js";

const WINDOW_AT = NOW - (NOW % MINUTE);

/** The reading of these tests' limit when this many of its units are used. */
function readingOf(used: number, exceeded = false): LimitReading {
  const state = { at: WINDOW_AT, used, earlier: [] };
  const [remaining, resetAt] = [10 - used, WINDOW_AT + MINUTE];
  return { name: "default", limit: 10, remaining, resetAt, exceeded, state };
}

const NAMESPACE = aLimit({ owner: null, window: "namespace" });
const planOfNamespace = (limit = NAMESPACE) => aPlanOfLimits([limit], { confirms: [] });

export const limitContracts: readonly StoreContract[] = [
  it("a charge takes its units, and says what is left and when the next window opens", async (store, other) => {
    await putWithUses(store, KEY);
    const plan = aPlanOfLimits([aLimit({ cost: 4 })]);
    for (const remaining of [6, 2]) {
      assert.deepEqual(await charge(other, plan), {
        kind: "charged",
        remaining: null,
        limits: [readingOf(10 - remaining)],
      });
    }
    assert.equal(await usedOf(store), 8);
  }),
  it("units up to the limit are admitted, and one more is refused and takes nothing", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aPlanOfLimits([aLimit({ cost: 9 })]));
    await chargeAs("rate-limited", other, aPlanOfLimits([aLimit({ cost: 2 })]));
    await chargeAs("charged", other, aPlanOfLimits([aLimit({ cost: 1 })]));
    const refused = await chargeAs("rate-limited", other, aPlanOfLimits([aLimit()]));
    assert.deepEqual(refused.limits, [readingOf(10, true)]);
    assert.equal(await usedOf(store), 10);
  }),
  it("a window that is full opens again at its edge, and not a millisecond earlier", async (store, other) => {
    await putWithUses(store, KEY);
    const plan = aPlanOfLimits([aLimit({ cost: 10 })]);
    await chargeAs("charged", store, plan, { now: WINDOW_AT });
    await chargeAs("rate-limited", other, plan, { now: WINDOW_AT + MINUTE - 1 });
    await chargeAs("charged", other, plan, { now: WINDOW_AT + MINUTE });
    assert.equal(await usedOf(store, { now: WINDOW_AT + MINUTE }), 10);
  }),
  it("a clock that is set back takes from the latest window, and reopens none", async (store, other) => {
    await putWithUses(store, KEY);
    const plan = aPlanOfLimits([aLimit({ cost: 5 })]);
    await chargeAs("charged", store, plan, { now: NOW + DAY });
    for (const [kind, now] of [
      ["charged", NOW],
      ["rate-limited", NOW - DAY],
    ] as const) {
      const { limits } = await chargeAs(kind, other, plan, { now });
      assert.equal(limits[0]?.resetAt, WINDOW_AT + DAY + MINUTE);
    }
    assert.equal(await usedOf(store, { now: NOW + DAY }), 10);
  }),
  it("a cost of 0 looks: it is admitted at a full window and leaves every window as it is", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aPlanOfLimits([aLimit({ cost: 10 })]));
    const look = aPlanOfLimits([aLimit({ cost: 0 })]);
    const { limits } = await chargeAs("charged", other, look);
    assert.deepEqual([limits[0]?.remaining, limits[0]?.exceeded], [0, false]);
    const later = await chargeAs("charged", other, look, { now: NOW + DAY });
    assert.equal(later.limits[0]?.remaining, 10);
    assert.equal(await usedOf(other), 10);
  }),
  it("a limit that was lowered below what was used refuses even to look, and shows 0 left", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aPlanOfLimits([aLimit({ cost: 8 })]));
    for (const cost of [0, 1]) {
      const lowered = aPlanOfLimits([aLimit({ limit: 5, cost })]);
      const { limits } = await chargeAs("rate-limited", other, lowered);
      assert.deepEqual([limits[0]?.remaining, limits[0]?.exceeded], [0, true]);
    }
    await chargeAs("charged", other, aPlanOfLimits([aLimit({ limit: 8, cost: 0 })]));
  }),
  it("readings come in the order of the plan, each of its own window and owner", async (store, other) => {
    await putWithUses(store, KEY);
    await putWithUses(store, aRecord("identity"));
    const confirms = atFirst(at("key"), at("identity"));
    const limits = [
      aLimit({ name: "z", cost: 1 }),
      aLimit({ name: "a", cost: 2, owner: 1 }),
      aLimit({ name: "m", cost: 3, owner: null }),
      aLimit({ name: "z again", window: "z", cost: 4, owner: 1, duration: 7_000 }),
      aLimit({ name: "none", cost: 0 }),
    ];
    const result = await chargeAs("charged", other, aPlanOfLimits(limits, { confirms }));
    assert.deepEqual(
      result.limits.map(({ name, remaining }) => [name, remaining]),
      [
        ["z", 9],
        ["a", 8],
        ["m", 7],
        ["z again", 6],
        ["none", 10],
      ],
    );
    const seven = { window: "z", owner: at("identity"), duration: 7_000 };
    assert.deepEqual(
      [
        await usedOf(store, { window: "z" }),
        await usedOf(store, { window: "a", owner: at("identity") }),
        await usedOf(store, { window: "m", owner: null }),
        await usedOf(store, seven),
        await usedOf(store, { window: "a" }),
      ],
      [1, 2, 3, 4, 0],
    );
  }),
  it("one full limit refuses, and nothing is taken from any limit or use", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await chargeAs("charged", store, aPlanOfLimits([aLimit({ name: "b", cost: 10 })]));
    const limits = ["a", "b", "c"].map((name) => aLimit({ name }));
    const refused = await chargeAs("rate-limited", other, aPlan({ limits }));
    assert.equal(refused.remaining, 5);
    assert.deepEqual(
      refused.limits.map(({ name, remaining, exceeded }) => [name, remaining, exceeded]),
      [
        ["a", 10, false],
        ["b", 0, true],
        ["c", 10, false],
      ],
    );
    for (const window of ["a", "c"]) assert.equal(await usedOf(store, { window }), 0);
    await assertHolds(store, KEY, { usage: usesOf(5) });
  }),
  it("every limit that refuses is named", async (store, other) => {
    await putWithUses(store, KEY);
    const limits = ["a", "b", "c"].map((name) => aLimit({ name, cost: name === "b" ? 1 : 11 }));
    const refused = await chargeAs("rate-limited", other, aPlanOfLimits(limits));
    assert.deepEqual(
      refused.limits.map(({ exceeded }) => exceeded),
      [true, false, true],
    );
  }),
  it("limits refuse before uses do, and missing uses take nothing from a limit", async (store, other) => {
    await putWithUses(store, KEY, usesOf(0));
    const full = aPlan({ limits: [aLimit({ cost: 11 })] });
    await chargeAs("rate-limited", other, full);
    const exceeded = await chargeAs("usage-exceeded", other, aPlan({ limits: [aLimit()] }));
    assert.deepEqual(exceeded.limits, [readingOf(0)]);
    assert.equal(await usedOf(store), 0);
  }),
  it("windows that an identity keeps are shared by its keys", async (store, other) => {
    await putWithUses(store, aRecord("identity"));
    for (const number of [1, 2]) {
      await putWithUses(store, aRecord("key", number));
      const confirms = atFirst(at("key", number), at("identity"));
      const limits = [aLimit({ owner: 1 }), aLimit({ name: "own" })];
      const charged = await chargeAs("charged", other, aPlanOfLimits(limits, { confirms }));
      assert.deepEqual(leftOfLimits(charged), [10 - number, 9]);
    }
  }),
  it("a record that does not exist counts nothing: its limits admit as if nothing was taken", async (store, other) => {
    await putWithUses(store, KEY);
    const confirms = [...atFirst(KEY), { ...at("identity"), version: null }];
    const plan = aPlanOfLimits([aLimit({ owner: 1, cost: 7 })], { confirms });
    for (const connection of [store, other]) {
      const { limits } = await chargeAs("charged", connection, plan);
      assert.equal(limits[0]?.remaining, 3);
    }
    await chargeAs(
      "rate-limited",
      other,
      aPlanOfLimits([aLimit({ owner: 1, cost: 11 })], { confirms }),
    );
    await putWithUses(store, aRecord("identity"));
    assert.equal(await usedOf(other, { owner: at("identity") }), 0);
  }),
  it("windows outlive the writing of their record, and not its deletion", async (store, other) => {
    await putWithUses(store, KEY);
    await chargeAs("charged", store, aPlanOfLimits([aLimit({ cost: 6 })]));
    await put(store, nextOf(KEY));
    assert.equal(await usedOf(other), 6);
    await commit(store, { deletes: [KEY] });
    await putWithUses(store, KEY);
    assert.equal(await usedOf(other), 0);
  }),
  it("a limit without an owner is the workspace's, and needs no record", async (store, other) => {
    await chargeAs("charged", store, planOfNamespace());
    await chargeAs("charged", other, planOfNamespace({ ...NAMESPACE, cost: 9 }));
    await chargeAs("rate-limited", store, planOfNamespace());
    assert.equal(await usedOf(other, { owner: null, window: "namespace" }), 10);
  }),
  it("calls of a process whose clock is days ahead reopen no window of anybody else's, and forget no request", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const full = aPlanOfLimits([aLimit({ owner: null, window: "full", limit: 1 })]);
    // By the machine's clock: what is over by it may be forgotten, as everything at NOW will be one day.
    const today = Date.now();
    const request = aRequest({ rememberUntil: today + MINUTE });
    const repeated = { now: today, request };
    await chargeAs("charged", store, full, { now: today });
    const first = await chargeAs("charged", store, aPlan(), repeated);
    // Other names, and one of them again and again: sweeps go from row to row.
    for (let round = 0; round < 9; round += 1) {
      const now = today + 2 * DAY + round;
      const ahead = aPlanOfLimits([aLimit({ owner: null, window: `ahead-${round % 5}` })]);
      await chargeAs("charged", other, ahead, { now });
      const id = `ahead-${round % 5}`;
      await charge(other, aPlan({ cost: 0 }), {
        now,
        request: aRequest({ id, rememberUntil: now + MINUTE }),
      });
    }
    await chargeAs("rate-limited", store, full, { now: today });
    assert.deepEqual(await charge(store, aPlan(), repeated), repeatOf(first));
    await assertHolds(other, KEY, { usage: usesOf(8) });
  }),
  it("a window of the workspace stays until a day after its end, so that a clock set back reopens none", async (store, other) => {
    await chargeAs("charged", store, planOfNamespace({ ...NAMESPACE, cost: 10 }));
    const lastInstant = WINDOW_AT + MINUTE + DAY - 1;
    for (let number = 0; number < 20; number += 1) {
      const limit = aLimit({ owner: null, window: `expiring-${number}` });
      await chargeAs("charged", other, planOfNamespace(limit), { now: lastInstant });
    }
    await chargeAs("rate-limited", store, planOfNamespace());
    await chargeAs("rate-limited", other, planOfNamespace());
  }),
  it("a window of the workspace is followed by an empty one at its edge", async (store, other) => {
    const plan = planOfNamespace({ ...NAMESPACE, cost: 10 });
    await chargeAs("charged", store, plan, { now: WINDOW_AT });
    await chargeAs("rate-limited", other, plan, { now: WINDOW_AT + MINUTE - 1 });
    await chargeAs("charged", other, plan, { now: WINDOW_AT + MINUTE });
    await chargeAs("rate-limited", store, plan, { now: WINDOW_AT });
  }),
  it("of N charges at once exactly as many go through as a limit has units", async (store, other) => {
    await putWithUses(store, KEY);
    for (const [owner, window] of [
      [0, "default"],
      [null, "namespace"],
    ] as const) {
      const plans = [0, 1].map(() => aPlanOfLimits([aLimit({ owner, window })]));
      const results = await race({ store, other }, 40, (each, number) =>
        charge(each, plans[number % 2]),
      );
      assert.deepEqual(countByKind(results), { charged: 10, "rate-limited": 30 });
    }
  }),
  it("of N charges at once on crossing limits none takes from one of them alone", async (store, other) => {
    await putWithUses(store, KEY, usesOf(25));
    const a = aLimit({ name: "a", limit: 14 });
    const b = aLimit({ name: "b", limit: 9 });
    const kinds = [[a], [b], [a, b], [b, a]];
    const results = await race({ store, other }, 60, (each, number) =>
      charge(each, aPlan({ limits: kinds[number % 4] ?? [] })),
    );
    const admitted = (name: string) =>
      results.filter(
        (result) => result.kind === "charged" && result.limits.some((limit) => limit.name === name),
      ).length;
    assert.equal(await usedOf(store, { window: "a" }), admitted("a"));
    assert.equal(await usedOf(store, { window: "b" }), admitted("b"));
    assert.deepEqual([admitted("a") <= 14, admitted("b") <= 9], [true, true]);
    const charged = results.filter(({ kind }) => kind === "charged").length;
    await assertHolds(other, KEY, { usage: usesOf(25 - charged) });
  }),
  it("a plan may name fifty limits", async (store, other) => {
    await putWithUses(store, KEY);
    const limits = Array.from({ length: 50 }, (_, number) =>
      aLimit({ name: `limit-${number}`, cost: number % 10, owner: number % 3 === 0 ? null : 0 }),
    );
    const result = await chargeAs("charged", other, aPlanOfLimits(limits));
    const expected = limits.map(({ cost }) => 10 - cost);
    assert.deepEqual(leftOfLimits(result), expected);
    assert.equal(await usedOf(store, { window: "limit-49" }), 9);
    assert.equal(await usedOf(store, { window: "limit-48", owner: null }), 8);
  }),
  it("a window's name is any printable text without spaces and `=`", async (store, other) => {
    await putWithUses(store, KEY);
    const names = ["a", "A", "a:b", "{a}", "a.b", "*", "%", "'\"`", "\\", "__proto__", "0", "~"];
    const long = ["x".repeat(512), `${"x".repeat(511)}y`];
    for (const [index, name] of [...names, ...long].entries()) {
      const limits = [null, 0].map((owner) =>
        aLimit({ name: `${owner}`, window: name, owner, limit: 100, cost: index + 1 }),
      );
      await chargeAs("charged", store, aPlanOfLimits(limits));
    }
    for (const [index, window] of [...names, ...long].entries()) {
      for (const owner of [null, at("key")])
        assert.equal(await usedOf(other, { window, owner }), index + 1, window);
    }
  }),
];
