import assert from "node:assert/strict";
import type { KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { countOf, HOUR_AT, SUBJECT } from "../fixtures/counts.js";
import { aReservation, holdsOf, reserve } from "../fixtures/holds.js";
import { entriesOf, idsOn, pageOf, scanAll } from "../fixtures/pages.js";
import { aPlan, aRequest, chargeAs, confirmed, takeUnits, usedOf } from "../fixtures/plans.js";
import {
  aRecord,
  at,
  commit,
  find,
  HASH,
  IDENTITY,
  KEY,
  load,
  NOW,
  OTHER_WORKSPACE,
  put,
  putWithUses,
  revisionOf,
  tellUse,
  tryCommit,
  usesOf,
  WORKSPACE,
} from "../fixtures/records.js";

const REQUEST = aRequest();

/** One of everything that a store keeps for a workspace. */
async function fill(store: KeyStore, workspaceId: string): Promise<void> {
  await commit(
    store,
    {
      puts: [
        { record: { ...KEY, link: IDENTITY.id }, counters: { usage: usesOf(9) } },
        { record: IDENTITY, counters: { usage: usesOf(9) } },
        { record: aRecord("workspace") },
        { record: { ...aRecord("auditEntry"), version: 0 } },
      ],
      claims: [{ ...HASH, id: KEY.id }],
      enters: [...entriesOf([KEY.id]), { list: "auditEntry", id: aRecord("auditEntry").id }],
      revision: 7,
    },
    workspaceId,
  );
  await chargeAs("charged", store, aPlan({ workspaceId }), { request: REQUEST });
  const counts = [countOf({ count: 3 })];
  await store.addStatistics(workspaceId, { counts, uses: [{ ...at("key"), usedAt: NOW }] });
}

/** Runs steps until nothing is left. */
async function forgetAll(store: KeyStore, workspaceId: string): Promise<number> {
  let steps = 0;
  for (let after: string | null = null; steps === 0 || after !== null; steps += 1)
    after = await store.forget(workspaceId, after);
  return steps;
}

const sumsOf = (store: KeyStore, workspaceId: string) =>
  store.readStatistics(workspaceId, { subject: SUBJECT, startAt: HOUR_AT, endAt: HOUR_AT + 1 });

/** The promises of `forget`. */
export const forgetContracts: readonly StoreContract[] = [
  it("nothing is left of a workspace that was forgotten, and all of another one", async (store, other) => {
    for (const workspaceId of [WORKSPACE, OTHER_WORKSPACE]) await fill(store, workspaceId);
    await takeUnits(store, null, 1, "window");
    await reserve(store, 1, aReservation());
    await forgetAll(other, WORKSPACE);
    assert.deepEqual(await scanAll(store, null), [OTHER_WORKSPACE]);
    for (const want of [at("key"), at("identity"), at("workspace"), at("auditEntry"), HASH])
      assert.equal(await find(store, want), null);
    const { found, size, revision } = await pageOf(store, {});
    assert.deepEqual([found, size, revision], [[], 0, 0]);
    assert.deepEqual(await sumsOf(store, WORKSPACE), []);
    assert.deepEqual((await store.scan(WORKSPACE, null)).names, []);
    assert.equal(await usedOf(store, { owner: null, window: "window" }), 0);
    assert.deepEqual(await holdsOf(store), []);
    const there = await load(store, KEY, OTHER_WORKSPACE);
    assert.deepEqual([there.usage?.remaining, there.usedAt], [8, NOW]);
    assert.notEqual(await find(store, HASH, OTHER_WORKSPACE), null);
    assert.deepEqual(await idsOn(store, {}, OTHER_WORKSPACE), [KEY.id]);
    assert.equal(await revisionOf(store, OTHER_WORKSPACE), 7);
    assert.equal((await sumsOf(store, OTHER_WORKSPACE)).length, 1);
  }),
  it("a workspace that was forgotten begins anew, even for callers that knew it", async (store, other) => {
    await fill(store, WORKSPACE);
    await forgetAll(other, WORKSPACE);
    await fill(store, WORKSPACE);
    const { usage, record } = await load(other, KEY);
    assert.deepEqual([usage?.remaining, record.version], [8, KEY.version]);
    // The first number of a log, and a request that is no longer known.
    assert.equal((await load(other, aRecord("auditEntry"))).record.version, 2);
    assert.deepEqual(await idsOn(other), [KEY.id]);
    assert.equal((await sumsOf(other, WORKSPACE))[0]?.count, 3);
  }),
  it("a use of a key that is counted late brings back no workspace that was forgotten", async (store, other) => {
    await fill(store, WORKSPACE);
    await forgetAll(other, WORKSPACE);
    await tellUse(store, KEY);
    assert.deepEqual(await scanAll(other, null), []);
    assert.equal(await revisionOf(other), 0);
  }),
  it("calls that know a workspace that was forgotten are refused, and bring nothing of it back", async (store, other) => {
    await putWithUses(store, KEY);
    const loaded = await load(store, KEY);
    await forgetAll(other, WORKSPACE);
    const expects = [confirmed(loaded)];
    const puts = [{ record: aRecord("identity") }];
    assert.equal((await tryCommit(store, { expects, puts, revision: 9 })).kind, "stale");
    await chargeAs("stale", store, aPlan({ confirms: expects, uses: 0 }));
    assert.deepEqual(await scanAll(other, null), []);
  }),
  it("a plan that was charged before is refused, also if the id is used again", async (store, other) => {
    await putWithUses(store, KEY);
    const plan = aPlan({ confirms: [confirmed(await load(store, KEY))] });
    await chargeAs("charged", store, plan);
    await forgetAll(other, WORKSPACE);
    await chargeAs("stale", store, plan);
    await put(other, aRecord("identity"));
    await chargeAs("stale", store, plan);
    assert.equal(await find(store, at("key")), null);
  }),
  it("its own records go in the last step, whatever else there is", async (store, other) => {
    await put(store, aRecord("workspace"));
    for (let from = 0; from < 1_500; from += 500)
      await commit(store, {
        puts: Array.from({ length: 500 }, (_, number) => ({
          record: aRecord("role", from + number),
        })),
      });
    for (let after: string | null = null; ; ) {
      const next: string | null = await store.forget(WORKSPACE, after);
      const own = await find(other, at("workspace"));
      assert.equal(own === null, next === null);
      after = next;
      if (next === null) break;
    }
    assert.equal(await find(other, at("role", 1_499)), null);
  }),
  it("forgetting a workspace can break off, and then goes on from the beginning", async (store, other) => {
    await putWithUses(store, KEY);
    await store.forget(WORKSPACE, null);
    await forgetAll(other, WORKSPACE);
    await forgetAll(other, WORKSPACE);
    assert.deepEqual(await scanAll(store, null), []);
  }),
];
