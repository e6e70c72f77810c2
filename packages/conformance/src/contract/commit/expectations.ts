import assert from "node:assert/strict";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aRecord,
  assertGone,
  assertHolds,
  at,
  atFirst,
  aUsageChange,
  commit,
  HASH,
  load,
  nextOf,
  OTHER_WORKSPACE,
  put,
  putWithUses,
  revisionOf,
  tryCommit,
  usesOf,
} from "../../fixtures/records.js";

/** Handles that a caller may make up. Small numbers are row ids in many stores. */
const STRANGE_HANDLES: readonly unknown[] = [
  null,
  0,
  1,
  2,
  -1,
  1.5,
  Number.NaN,
  "1",
  "",
  at("key", 2).id,
  "__proto__",
  {},
  [],
  [1],
  { kind: "key", id: at("key", 2).id },
  10n,
];

const COUNTER_REFUSED = { ...at("key"), usage: aUsageChange({ kind: "decrement", by: 9 }) };

export const expectationContracts: readonly StoreContract[] = [
  it("a version is expected exactly: one below, one above or no record at all is stale", async (store, other) => {
    const record = aRecord("key", 1, { version: 5 });
    await put(store, record);
    const expecting = (version: number) => ({ expects: [{ ...at("key"), version }] });
    for (const version of [0, 4, 6])
      assert.deepEqual(await tryCommit(other, expecting(version)), { kind: "stale", index: 0 });
    await commit(other, expecting(5));
    await commit(store, { deletes: [record] });
    assert.deepEqual(await tryCommit(other, expecting(5)), { kind: "stale", index: 0 });
  }),
  it("version 0 is a version, and not the absence of a record", async (store, other) => {
    const expects = [{ ...at("key"), version: 0 }];
    assert.deepEqual(await tryCommit(other, { expects }), { kind: "stale", index: 0 });
    await put(store, aRecord("key", 1, { version: 0 }));
    await commit(other, { expects });
    const absent = { expects: [{ ...at("key"), version: null }] };
    assert.deepEqual(await tryCommit(other, absent), { kind: "stale", index: 0 });
  }),
  it("`exists` holds for a record at any version, and not without one", async (store, other) => {
    const expects = [{ ...at("key"), version: "exists" as const }];
    assert.deepEqual(await tryCommit(other, { expects }), { kind: "stale", index: 0 });
    for (const version of [0, 1, 7]) {
      await put(store, aRecord("key", 1, { version }));
      await commit(other, { expects });
    }
  }),
  it("null holds where there is no such record, and not where there is one", async (store, other) => {
    const expects = [{ ...at("key"), version: null }];
    await commit(other, { expects });
    await put(store, aRecord("key"));
    assert.deepEqual(await tryCommit(other, { expects }), { kind: "stale", index: 0 });
    await commit(store, { deletes: [at("key")] });
    await commit(other, { expects });
  }),
  it("stale names the first expectation that does not hold", async (store, other) => {
    await put(store, aRecord("key", 1), aRecord("key", 2), aRecord("key", 3));
    const met = { ...at("key", 1), version: 1 };
    const unmet = { ...at("key", 2), version: 9 };
    const absent = { ...at("identity", 3), version: "exists" as const };
    assert.deepEqual(await tryCommit(other, { expects: [met, absent, unmet] }), {
      kind: "stale",
      index: 1,
    });
    assert.deepEqual(await tryCommit(other, { expects: [met, met, unmet, absent] }), {
      kind: "stale",
      index: 2,
    });
  }),
  it("expectations are judged before claims, claims before counters", async (store, other) => {
    const [first, second] = [aRecord("key", 1), aRecord("key", 2)];
    await putWithUses(store, first, usesOf(1));
    await commit(store, { puts: [{ record: second }], claims: [{ ...HASH, id: second.id }] });
    const stale = { ...at("key"), version: 9 };
    const taken = { ...HASH, id: first.id };
    assert.deepEqual(
      await tryCommit(other, { expects: [stale], claims: [taken], counters: [COUNTER_REFUSED] }),
      { kind: "stale", index: 0 },
    );
    assert.deepEqual(await tryCommit(other, { claims: [taken], counters: [COUNTER_REFUSED] }), {
      kind: "taken",
      index: 0,
    });
    assert.deepEqual(await tryCommit(other, { counters: [COUNTER_REFUSED] }), {
      kind: "refused",
      index: 0,
      reason: { kind: "insufficient", remaining: 1 },
    });
  }),
  it("expectations are judged on what was there before the change, not on what it writes", async (store, other) => {
    const record = aRecord("key");
    await commit(store, {
      expects: [{ ...at("key"), version: null }],
      puts: [{ record }],
    });
    await commit(store, {
      expects: atFirst(record),
      puts: [{ record: nextOf(record) }],
    });
    await commit(store, { expects: [{ ...at("key"), version: 2 }], deletes: [record] });
    await assertGone(other, record);
  }),
  it("a change is judged by kind and id, whatever handle comes with it", async (store, other) => {
    await put(store, aRecord("key", 1, { version: 1 }), aRecord("key", 2, { version: 2 }));
    await put(store, aRecord("key", 3, { version: 3 }));
    const { handle: ofThird } = await load(store, at("key", 3));
    await commit(store, { deletes: [at("key", 3)] });
    const { handle: ofSecond } = await load(store, at("key", 2));
    await commit(store, { puts: [{ record: aRecord("key", 9) }] }, OTHER_WORKSPACE);
    const { handle: ofAnother } = await load(store, at("key", 9), OTHER_WORKSPACE);
    for (const connection of [store, other]) {
      for (const handle of [...STRANGE_HANDLES, ofSecond, ofThird, ofAnother]) {
        const expecting = (number: number, version: number | "exists" | null) =>
          tryCommit(connection, { expects: [{ ...at("key", number), version, handle }] });
        assert.equal((await expecting(1, 1)).kind, "committed");
        assert.equal((await expecting(1, 2)).kind, "stale");
        assert.equal((await expecting(2, 2)).kind, "committed");
        for (const absent of [3, 9]) {
          assert.equal((await expecting(absent, "exists")).kind, "stale");
          assert.equal((await expecting(absent, null)).kind, "committed");
        }
      }
    }
  }),
  it("a handle of a record that was deleted and written again finds the new one", async (store, other) => {
    const record = aRecord("key", 1, { version: 4 });
    await put(store, record);
    const { handle } = await load(other, record);
    await commit(store, { deletes: [record] });
    await put(store, aRecord("key", 2), aRecord("key", 1, { version: 5 }));
    const expecting = (version: number) =>
      tryCommit(other, { expects: [{ ...at("key"), version, handle }] });
    assert.equal((await expecting(4)).kind, "stale");
    assert.equal((await expecting(5)).kind, "committed");
  }),
  it("a change of nothing is committed, and moves nothing", async (store, other) => {
    const record = aRecord("key");
    await put(store, record);
    assert.deepEqual(await tryCommit(other, {}), { kind: "committed", usages: [] });
    await assertHolds(store, record);
    assert.equal(await revisionOf(store), 0);
  }),
  it("a change may rest on a thousand expectations", async (store, other) => {
    const records = Array.from({ length: 1_000 }, (_, number) => aRecord("key", number));
    await put(store, ...records);
    const expects = atFirst(...records);
    await commit(other, { expects });
    await put(store, aRecord("key", 777, { version: 2 }));
    assert.deepEqual(await tryCommit(other, { expects }), { kind: "stale", index: 777 });
  }),
];
