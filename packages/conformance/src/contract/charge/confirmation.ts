import assert from "node:assert/strict";
import type { Expectation } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aLimit,
  aPlan,
  aRequest,
  charge,
  chargeAs,
  confirmed,
  usedOf,
} from "../../fixtures/plans.js";
import { race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  commit,
  find,
  load,
  nextOf,
  put,
  putWithUses,
  usesOf,
} from "../../fixtures/records.js";

const KEY = aRecord("key", 1, { version: 4 });
const IDENTITY = aRecord("identity", 1, { version: 6 });

const confirms = (
  version: Expectation["version"] = 4,
  identityVersion: Expectation["version"] = 6,
): Expectation[] => [
  { ...at("key"), version },
  { ...at("identity"), version: identityVersion },
];

export const confirmationContracts: readonly StoreContract[] = [
  it("a plan whose revision has moved is stale, and says so before anything else", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await commit(store, { revision: 1 });
    for (const revision of [0, 2]) {
      const plan = aPlan({ revision, confirms: confirms(9, 9) });
      assert.deepEqual(await charge(other, plan), { kind: "stale", moved: "revision" });
    }
    await chargeAs(
      "charged",
      other,
      aPlan({ revision: 1, confirms: [{ ...at("key"), version: 4 }] }),
    );
  }),
  it("a plan without a revision is carried out at any", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const plan = aPlan({ confirms: [{ ...at("key"), version: 4 }] });
    await chargeAs("charged", other, plan);
    await commit(store, { revision: 1 });
    await chargeAs("charged", other, plan);
  }),
  it("a plan that confirms a version that has moved is stale, and says the first place that has", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await putWithUses(store, IDENTITY, usesOf(5));
    const moved = async (...versions: Parameters<typeof confirms>) =>
      (await chargeAs("stale", other, aPlan({ confirms: confirms(...versions) }))).moved;
    assert.equal(await moved(3, 6), 0);
    assert.equal(await moved(5, 6), 0);
    assert.equal(await moved(4, 5), 1);
    assert.equal(await moved(4, 7), 1);
    assert.equal(await moved(3, 5), 0);
    assert.equal(await moved(null, 6), 0);
    assert.equal(await moved(4, null), 1);
    assert.equal(await moved("exists", 7), 1);
    await chargeAs("charged", other, aPlan({ confirms: confirms("exists", "exists") }));
    await chargeAs("charged", other, aPlan({ confirms: confirms() }));
    await assertHolds(store, KEY, { usage: usesOf(3) });
  }),
  it("a record that is gone is stale, for an exact version and for `exists`", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await putWithUses(store, IDENTITY, usesOf(5));
    await commit(store, { deletes: [IDENTITY] });
    for (const version of [6, "exists"] as const) {
      const plan = aPlan({ confirms: confirms(4, version) });
      assert.deepEqual(await charge(other, plan), { kind: "stale", moved: 1 });
    }
    await chargeAs("charged", other, aPlan({ confirms: confirms(4, null) }));
  }),
  it("a record that has appeared since is stale for a plan that confirms its absence", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const plan = aPlan({ confirms: confirms(4, null) });
    await chargeAs("charged", store, plan);
    await chargeAs("charged", other, plan);
    await put(store, IDENTITY);
    for (const connection of [store, other])
      assert.deepEqual(await charge(connection, plan), { kind: "stale", moved: 1 });
  }),
  it("a stale plan moves nothing: no uses, no window, and no request is remembered", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const limits = [aLimit(), aLimit({ owner: null, window: "namespace" })];
    const request = aRequest();
    await chargeAs("stale", other, aPlan({ confirms: confirms(3), limits }), { request });
    await chargeAs("stale", other, aPlan({ revision: 7, limits }), { request });
    await assertHolds(store, KEY, { usage: usesOf(5) });
    assert.equal(await usedOf(store), 0);
    assert.equal(await usedOf(store, { owner: null, window: "namespace" }), 0);
    const plan = aPlan({ confirms: [{ ...at("key"), version: 4 }] });
    const again = { ...request, fingerprint: "another question" };
    await chargeAs("charged", other, plan, { request: again });
  }),
  it("once a change has resolved, no plan made before it is carried out, on any connection", async (store, other) => {
    let record = aRecord("key");
    await putWithUses(store, record, usesOf(100));
    for (let round = 0; round < 6; round += 1) {
      const [one, two] = round % 2 === 0 ? [store, other] : [other, store];
      const plan = aPlan({ confirms: [confirmed(await load(one, record))] });
      await chargeAs("charged", one, plan);
      await chargeAs("charged", two, plan);
      record = nextOf(record);
      await put(two, record);
      for (const connection of [one, two])
        assert.deepEqual(await charge(connection, plan), { kind: "stale", moved: 0 });
    }
    await assertHolds(other, record, { usage: usesOf(88) });
  }),
  it("once a record was deleted, no plan made before it is carried out, on any connection", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const plan = aPlan({ confirms: [confirmed(await load(store, KEY))] });
    await chargeAs("charged", store, plan);
    await chargeAs("charged", other, plan);
    await commit(other, { deletes: [KEY] });
    for (const connection of [store, other])
      assert.deepEqual(await charge(connection, plan), { kind: "stale", moved: 0 });
    assert.equal(await find(store, KEY), null);
  }),
  it("a plan of a record that was deleted and written again takes from the new one's counters", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const plan = aPlan({ confirms: [confirmed(await load(store, KEY))], limits: [aLimit()] });
    for (const connection of [store, other]) await chargeAs("charged", connection, plan);
    await commit(store, { deletes: [KEY] });
    await putWithUses(store, aRecord("key", 2), usesOf(5));
    await putWithUses(store, KEY, usesOf(50));
    for (const connection of [store, other]) await chargeAs("charged", connection, plan);
    await assertHolds(store, KEY, { usage: usesOf(48) });
    await assertHolds(store, aRecord("key", 2), { usage: usesOf(5) });
    assert.equal(await usedOf(other), 2);
  }),
  it("a plan of a record that has new counters takes from these", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await putWithUses(store, aRecord("key", 2), usesOf(70));
    const plan = aPlan({ confirms: [confirmed(await load(store, KEY))], limits: [aLimit()] });
    for (const connection of [store, other]) await chargeAs("charged", connection, plan);
    await putWithUses(store, KEY, usesOf(50));
    for (const connection of [store, other]) await chargeAs("charged", connection, plan);
    await assertHolds(store, KEY, { usage: usesOf(48) });
    await commit(store, { puts: [{ record: KEY, counters: { sharedWith: at("key", 2).id } }] });
    for (const connection of [store, other]) await chargeAs("charged", connection, plan);
    await assertHolds(store, aRecord("key", 2), { usage: usesOf(68) });
    assert.equal(await usedOf(other, { owner: at("key", 2) }), 2);
  }),
  it("a charge confirms by kind and id, whatever handle comes with it", async (store, other) => {
    await putWithUses(store, aRecord("key", 1), usesOf(100));
    await putWithUses(store, aRecord("key", 2, { version: 2 }), usesOf(5));
    await putWithUses(store, aRecord("key", 3), usesOf(5));
    const { handle: ofThird } = await load(store, at("key", 3));
    await commit(store, { deletes: [at("key", 3)] });
    const { handle: ofSecond } = await load(store, at("key", 2));
    const handles = [ofSecond, ofThird, null, 0, 1, 2, 3, -1, 0.5, "1", {}, [], at("key", 2)];
    for (const [index, handle] of handles.entries()) {
      const planOf = (number: number, version: number | null) =>
        aPlan({ uses: version && 0, confirms: [{ ...at("key", number), version, handle }] });
      const connection = index % 2 === 0 ? store : other;
      await chargeAs("charged", connection, planOf(1, 1));
      await chargeAs("stale", connection, planOf(1, 2));
      await chargeAs("stale", connection, planOf(3, 1));
      await chargeAs("charged", connection, planOf(3, null));
    }
    await assertHolds(store, aRecord("key", 1), { usage: usesOf(100 - handles.length) });
    await assertHolds(store, aRecord("key", 2, { version: 2 }), { usage: usesOf(5) });
  }),
  it("of charges beside a revocation none that started after it goes through", async (store, other) => {
    const plan = () => aPlan({ confirms: [{ ...at("key"), version: 4 }] });
    await putWithUses(store, KEY, usesOf(1_000));
    let isRevoked = false;
    let late = 0;
    await race({ store, other }, 30, async (each, number) => {
      if (number === 5) {
        await put(each, nextOf(KEY));
        isRevoked = true;
        return;
      }
      for (let round = 0; round < 4; round += 1) {
        const startedAfter = isRevoked;
        const { kind } = await charge(each, plan());
        if (startedAfter && kind !== "stale") late += 1;
      }
    });
    assert.equal(late, 0);
    await chargeAs("stale", other, plan());
  }),
];
