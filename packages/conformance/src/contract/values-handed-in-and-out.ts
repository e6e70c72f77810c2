import assert from "node:assert/strict";
import type { JsonValue } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { entriesOf, idsOn, pageOf } from "../fixtures/pages.js";
import { aLimit, aPlan, aRequest, charge, chargeAs, repeatOf } from "../fixtures/plans.js";
import {
  aChange,
  aRecord,
  assertHolds,
  at,
  commit,
  comparable,
  find,
  HASH,
  idOf,
  KEY,
  load,
  nextOf,
  putWithUses,
  tellUse,
  tryCommit,
  usesOf,
  WORKSPACE,
} from "../fixtures/records.js";

/** Writes into everything that can be written to, and everything in it. */
function scribble(value: unknown, seen = new Set<unknown>()): void {
  if (typeof value !== "object" || value === null || seen.has(value)) return;
  seen.add(value);
  for (const [name, member] of Object.entries(value)) {
    // The contents of a handle are the store's own, and no caller looks into it.
    if (name === "handle") continue;
    scribble(member, seen);
    Reflect.set(value, name, "scribbled");
  }
  Reflect.set(value, "scribbled", true);
}

export const handedInAndOutContracts: readonly StoreContract[] = [
  it("what was read stays as it was read, whatever is written afterwards", async (store) => {
    const identity = aRecord("identity");
    const key = aRecord("key", 1, { link: identity.id });
    await putWithUses(store, identity, usesOf(9));
    await commit(store, {
      puts: [{ record: key, counters: { usage: usesOf(5) } }],
      enters: entriesOf([key.id]),
    });
    const read = await load(store, key);
    const page = await pageOf(store);
    const before = JSON.stringify([comparable(read), page.found.map(comparable), page.size]);
    await chargeAs("charged", store, aPlan());
    await tellUse(store, KEY);
    await commit(store, {
      puts: [{ record: nextOf(key, "new") }, { record: nextOf(identity, "new") }],
      leaves: entriesOf([key.id]),
    });
    await commit(store, { deletes: [key, identity] });
    assert.equal(JSON.stringify([comparable(read), page.found.map(comparable), page.size]), before);
  }),
  it("changing a value that was handed out does not change what the store holds", async (store, other) => {
    const identity = aRecord("identity", 1, { body: { list: [{ name: "a" }] } });
    const key = aRecord("key", 1, { link: identity.id, body: { nested: { list: [1, [2]] } } });
    const counters = { usage: usesOf(5) };
    await commit(store, {
      puts: [identity, key].map((record) => ({ record, counters })),
      enters: entriesOf([key.id]),
    });
    const expected = comparable(await load(other, key));
    const expectedText = JSON.stringify(expected);
    scribble(await store.read(WORKSPACE, [at("key"), at("identity")]));
    scribble(await pageOf(store));
    const plan = aPlan({ mode: "peek", limits: [aLimit()] });
    scribble(await charge(store, plan));
    scribble(await tryCommit(store, { counters: [{ ...at("key") }] }));
    for (const connection of [store, other]) {
      assert.equal(JSON.stringify(comparable(await load(connection, key))), expectedText);
      const { found } = await pageOf(connection);
      assert.equal(JSON.stringify(found.map(comparable)), JSON.stringify([expected]));
    }
  }),
  it("changing a remembered result does not change what a repeat gets", async (store, other) => {
    await putWithUses(store, aRecord("key"), usesOf(5));
    const plan = () => aPlan({ limits: [aLimit()] });
    const request = aRequest();
    const first = await chargeAs("charged", store, plan(), { request });
    const expected = JSON.stringify(repeatOf(first));
    scribble(first);
    const repeated = await chargeAs("charged", store, plan(), { request });
    assert.equal(JSON.stringify(repeated), expected);
    scribble(repeated);
    assert.equal(JSON.stringify(await charge(other, plan(), { request })), expected);
  }),
  it("changing a value that was handed in does not change what the store holds", async (store, other) => {
    const key = aRecord("key", 1, { body: { name: "as written" } });
    const record = { ...key };
    const usage = { ...usesOf(5) };
    const change = aChange({
      puts: [{ record, counters: { usage } }],
      enters: entriesOf([key.id]),
      claims: [{ ...HASH, id: key.id }],
    });
    assert.equal((await store.commit(WORKSPACE, change)).kind, "committed");
    scribble(change);
    scribble(usage);
    await assertHolds(store, key, { usage: usesOf(5) });
    await assertHolds(other, key, { usage: usesOf(5) });
    assert.deepEqual(await idsOn(other), [idOf("key", 1)]);
    assert.ok(await find(other, HASH));
  }),
  it("a body that was not frozen is the store's own from the commit on", async (store, other) => {
    const body: JsonValue = { list: [{ name: "as written" }] };
    const record = { ...at("key"), version: 1, link: null, body };
    await commit(store, { puts: [{ record }] });
    scribble(body);
    const expected = { ...record, body: { list: [{ name: "as written" }] } };
    await assertHolds(store, expected);
    await assertHolds(other, expected);
  }),
  it("values that are handed in may be frozen: a store writes only to the memo of a plan", async (store, other) => {
    const key = aRecord("key");
    await putWithUses(store, key, usesOf(5));
    const change = aChange({
      expects: [Object.freeze({ ...at("key"), version: 1 })],
      counters: [Object.freeze({ ...at("key"), keepWindows: Object.freeze(["a"]) })],
      puts: [Object.freeze({ record: nextOf(key) })],
    });
    for (const list of Object.values(change)) Object.freeze(list);
    assert.equal((await store.commit(WORKSPACE, Object.freeze(change))).kind, "committed");
    const want = Object.freeze({ ...at("key") });
    assert.equal((await other.read(WORKSPACE, Object.freeze([want]))).found.length, 1);
    const confirms = Object.freeze([Object.freeze({ ...at("key"), version: 2 })]);
    const limits = Object.freeze([Object.freeze(aLimit())]);
    await chargeAs("charged", other, aPlan({ confirms, limits }));
  }),
];
