import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aLimit,
  aPlan,
  aRequest,
  charge,
  chargeAs,
  repeatOf,
  usedOf,
} from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  atFirst,
  KEY,
  MINUTE,
  NOW,
  nextOf,
  put,
  putWithUses,
  usesOf,
} from "../../fixtures/records.js";

const plan = (fields: Parameters<typeof aPlan>[0] = {}) => aPlan({ limits: [aLimit()], ...fields });

export const replayedRequestContracts: readonly StoreContract[] = [
  it("a request that is repeated gets the same answer, and takes nothing again", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const request = aRequest();
    const first = await chargeAs("charged", store, plan(), { request });
    assert.equal(first.remaining, 4);
    await chargeAs("charged", store, plan());
    for (const connection of [store, other]) {
      const repeated = await charge(connection, plan(), { request, now: NOW + 1 });
      assert.deepEqual(repeated, repeatOf(first));
    }
    await assertHolds(other, KEY, { usage: usesOf(3) });
    assert.equal(await usedOf(other), 2);
  }),
  it("of N repeats at once one takes, and all get the same answer", async (store, other) => {
    await putWithUses(store, KEY, usesOf(50));
    const request = aRequest();
    const results = await race({ store, other }, 20, (each) => charge(each, plan(), { request }));
    const first = results.filter((result) => !("isRepeat" in result));
    assert.equal(first.length, 1);
    for (const result of results) assert.deepEqual(repeatOf(result), repeatOf(first[0] ?? result));
    await assertHolds(other, KEY, { usage: usesOf(49) });
    assert.equal(await usedOf(other), 1);
  }),
  it("a request id that was used for another question is a conflict, and takes nothing", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await chargeAs("charged", store, plan(), { request: aRequest() });
    const request = aRequest({ fingerprint: "question-2" });
    assert.deepEqual(await charge(other, plan(), { request }), { kind: "conflict" });
    await assertHolds(other, KEY, { usage: usesOf(4) });
    await chargeAs("charged", other, plan(), { request: aRequest() });
    await assertHolds(other, KEY, { usage: usesOf(4) });
  }),
  it("a refusal is remembered too, whatever there is to take by then", async (store, other) => {
    await putWithUses(store, KEY, usesOf(0));
    const limited = aRequest({ id: "request-2" });
    const full = plan({ limits: [aLimit({ cost: 11 })] });
    const exceeded = await chargeAs("usage-exceeded", store, plan(), { request: aRequest() });
    const refused = await chargeAs("rate-limited", store, full, { request: limited });
    await putWithUses(store, KEY, usesOf(5));
    assert.deepEqual(await charge(other, plan(), { request: aRequest() }), repeatOf(exceeded));
    assert.deepEqual(await charge(other, full, { request: limited }), repeatOf(refused));
    await assertHolds(other, KEY, { usage: usesOf(5) });
  }),
  it("a charge that took nothing is remembered", async (store, other) => {
    await putWithUses(store, KEY, usesOf(null));
    const free = aPlan({ cost: 0 });
    await chargeAs("charged", store, free, { request: aRequest() });
    const request = aRequest({ fingerprint: "question-2" });
    await chargeAs("conflict", other, free, { request });
  }),
  it("a request is remembered until its instant, and is a new one from that instant on", async (store, other) => {
    const until = NOW + MINUTE;
    for (const [number, offset, remaining] of [
      [1, -1, 4],
      [2, 0, 3],
      [3, 1, 3],
    ] as const) {
      await putWithUses(store, aRecord("key", number), usesOf(5));
      const confirms = atFirst(at("key", number));
      const request = aRequest({ rememberUntil: until });
      await chargeAs("charged", store, aPlan({ confirms }), { request });
      const later = {
        request: { ...request, rememberUntil: until + MINUTE },
        now: until + offset,
      };
      const again = await chargeAs("charged", other, aPlan({ confirms }), later);
      assert.equal(again.remaining, remaining);
    }
  }),
  it("a request is not remembered longer if the caller's clock is years behind the store's", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const [now, until] = [MINUTE, 2 * MINUTE];
    const request = aRequest({ rememberUntil: until });
    const first = await chargeAs("charged", store, aPlan(), { request, now });
    const repeated = await chargeAs("charged", other, aPlan(), { request, now: until - 1 });
    const again = await chargeAs("charged", other, aPlan(), { request, now: until });
    const left = [first, repeated, again].map(({ remaining }) => remaining);
    assert.deepEqual(left, [4, 4, 3]);
  }),
  it("a request that was forgotten is remembered anew", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await chargeAs("charged", store, plan(), { request: aRequest({ rememberUntil: NOW + 1 }) });
    const request = aRequest({ fingerprint: "question-2", rememberUntil: NOW + MINUTE });
    const second = await chargeAs("charged", other, plan(), { request, now: NOW + 1 });
    assert.deepEqual(await charge(store, plan(), { request, now: NOW + 2 }), repeatOf(second));
    await assertHolds(other, KEY, { usage: usesOf(3) });
  }),
  it("a request id belongs to the first record of its plan: with another it is another request", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await putWithUses(store, aRecord("key", 2), usesOf(9));
    await chargeAs("charged", store, plan(), { request: aRequest() });
    const confirms = atFirst(at("key", 2));
    const request = aRequest({ fingerprint: "question-2" });
    const { remaining } = await chargeAs("charged", other, plan({ confirms }), { request });
    assert.equal(remaining, 8);
  }),
  it("a repeat for a record that has changed since is stale, and not answered from memory", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    await chargeAs("charged", store, plan(), { request: aRequest() });
    await put(store, nextOf(KEY));
    for (const connection of [store, other])
      await chargeAs("stale", connection, plan(), { request: aRequest() });
  }),
  it("a plan that only looks gets the remembered result, and is not remembered itself", async (store, other) => {
    await putWithUses(store, KEY, usesOf(5));
    const request = aRequest();
    await chargeAs("charged", store, plan({ mode: "peek" }), { request });
    const first = await chargeAs("charged", store, plan(), {
      request: { ...request, fingerprint: "question-2" },
    });
    assert.equal(first.remaining, 4);
    await chargeAs("conflict", other, plan({ mode: "peek" }), { request });
  }),
  it("many requests are remembered apart, while others are forgotten", async (store, other) => {
    await putWithUses(store, KEY, usesOf(1_000));
    for (let number = 0; number < 60; number += 1) {
      const request = aRequest({ id: `expiring-${number}`, rememberUntil: NOW + number });
      await chargeAs("charged", store, aPlan(), { request, now: NOW + number });
      const kept = aRequest({ id: `kept-${number}`, rememberUntil: NOW + MINUTE });
      await chargeAs("charged", store, aPlan({ cost: 2 }), { request: kept, now: NOW + number });
    }
    for (let number = 0; number < 60; number += 1) {
      const kept = aRequest({ id: `kept-${number}` });
      const { remaining } = await chargeAs("charged", other, aPlan({ cost: 2 }), {
        request: kept,
        now: NOW + MINUTE - 1,
      });
      assert.equal(remaining, 1_000 - 3 * (number + 1));
    }
    await assertHolds(other, KEY, { usage: usesOf(1_000 - 180) });
  }),
  it("of two questions at once under one request id one takes, and the other is a conflict", async (store, other) => {
    await putWithUses(store, KEY, usesOf(50));
    const results = await race({ store, other }, 12, (each, number) => {
      const request = aRequest({ fingerprint: `question-${number % 2}` });
      return charge(each, plan(), { request });
    });
    const taken = results.filter(({ kind }) => kind === "charged");
    for (const result of taken) assert.deepEqual(repeatOf(result), repeatOf(taken[0] ?? result));
    assert.deepEqual(countByKind(results), { charged: 6, conflict: 6 });
    await assertHolds(other, KEY, { usage: usesOf(49) });
    assert.equal(await usedOf(other), 1);
  }),
];
