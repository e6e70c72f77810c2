import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import { aPlan, chargeAs, takeUnits, usedOf } from "../../fixtures/plans.js";
import {
  aRecord,
  assertGone,
  assertHolds,
  at,
  commit,
  load,
  NOW,
  nextOf,
  put,
  putWithUses,
  revisionOf,
  tellUse,
  usesOf,
  WORKSPACE,
} from "../../fixtures/records.js";

/** Versions and revisions are random numbers: none tells which is later. */
const NUMBERS = [5, 2, Number.MAX_SAFE_INTEGER, 1e15, 1e15 + 1, 2 ** 52 + 1, 1];

const confirming = (version: number) => aPlan({ confirms: [{ ...at("key"), version }] });

export const recordContracts: readonly StoreContract[] = [
  it("a record is written whole: nothing of the body or the link before is left", async (store, other) => {
    await put(store, aRecord("key", 1, { link: "id_1", body: { a: 1, b: { c: 2 } } }));
    const next = aRecord("key", 1, { version: 2, link: "id_2", body: { b: {} } });
    await put(store, next);
    await assertHolds(other, next);
    const last = aRecord("key", 1, { version: 3, body: null });
    await put(store, last);
    await assertHolds(other, last);
  }),
  it("a version is what core chose, also one that did not rise", async (store, other) => {
    for (const version of [5, 5, 2]) {
      const record = aRecord("key", 1, { version, body: { version } });
      await put(store, record);
      await assertHolds(other, record);
    }
  }),
  it("a record that is written again keeps its uses, its windows and its latest use", async (store, other) => {
    const record = aRecord("key");
    await putWithUses(store, record, usesOf(7));
    await takeUnits(store, at("key"), 3, "default");
    await tellUse(store, record);
    await put(store, nextOf(record));
    await assertHolds(other, nextOf(record), { usage: usesOf(7), usedAt: NOW });
    assert.equal(await usedOf(other), 3);
  }),
  it("a record has the counters that it is written with, and none without", async (store, other) => {
    const usages = [
      usesOf(null),
      usesOf(0),
      usesOf(5, { refilledAt: 0, lastRefillAt: 0 }),
      usesOf(Number.MAX_SAFE_INTEGER, { refilledAt: NOW + 1, lastRefillAt: NOW }),
    ];
    await commit(store, {
      puts: [
        ...usages.map((usage, number) => ({
          record: aRecord("key", number),
          counters: { usage },
        })),
        { record: aRecord("key", 9) },
      ],
    });
    for (const [number, usage] of usages.entries())
      await assertHolds(other, aRecord("key", number), { usage });
    await assertHolds(other, aRecord("key", 9), { usage: null });
  }),
  it("new counters replace those that a record has, windows included", async (store, other) => {
    const record = aRecord("key");
    await putWithUses(store, record, usesOf(7, { lastRefillAt: NOW }));
    await takeUnits(store, at("key"), 3, "default", "other");
    await putWithUses(store, record, usesOf(2));
    await assertHolds(other, record, { usage: usesOf(2) });
    assert.equal(await usedOf(other), 0);
    assert.equal(await usedOf(other, { window: "other" }), 0);
  }),
  it("a deleted record is gone, and one that was gone already can be deleted", async (store, other) => {
    const record = aRecord("key");
    await put(store, record, aRecord("key", 2));
    await commit(store, { deletes: [at("key", 1), at("key", 3), at("identity", 2)] });
    await commit(store, { deletes: [at("key", 1)] });
    await assertGone(other, record);
    await assertHolds(other, aRecord("key", 2));
  }),
  it("a record that is written after its deletion begins anew: no counters, windows or latest use", async (store, other) => {
    const record = aRecord("key");
    await putWithUses(store, record, usesOf(7));
    await takeUnits(store, at("key"), 3, "default");
    await tellUse(store, record);
    await commit(store, { deletes: [record] });
    await put(store, record);
    await assertHolds(other, record, { usage: null, usedAt: null });
    await putWithUses(store, record, usesOf(1));
    assert.equal(await usedOf(other), 0);
  }),
  it("the revision is that of the latest change that brings one, higher or lower", async (store, other) => {
    for (const [number, revision] of NUMBERS.entries()) {
      await commit(store, { revision });
      await put(store, aRecord("api", number));
      assert.equal(await revisionOf(other), revision);
      await chargeAs("charged", other, aPlan({ revision, confirms: [], uses: null }));
    }
    await commit(other, { deletes: [at("api", 1)], revision: 4 });
    assert.equal(await revisionOf(store), 4);
  }),
  it("a record has the version that it was written with last, higher or lower", async (store, other) => {
    await putWithUses(store, aRecord("key", 1, { version: 6 }), usesOf(9));
    for (const version of NUMBERS) {
      const before = (await load(other, at("key"))).record.version;
      const record = aRecord("key", 1, { version, body: { version } });
      await commit(store, { expects: [{ ...at("key"), version: before }], puts: [{ record }] });
      assert.deepEqual((await load(other, at("key"))).record.version, version);
      const stale = await chargeAs("stale", other, confirming(before));
      assert.equal(stale.moved, 0);
      await chargeAs("charged", other, confirming(version));
    }
  }),
  it("what one connection has written, the other reads at once", async (store, other) => {
    let record = aRecord("key");
    await put(store, record);
    for (let round = 0; round < 10; round += 1) {
      const [writer, reader] = round % 2 === 0 ? [store, other] : [other, store];
      await assertHolds(writer, record);
      const next = nextOf(record, { round });
      await commit(writer, {
        expects: [{ ...at("key"), version: record.version }],
        puts: [{ record: next }],
        revision: round + 1,
      });
      record = next;
      await assertHolds(reader, record);
      assert.equal(await revisionOf(reader), round + 1);
    }
  }),
  it("a thousand records are written in one change", async (store, other) => {
    const records = Array.from({ length: 1_000 }, (_, number) => aRecord("key", number));
    await commit(store, {
      puts: records.map((record) => ({ record, counters: { usage: usesOf(3) } })),
    });
    const { found } = await other.read(WORKSPACE, records);
    assert.ok(found.every((loaded) => loaded?.usage?.remaining === 3));
    assert.equal(found.length, 1_000);
    await commit(other, { deletes: records });
    const after = await store.read(WORKSPACE, records);
    assert.ok(after.found.every((loaded) => loaded === null));
  }),
];
