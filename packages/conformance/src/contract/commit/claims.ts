import assert from "node:assert/strict";
import type { Claim, CommitResult, KeyStore, StoredRecord } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aRecord,
  assertGone,
  at,
  commit,
  find,
  HASH,
  idOf,
  put,
  tryCommit,
} from "../../fixtures/records.js";

const [FIRST, SECOND, THIRD] = [aRecord("key", 1), aRecord("key", 2), aRecord("key", 3)];

function named(value: string): Claim {
  return { ...HASH, value };
}

function claim(store: KeyStore, record: StoredRecord, name: Claim = HASH): Promise<CommitResult> {
  return tryCommit(store, { puts: [{ record }], claims: [{ ...name, id: record.id }] });
}

async function holderOf(store: KeyStore, name: Claim = HASH): Promise<string | null> {
  return (await find(store, name))?.record.id ?? null;
}

export const claimContracts: readonly StoreContract[] = [
  it("a name that another record has is taken, and stays that record's", async (store, other) => {
    assert.equal((await claim(store, FIRST)).kind, "committed");
    assert.deepEqual(await claim(other, SECOND), { kind: "taken", index: 0 });
    assert.equal(await holderOf(other), FIRST.id);
    await assertGone(other, SECOND);
  }),
  it("taken names the first of the claims whose name another record has", async (store, other) => {
    await claim(store, FIRST, named("b"));
    await claim(store, FIRST, named("c"));
    const claims = ["a", "b", "c"].map((value) => ({ ...named(value), id: SECOND.id }));
    assert.deepEqual(await tryCommit(other, { puts: [{ record: SECOND }], claims }), {
      kind: "taken",
      index: 1,
    });
    assert.equal(await holderOf(other, named("a")), null);
  }),
  it("a name that an earlier one of the claims has is taken", async (store) => {
    const claims = [
      { ...named("a"), id: FIRST.id },
      { ...named("b"), id: SECOND.id },
      { ...named("a"), id: SECOND.id },
    ];
    const puts = [{ record: FIRST }, { record: SECOND }];
    assert.deepEqual(await tryCommit(store, { puts, claims }), { kind: "taken", index: 2 });
    await assertGone(store, FIRST);
  }),
  it("a record may claim again the name that it has", async (store, other) => {
    await claim(store, FIRST);
    assert.equal((await claim(other, FIRST)).kind, "committed");
    assert.equal(await holderOf(store), FIRST.id);
  }),
  it("names are apart by kind and by index", async (store, other) => {
    const role = aRecord("role", 4);
    await claim(store, FIRST);
    assert.equal((await claim(other, SECOND, { ...HASH, index: "name" })).kind, "committed");
    assert.equal((await claim(other, role, { ...HASH, kind: "role" })).kind, "committed");
    assert.equal(await holderOf(other), FIRST.id);
    assert.equal(await holderOf(other, { ...HASH, index: "name" }), SECOND.id);
    assert.equal(await holderOf(other, { ...HASH, kind: "role" }), role.id);
  }),
  it("a name that was released is free again, and finds nothing until it is claimed", async (store, other) => {
    await claim(store, FIRST);
    await commit(other, { releases: [{ ...HASH, id: FIRST.id }] });
    assert.equal(await holderOf(store), null);
    assert.equal((await claim(store, SECOND)).kind, "committed");
    assert.equal(await holderOf(other), SECOND.id);
  }),
  it("a name that a change releases can be claimed in the same change", async (store, other) => {
    await claim(store, FIRST);
    await commit(store, {
      puts: [{ record: SECOND }],
      releases: [{ ...HASH, id: FIRST.id }],
      claims: [{ ...HASH, id: SECOND.id }],
    });
    assert.equal(await holderOf(other), SECOND.id);
  }),
  it("two records swap their names in one change", async (store, other) => {
    await claim(store, FIRST, named("a"));
    await claim(store, SECOND, named("b"));
    await commit(store, {
      releases: [
        { ...named("a"), id: FIRST.id },
        { ...named("b"), id: SECOND.id },
      ],
      claims: [
        { ...named("b"), id: FIRST.id },
        { ...named("a"), id: SECOND.id },
      ],
    });
    assert.equal(await holderOf(other, named("a")), SECOND.id);
    assert.equal(await holderOf(other, named("b")), FIRST.id);
  }),
  it("a record releases only names of its own", async (store, other) => {
    await claim(store, FIRST);
    await put(store, SECOND);
    await commit(other, { releases: [{ ...HASH, id: SECOND.id }] });
    assert.equal(await holderOf(other), FIRST.id);
    assert.deepEqual(
      await tryCommit(other, {
        puts: [{ record: THIRD }],
        releases: [{ ...HASH, id: SECOND.id }],
        claims: [{ ...HASH, id: THIRD.id }],
      }),
      { kind: "taken", index: 0 },
    );
    await commit(other, { releases: [{ ...named("nobody's"), id: SECOND.id }] });
  }),
  it("the name of a record that is gone finds nothing, and is free", async (store, other) => {
    await claim(store, FIRST);
    await commit(store, { deletes: [FIRST] });
    assert.equal(await holderOf(other), null);
    assert.equal((await claim(other, SECOND)).kind, "committed");
    assert.equal(await holderOf(store), SECOND.id);
  }),
  it("a record that is gone cannot release the name that another has since claimed", async (store, other) => {
    await claim(store, FIRST);
    await commit(store, { deletes: [FIRST] });
    await claim(store, SECOND);
    await commit(other, { releases: [{ ...HASH, id: FIRST.id }] });
    assert.equal(await holderOf(other), SECOND.id);
  }),
  it("a record and its name go in one change, and the name is free", async (store, other) => {
    await claim(store, FIRST);
    await commit(store, { deletes: [FIRST], releases: [{ ...HASH, id: FIRST.id }] });
    assert.equal((await claim(other, SECOND)).kind, "committed");
  }),
  it("a change that deletes a record without releasing its name cannot claim it for another", async (store, other) => {
    await claim(store, FIRST);
    const claims = [{ ...HASH, id: SECOND.id }];
    const change = { deletes: [FIRST], puts: [{ record: SECOND }], claims };
    assert.deepEqual(await tryCommit(other, change), { kind: "taken", index: 0 });
    assert.equal(await holderOf(store), FIRST.id);
  }),
  it("a name outlives every writing of its record", async (store, other) => {
    await claim(store, FIRST);
    await put(store, aRecord("key", 1, { version: 2, body: "new" }));
    assert.equal((await find(other, HASH))?.record.version, 2);
  }),
  it("names are compared character by character: case, spaces and accents count", async (store, other) => {
    const values = [
      "user",
      "User",
      "user ",
      " user",
      "",
      " ",
      "caf\u00e9",
      "cafe\u0301",
      "\ufb01",
      "fi",
      "user\u0000",
      "user\u0000a",
      "\u{1F511}",
      "1",
      "01",
      "1.0",
      "null",
      "%",
      "_ser",
      "*",
    ];
    await commit(store, {
      puts: values.map((_, number) => ({ record: aRecord("key", number) })),
      claims: values.map((value, number) => ({ ...named(value), id: idOf("key", number) })),
    });
    for (const [number, value] of values.entries())
      assert.equal(await holderOf(other, named(value)), idOf("key", number), `"${value}"`);
    for (const value of ["USER", "%ser", "cafe", "us%", "2"])
      assert.equal(await holderOf(other, named(value)), null, `"${value}"`);
  }),
  it("a thousand names are claimed in one change, and the last is taken when it is", async (store, other) => {
    const numbers = Array.from({ length: 1_000 }, (_, number) => number);
    const claims = numbers.map((number) => ({ ...named(`n${number}`), id: idOf("key", number) }));
    const puts = numbers.map((number) => ({ record: aRecord("key", number) }));
    await claim(store, aRecord("key", 1_001), named("n999"));
    assert.deepEqual(await tryCommit(other, { puts, claims }), { kind: "taken", index: 999 });
    await assertGone(other, at("key", 0));
    await commit(other, { puts, claims: claims.slice(0, 999) });
    assert.equal(await holderOf(store, named("n998")), idOf("key", 998));
  }),
];
