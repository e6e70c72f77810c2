import assert from "node:assert/strict";
import { type KeyStore, LatchkeyError, type StoreMethod } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { add, countOf, HOUR_AT, SUBJECT } from "../fixtures/counts.js";
import { anEnd, holdsOf, settle } from "../fixtures/holds.js";
import { idsOn, pageOf } from "../fixtures/pages.js";
import { aPlan, aRequest, charge, chargeAs, repeatOf } from "../fixtures/plans.js";
import {
  aChange,
  aRecord,
  assertHolds,
  at,
  commit,
  find,
  HASH,
  NOW,
  putWithUses,
  revisionOf,
  tellUse,
  usesOf,
  WORKSPACE,
} from "../fixtures/records.js";

const RANGE = { subject: SUBJECT, startAt: HOUR_AT, endAt: HOUR_AT + 1 };

type Method = Exclude<StoreMethod, "close" | "readClock" | "scanWindows">;

/** A call of every method: a new method of the port does not compile until it is listed here. */
const CALLS: { readonly [Name in Method]: (store: KeyStore) => Promise<unknown> } = {
  read: (store) => store.read(WORKSPACE, [at("key")]),
  page: (store) => pageOf(store),
  commit: (store) => store.commit(WORKSPACE, aChange({ puts: [{ record: aRecord("key", 2) }] })),
  charge: (store) => charge(store),
  settle: (store) => settle(store, anEnd()),
  holds: (store) => holdsOf(store),
  addStatistics: (store) => store.addStatistics(WORKSPACE, { counts: [], uses: [] }),
  readStatistics: (store) => store.readStatistics(WORKSPACE, RANGE),
  nextStatisticsDay: (store) => store.nextStatisticsDay(WORKSPACE, 0),
  pageStatistics: (store) =>
    store.pageStatistics(WORKSPACE, { kind: "key", dayAt: 0, from: "", limit: 1 }),
  deleteStatistics: (store) => store.deleteStatistics(WORKSPACE, 0, 1),
  scan: (store) => store.scan(null, null),
  forget: (store) => store.forget(WORKSPACE, null),
};

export const closeContracts: readonly StoreContract[] = [
  ...Object.entries(CALLS).map(([name, call]) =>
    it(`after close, ${name} is answered with STORE_UNAVAILABLE, which says that nothing was written`, async (store) => {
      await putWithUses(store, aRecord("key"));
      await store.close();
      await assert.rejects(call(store), (error: unknown) => {
        assert.ok(error instanceof LatchkeyError, `${error} is no LatchkeyError`);
        assert.deepEqual([error.code, error.outcome], ["STORE_UNAVAILABLE", "not-applied"]);
        return true;
      });
    }),
  ),
  it("a store can be closed twice, and at once", async (store) => {
    await putWithUses(store, aRecord("key"));
    await Promise.all([store.close(), store.close()]);
    await store.close();
  }),
];

/** What survives closing, for stores that can be opened again. */
export const reopeningContracts: readonly StoreContract[] = [
  it("what was written is there when the store is opened again", async (store, other, context) => {
    const key = aRecord("key", 1, { body: { name: "kept" } });
    await commit(store, {
      puts: [{ record: key, counters: { usage: usesOf(5) } }],
      claims: [{ ...HASH, id: key.id }],
      enters: [{ list: "keys", id: key.id }],
      revision: 1,
    });
    const request = aRequest();
    const first = await chargeAs("charged", store, aPlan(), { request });
    await add(store, countOf({ count: 3 }));
    await tellUse(store, key);
    await other.close();
    await store.close();
    const opened = (await context.reopen?.()) as KeyStore;
    await assertHolds(opened, key, { usage: usesOf(4), usedAt: NOW });
    assert.equal((await find(opened, HASH))?.record.id, key.id);
    assert.deepEqual([await idsOn(opened), await revisionOf(opened)], [[key.id], 1]);
    assert.deepEqual(await charge(opened, aPlan(), { request }), repeatOf(first));
    assert.deepEqual(await opened.readStatistics(WORKSPACE, RANGE), [
      { hourAt: HOUR_AT, code: "VALID", count: 3 },
    ]);
  }),
  it("one connection goes on when another is closed", async (store, other) => {
    await putWithUses(store, aRecord("key"), usesOf(5));
    await chargeAs("charged", other, aPlan());
    await other.close();
    await chargeAs("charged", store, aPlan());
    await assertHolds(store, aRecord("key"), { usage: usesOf(3) });
  }),
];
