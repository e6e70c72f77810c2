import assert from "node:assert/strict";
import type { KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { aLimit, aPlan, chargeAs, takeUnits, usedOf } from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  atFirst,
  aUsageChange,
  commit,
  nextOf,
  putWithUses,
  tellUse,
  usesOf,
} from "../../fixtures/records.js";

const [OLD, NEW, THIRD] = [aRecord("key", 1), aRecord("key", 2), aRecord("key", 3)];

const confirming = (number: number) => atFirst(at("key", number));
const planOf = (number: number) => aPlan({ confirms: confirming(number) });

/** Two keys that share one set of counters, as after a rotation. */
async function withSharedCounters(store: KeyStore, remaining = 5): Promise<void> {
  await putWithUses(store, OLD, usesOf(remaining));
  await takeUnits(store, OLD, 2, "default");
  await commit(store, { puts: [{ record: NEW, counters: { sharedWith: OLD.id } }] });
}

export const sharedCounterContracts: readonly StoreContract[] = [
  it("a record that shares counters has the uses and the windows that are there", async (store, other) => {
    await withSharedCounters(store);
    await assertHolds(other, NEW, { usage: usesOf(5) });
    assert.equal(await usedOf(other, { owner: at("key", 2) }), 2);
  }),
  it("what one record takes is gone for every record that shares its counters", async (store, other) => {
    await withSharedCounters(store);
    const limits = [aLimit()];
    await chargeAs("charged", store, { ...planOf(1), limits });
    await chargeAs("charged", other, { ...planOf(2), limits });
    for (const record of [OLD, NEW]) {
      await assertHolds(other, record, { usage: usesOf(3) });
      assert.equal(await usedOf(store, { owner: record }), 4);
    }
  }),
  it("of N charges at once through two records exactly as many go through as they share uses", async (store, other) => {
    await withSharedCounters(store, 11);
    const results = await race({ store, other }, 40, async (each, number) =>
      each.charge(planOf(1 + (number % 2)), { now: 0, refill: null }),
    );
    assert.deepEqual(countByKind(results), { charged: 11, "usage-exceeded": 29 });
  }),
  it("a change to the counters of one record is one to those of each that shares them", async (store, other) => {
    await withSharedCounters(store);
    const usage = aUsageChange({ kind: "set", remaining: 50 });
    await commit(other, { counters: [{ ...at("key", 2), usage, keepWindows: [] }] });
    for (const record of [OLD, NEW]) {
      await assertHolds(store, record, { usage: usesOf(50) });
      assert.equal(await usedOf(store, { owner: record }), 0);
    }
  }),
  it("shared counters live as long as any record that has them", async (store, other) => {
    await withSharedCounters(store);
    await commit(store, { puts: [{ record: THIRD, counters: { sharedWith: NEW.id } }] });
    await commit(store, { deletes: [OLD] });
    await chargeAs("charged", other, planOf(2));
    await assertHolds(other, THIRD, { usage: usesOf(4) });
    await commit(store, { deletes: [NEW] });
    await chargeAs("charged", other, planOf(3));
    await assertHolds(other, THIRD, { usage: usesOf(3) });
    assert.equal(await usedOf(other, { owner: THIRD }), 2);
  }),
  it("a record goes and hands its counters on in one change", async (store, other) => {
    await putWithUses(store, OLD, usesOf(5));
    await takeUnits(store, OLD, 2, "default");
    await commit(store, {
      puts: [{ record: NEW, counters: { sharedWith: OLD.id } }],
      deletes: [OLD],
    });
    await assertHolds(other, NEW, { usage: usesOf(5) });
    assert.equal(await usedOf(other, { owner: NEW }), 2);
    await chargeAs("charged", other, planOf(2));
    await assertHolds(store, NEW, { usage: usesOf(4) });
  }),
  it("a record that was deleted and is written again has no share in its former counters", async (store, other) => {
    await withSharedCounters(store);
    await commit(store, { deletes: [OLD] });
    await commit(store, { puts: [{ record: OLD }] });
    await assertHolds(other, OLD, { usage: null });
    await putWithUses(store, OLD, usesOf(100));
    await chargeAs("charged", other, planOf(1));
    await assertHolds(other, NEW, { usage: usesOf(5) });
    assert.equal(await usedOf(other, { owner: OLD }), 0);
  }),
  it("a record that is written again keeps its share", async (store, other) => {
    await withSharedCounters(store);
    await commit(store, { puts: [{ record: nextOf(NEW) }, { record: nextOf(OLD) }] });
    await chargeAs("charged", store, aPlan({ confirms: [{ ...at("key", 1), version: 2 }] }));
    await assertHolds(other, nextOf(NEW), { usage: usesOf(4) });
  }),
  it("a record that is written with new counters leaves those that it shared to the others", async (store, other) => {
    await withSharedCounters(store);
    await putWithUses(store, OLD, usesOf(50));
    await assertHolds(other, NEW, { usage: usesOf(5) });
    assert.equal(await usedOf(other, { owner: NEW }), 2);
    await chargeAs("charged", other, planOf(1));
    await assertHolds(other, OLD, { usage: usesOf(49) });
    await assertHolds(other, NEW, { usage: usesOf(5) });
  }),
  it("a record that had counters of its own gives them up for those that it shares", async (store, other) => {
    await putWithUses(store, NEW, usesOf(100));
    await takeUnits(store, NEW, 7, "default");
    await withSharedCounters(store);
    await assertHolds(other, NEW, { usage: usesOf(5) });
    assert.equal(await usedOf(other, { owner: NEW }), 2);
  }),
  it("the latest use is each record's own, also of those that share counters", async (store, other) => {
    await withSharedCounters(store);
    await tellUse(store, NEW, 5);
    await assertHolds(other, OLD, { usage: usesOf(5), usedAt: null });
    await assertHolds(other, NEW, { usage: usesOf(5), usedAt: 5 });
  }),
];
