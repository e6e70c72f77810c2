import assert from "node:assert/strict";
import { changeUsage, type KeyStore, type Usage, type UsageChange } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { takeUnits, usedOf } from "../../fixtures/plans.js";
import { race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  aUsageChange,
  commit,
  KEY,
  NOW,
  nextOf,
  putWithUses,
  tryCommit,
  usesOf,
} from "../../fixtures/records.js";

const MAX = Number.MAX_SAFE_INTEGER;

const KEEP = aUsageChange({ kind: "keep" });
const setTo = (remaining: number | null) => aUsageChange({ kind: "set", remaining });
const increment = (by: number) => aUsageChange({ kind: "increment", by });
const decrement = (by: number) => aUsageChange({ kind: "decrement", by });

const USAGES: readonly Usage[] = [
  usesOf(null),
  usesOf(0),
  usesOf(5, { lastRefillAt: NOW }),
  usesOf(MAX, { refilledAt: 0 }),
];

const CHANGES: readonly UsageChange[] = [
  KEEP,
  setTo(null),
  setTo(0),
  setTo(MAX),
  increment(0),
  increment(1),
  increment(MAX - 5),
  increment(MAX),
  decrement(0),
  decrement(5),
  decrement(6),
  decrement(MAX),
  { ...KEEP, due: { amount: 3, dueAt: NOW + 1 } },
  { ...KEEP, due: { amount: 9, dueAt: NOW + 1 } },
  { ...KEEP, due: { amount: 9, dueAt: NOW } },
  { ...increment(2), due: { amount: 9, dueAt: NOW + 1 } },
  { ...decrement(8), due: { amount: 9, dueAt: NOW + 1 } },
  { ...setTo(1), due: { amount: 9, dueAt: NOW + 1 } },
  { ...setTo(4), restartsAt: NOW + 5 },
  { ...setTo(4), restartsAt: NOW - 5 },
  { ...KEEP, restartsAt: NOW },
  { ...increment(1), due: { amount: 9, dueAt: NOW + 1 }, restartsAt: NOW - 1 },
];

async function windowsOf(store: KeyStore, ...names: readonly string[]): Promise<readonly number[]> {
  const used: number[] = [];
  for (const window of names) used.push(await usedOf(store, { window }));
  return used;
}

