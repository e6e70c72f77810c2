import assert from "node:assert/strict";
import type { ChargeCounts, KeyStore, StatisticsSubject, SumCode } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { HOUR, HOUR_AT } from "../../fixtures/counts.js";
import { anEnd, aReservation, reserve } from "../../fixtures/holds.js";
import { aLimit, aPlan, aPlanOfLimits, aRequest, charge, chargeAs } from "../../fixtures/plans.js";
import { race } from "../../fixtures/race.js";
import { at, KEY, NOW, putWithUses, usesOf, WORKSPACE } from "../../fixtures/records.js";

const SUBJECTS: readonly StatisticsSubject[] = [
  { kind: "key", id: at("key").id },
  { kind: "api", id: at("api").id },
  { kind: "identity", id: at("identity").id },
];
const COUNTS: ChargeCounts = {
  subjects: SUBJECTS,
  sums: {
    charged: { VALID: 1, EXTRA_USES: 2 },
    repeat: { VALID: 1, FREE: 1 },
    "rate-limited": { RATE_LIMITED: 1 },
    "usage-exceeded": { USAGE_EXCEEDED: 1 },
  },
};
const counted = aPlan({ cost: 3, counts: COUNTS });

type Sums = Partial<Record<SumCode, number>>;

/** Asserts that each subject has these sums, and no others. */
async function assertSums(store: KeyStore, sums: Sums, hourAt = HOUR_AT) {
  for (const subject of SUBJECTS) {
    const range = { subject, startAt: 0, endAt: NOW + 1_000 * HOUR };
    const found = await store.readStatistics(WORKSPACE, range);
    const byCode = Object.fromEntries(found.map(({ code, count }) => [code, count]));
    assert.deepEqual(byCode, sums, subject.kind);
    for (const sum of found) assert.equal(sum.hourAt, hourAt);
  }
}

/** For stores that count in the step: other stores get no plan that is counted. */
const whereCounted = ({ title, check }: StoreContract): StoreContract => ({
  title,
  check: async (context, share) => {
    assert.equal(context.store.countsInStep, context.other.countsInStep);
    if (context.store.countsInStep) await check(context, share);
  },
});

export const countedInTheStepContracts: readonly StoreContract[] = [
  it("a charge adds its result to the sums of each subject", async (store, other) => {
    await putWithUses(store, KEY, usesOf(4));
    await chargeAs("charged", store, counted);
    await assertSums(other, { VALID: 1, EXTRA_USES: 2 });
    await chargeAs("usage-exceeded", other, counted);
    await chargeAs("usage-exceeded", store, counted);
    await assertSums(store, { VALID: 1, EXTRA_USES: 2, USAGE_EXCEEDED: 2 });
    const full = aPlanOfLimits([aLimit({ cost: 11 })], { counts: COUNTS });
    await chargeAs("rate-limited", store, full);
    await assertSums(other, { VALID: 1, EXTRA_USES: 2, USAGE_EXCEEDED: 2, RATE_LIMITED: 1 });
  }),
  it("a charge that takes nothing is counted, and so is a look", async (store, other) => {
    await putWithUses(store, KEY, usesOf(null));
    await chargeAs("charged", store, aPlan({ cost: 0, uses: null, counts: COUNTS }));
    await chargeAs("charged", other, aPlan({ counts: COUNTS }));
    await chargeAs("charged", other, aPlan({ mode: "peek", counts: COUNTS }));
    await chargeAs("charged", store, aPlan({ mode: "peek", counts: COUNTS }));
    await assertSums(store, { VALID: 4, EXTRA_USES: 8 });
  }),
  it("a plan that does not say so is not counted", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    await Promise.all([chargeAs("charged", store, counted), chargeAs("charged", store)]);
    await chargeAs("charged", store);
    await assertSums(other, { VALID: 1, EXTRA_USES: 2 });
  }),
  it("the repeat of a request is counted as a repeat", async (store, other) => {
    await putWithUses(store, KEY, usesOf(7));
    const request = aRequest();
    await chargeAs("charged", store, counted, { request });
    for (const connection of [store, other])
      await chargeAs("charged", connection, counted, { request });
    await assertSums(other, { VALID: 3, EXTRA_USES: 2, FREE: 2 });
    const refused = aPlan({ cost: 50, counts: COUNTS });
    for (const connection of [store, other])
      await chargeAs("usage-exceeded", connection, refused, { request: aRequest({ id: "two" }) });
    await assertSums(other, { VALID: 3, EXTRA_USES: 2, FREE: 2, USAGE_EXCEEDED: 2 });
  }),
  it("a stale charge and a conflict are not counted", async (store, other) => {
    await putWithUses(store, KEY, usesOf(7));
    const confirms = [{ ...at("key"), version: 7 }];
    await chargeAs("stale", store, { ...counted, confirms });
    await chargeAs("stale", other, { ...counted, mode: "peek", revision: 9 });
    await chargeAs("charged", store, counted, { request: aRequest() });
    const other2 = aRequest({ fingerprint: "question-2" });
    await chargeAs("conflict", other, counted, { request: other2 });
    await assertSums(other, { VALID: 1, EXTRA_USES: 2 });
  }),
  it("a shadow without room is counted beside the verdict", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const limits = [aLimit({ cost: 11, shadow: true })];
    const request = aRequest();
    for (const connection of [store, other, store])
      await chargeAs("charged", connection, aPlan({ limits, counts: COUNTS }), { request });
    await chargeAs("charged", other, aPlan({ limits, counts: COUNTS }));
    await assertSums(other, { VALID: 4, EXTRA_USES: 4, FREE: 2, SHADOW_LIMITED: 2 });
  }),
  it("charges count in the hour of their moment", async (store, other) => {
    await putWithUses(store, KEY, usesOf(9));
    const later = HOUR_AT + 30 * HOUR;
    await chargeAs("charged", store, counted, { now: later + HOUR - 1 });
    await chargeAs("charged", other, counted, { now: later });
    await assertSums(other, { VALID: 2, EXTRA_USES: 4 }, later);
  }),
  it("of N at once each is counted once, whatever is charged", async (store, other) => {
    await putWithUses(store, KEY, usesOf(30));
    const results = await race({ store, other }, 30, (each) => charge(each, counted));
    const charged = results.filter(({ kind }) => kind === "charged").length;
    assert.equal(charged, 10);
    await assertSums(other, { VALID: 10, EXTRA_USES: 20, USAGE_EXCEEDED: 20 });
  }),
  it("the end of a hold adds the uses that it came to, once", async (store, other) => {
    await putWithUses(store, KEY, usesOf(20));
    const end = (connection: KeyStore, number: number, uses: number | null) =>
      connection.settle(WORKSPACE, anEnd(number, uses), {
        now: NOW,
        revision: null,
        counts: SUBJECTS,
      });
    for (const number of [1, 2, 3]) await reserve(store, number, aReservation({ cost: 5 }));
    await end(store, 1, null);
    await end(other, 1, null);
    await end(other, 2, 3);
    await end(store, 3, 0);
    assert.equal((await end(store, 3, 4)).kind, "conflict");
    assert.equal((await end(store, 9, 1)).kind, "unknown");
    await assertSums(other, { EXTRA_USES: 8 });
    await reserve(store, 4, aReservation({ cost: 5 }));
    assert.equal((await end(store, 4, 6)).kind, "over");
    await store.settle(WORKSPACE, anEnd(4), { now: NOW, revision: null });
    await assertSums(other, { EXTRA_USES: 8 });
  }),
].map(whereCounted);