export const counterContracts: readonly StoreContract[] = [
  it("a change to the uses answers and stores what `changeUsage` says, refusals among it", async (store, other) => {
    for (const usage of USAGES) {
      for (const change of CHANGES) {
        await putWithUses(store, KEY, usage);
        const expected = changeUsage(usage, change);
        const result = await tryCommit(other, { counters: [{ ...at("key"), usage: change }] });
        const label = JSON.stringify({ usage, change });
        if (expected.kind === "changed") {
          assert.deepEqual(result, { kind: "committed", usages: [expected.usage] }, label);
          await assertHolds(store, KEY, { usage: expected.usage });
        } else {
          assert.deepEqual(result, { kind: "refused", index: 0, reason: expected }, label);
          await assertHolds(store, KEY, { usage });
        }
      }
    }
  }),
  it("the counters after a change are answered in the order in which they were wanted", async (store, other) => {
    const records = [3, 1, 2].map((number) => aRecord("key", number));
    for (const [index, record] of records.entries())
      await putWithUses(store, record, usesOf(index * 10));
    const usages = await commit(other, {
      counters: records.map(({ kind, id }) => ({ kind, id, usage: increment(1) })),
    });
    assert.deepEqual(usages, [usesOf(1), usesOf(11), usesOf(21)]);
  }),
  it("a refusal names the first of the counters that refuses, and moves none of the others", async (store, other) => {
    const records = [1, 2, 3].map((number) => aRecord("key", number));
    for (const record of records) await putWithUses(store, record, usesOf(5));
    const by = [1, 6, 7];
    const counters = records.map(({ kind, id }, index) => ({
      kind,
      id,
      usage: decrement(by[index] ?? 0),
    }));
    assert.deepEqual(await tryCommit(other, { counters }), {
      kind: "refused",
      index: 1,
      reason: { kind: "insufficient", remaining: 5 },
    });
    for (const record of records) await assertHolds(other, record, { usage: usesOf(5) });
  }),
  it("two changes to one counter in one change follow each other", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const usages = await commit(other, {
      counters: [increment(3), decrement(8)].map((usage) => ({ ...at("key"), usage })),
    });
    assert.deepEqual(usages, [usesOf(8), usesOf(0)]);
    const result = await tryCommit(other, {
      counters: [increment(3), decrement(4)].map((usage) => ({ ...at("key"), usage })),
    });
    assert.deepEqual(result, {
      kind: "refused",
      index: 1,
      reason: { kind: "insufficient", remaining: 3 },
    });
    await assertHolds(store, KEY, { usage: usesOf(0) });
  }),
  it("a record is written and its counters changed in one change", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await commit(other, {
      puts: [{ record: nextOf(KEY) }],
      counters: [{ ...at("key"), usage: increment(2) }],
    });
    await assertHolds(store, nextOf(KEY), { usage: usesOf(7) });
  }),
  it("a change to the uses moves neither the version nor a window", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await takeUnits(store, KEY, 2, "default");
    await commit(other, { counters: [{ ...at("key"), usage: setTo(9) }] });
    await assertHolds(other, KEY, { usage: usesOf(9) });
    assert.equal(await usedOf(other), 2);
  }),
  it("of the windows of a record, those that are to be kept stay, and the others are forgotten", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await takeUnits(store, KEY, 2, "a", "b", "c");
    const usages = await commit(other, {
      counters: [{ ...at("key"), keepWindows: ["b", "nothing"] }],
    });
    assert.deepEqual(usages, [usesOf(5)]);
    assert.deepEqual(await windowsOf(other, "a", "b", "c", "nothing"), [0, 2, 0, 0]);
    await commit(store, { counters: [{ ...at("key"), keepWindows: [] }] });
    assert.deepEqual(await windowsOf(other, "a", "b", "c"), [0, 0, 0]);
  }),
  it("of the windows of a record, those that are dropped are forgotten, and the others stay", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await takeUnits(store, KEY, 2, "a", "b", "c");
    await commit(other, {
      counters: [{ ...at("key"), usage: increment(1), dropWindows: ["b", "nothing"] }],
    });
    assert.deepEqual(await windowsOf(other, "a", "b", "c"), [2, 0, 2]);
    await commit(other, {
      counters: [{ ...at("key"), keepWindows: ["a", "c"], dropWindows: ["c"] }],
    });
    assert.deepEqual(await windowsOf(store, "a", "b", "c"), [2, 0, 0]);
    await assertHolds(other, KEY, { usage: usesOf(6) });
  }),
  it("windows of the workspace are dropped by name, and those of records are not", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await takeUnits(store, KEY, 1, "a", "b");
    await takeUnits(store, null, 2, "a", "b");
    await commit(other, { dropWindows: ["a", "nothing"] });
    assert.deepEqual(await windowsOf(other, "a", "b"), [1, 1]);
    assert.equal(await usedOf(other, { owner: null, window: "a" }), 0);
    assert.equal(await usedOf(other, { owner: null, window: "b" }), 2);
  }),
  it("windows of a record are dropped, and those of the workspace of the same name are not", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await takeUnits(store, KEY, 1, "a");
    await takeUnits(store, null, 2, "a");
    await commit(other, { counters: [{ ...at("key"), dropWindows: ["a"] }] });
    assert.equal(await usedOf(other, { window: "a" }), 0);
    assert.equal(await usedOf(other, { owner: null, window: "a" }), 2);
  }),
  it("of N increments and decrements at once each counts", async (store, other) => {
    await putWithUses(store, KEY, usesOf(10));
    await race({ store, other }, 40, (each, number) =>
      commit(each, {
        counters: [{ ...at("key"), usage: number % 4 === 3 ? decrement(1) : increment(2) }],
      }),
    );
    await assertHolds(other, KEY, { usage: usesOf(10 + 30 * 2 - 10) });
  }),
  it("of N decrements at once exactly as many go through as there are uses", async (store, other) => {
    await putWithUses(store, KEY, usesOf(7));
    const results = await race({ store, other }, 30, (each) =>
      tryCommit(each, { counters: [{ ...at("key"), usage: decrement(1) }] }),
    );
    assert.equal(results.filter(({ kind }) => kind === "committed").length, 7);
    await assertHolds(other, KEY, { usage: usesOf(0) });
  }),
];
