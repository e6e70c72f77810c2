import assert from "node:assert/strict";
import { type JsonValue, RECORD_KINDS } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { readWhile } from "../fixtures/race.js";
import {
  aRecord,
  assertGone,
  assertHolds,
  at,
  commit,
  comparable,
  find,
  HASH,
  load,
  NOW,
  nextOf,
  put,
  putWithUses,
  readAll,
  revisionOf,
  stateWith,
  tellUse,
  usesOf,
  WORKSPACE,
} from "../fixtures/records.js";

/** JSON values of every sort, as bodies. */
const BODIES: readonly JsonValue[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  Number.MAX_SAFE_INTEGER,
  Number.MIN_SAFE_INTEGER,
  "",
  "text",
  [],
  {},
  [[], [null], {}],
  { empty: "", "": "empty", nested: { list: [1, "two", false, null, { three: 3 }] } },
  { quotes: "\"'`", newlines: "\n\r\t", nul: "a\u0000b", unicode: "ключ 🔑 é e\u0301 \u2028" },
  { "a.b": 1, $c: 2, "d e": 3, constructor: 4, length: 5 },
  { empties: [[], {}, "", null, 0], instant: NOW },
];

export const readContracts: readonly StoreContract[] = [
  it("a record of every kind is read by its id as it was written", async (store, other) => {
    const records = RECORD_KINDS.map((kind) => aRecord(kind));
    await put(store, ...records);
    for (const record of records) await assertHolds(other, record);
  }),
  it("every JSON value is a body, and comes back as it was written", async (store, other) => {
    const records = BODIES.map((body, index) => aRecord("key", index, { body }));
    await put(store, ...records);
    const found = await readAll(other, records);
    assert.deepEqual(
      found.map(comparable),
      records.map((record) => stateWith(record)),
    );
  }),
  it("a body of a hundred thousand characters comes back whole", async (store, other) => {
    const record = aRecord("identity", 1, { body: { meta: "né\u{1F511}".repeat(25_000) } });
    await put(store, record);
    await assertHolds(other, record);
  }),
  it("a version is any whole number up to 2^53 − 1", async (store, other) => {
    for (const version of [0, 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      const record = aRecord("key", 1, { version });
      await put(store, record);
      await assertHolds(other, record);
    }
  }),
  it("a record is found by each name that it has claimed", async (store, other) => {
    const record = aRecord("key");
    const names = [
      { ...HASH, value: "one" },
      { ...HASH, value: "two" },
      { ...HASH, index: "other", value: "one" },
    ];
    await commit(store, {
      puts: [{ record }],
      claims: names.map((name) => ({ ...name, id: record.id })),
    });
    for (const name of names)
      assert.deepEqual(comparable(await find(other, name)), stateWith(record));
    await assertGone(other, { ...HASH, index: "other", value: "two" });
    await assertGone(other, { ...HASH, kind: "identity", value: "one" });
  }),
  it("records are answered in the order of the wants, one as often as it is wanted, null where there is none", async (store, other) => {
    const [first, second] = [aRecord("key", 1), aRecord("key", 2)];
    const claim = { ...HASH, value: "second" };
    await commit(store, {
      puts: [{ record: first }, { record: second }],
      claims: [{ ...claim, id: second.id }],
    });
    const found = await readAll(other, [
      second,
      at("key", 3),
      first,
      claim,
      at("identity", 1),
      second,
      { ...claim, value: "third" },
    ]);
    assert.deepEqual(
      found.map((loaded) => loaded?.record.id ?? null),
      [second.id, null, first.id, second.id, null, second.id, null],
    );
  }),
  it("a workspace that nothing was written to has nothing, at revision 0", async (store) => {
    const wants = [at("key"), HASH];
    const { revision, found } = await store.read(WORKSPACE, wants);
    assert.deepEqual({ revision, found }, { revision: 0, found: [null, null] });
  }),
  it("reading nothing answers the revision", async (store, other) => {
    await commit(store, { revision: 1 });
    const { revision, found } = await other.read(WORKSPACE, []);
    assert.deepEqual({ revision, found }, { revision: 1, found: [] });
  }),
  it("the identity that a link names is answered along, with its uses and its latest use", async (store, other) => {
    const identity = aRecord("identity");
    const key = aRecord("key", 1, { link: identity.id });
    await putWithUses(store, identity, usesOf(7));
    await put(store, key);
    await tellUse(store, identity);
    const linked = { record: identity, usage: usesOf(7), usedAt: NOW };
    await assertHolds(other, key, { linked });
  }),
  it("a link to an identity that does not exist answers null, until there is one", async (store, other) => {
    const identity = aRecord("identity");
    const key = aRecord("key", 1, { link: identity.id });
    await put(store, key);
    await put(store, aRecord("role", 1, { id: identity.id }));
    await assertHolds(other, key, { linked: null });
    await put(store, identity);
    await assertHolds(other, key, { linked: { record: identity, usage: null, usedAt: null } });
    await commit(store, { deletes: [identity] });
    await assertHolds(other, key, { linked: null });
  }),
  it("a record is one of its kind and id: the same id in another kind is another record", async (store, other) => {
    const records = RECORD_KINDS.map((kind, number) => ({
      ...aRecord(kind, 1, { body: number }),
      id: "same",
    }));
    await put(store, ...records);
    await commit(store, { deletes: [{ kind: "role", id: "same" }] });
    for (const record of records) {
      if (record.kind === "role") await assertGone(other, record);
      else await assertHolds(other, record);
    }
  }),
  it("twenty thousand records can be wanted at once", async (store, other) => {
    const records = Array.from({ length: 100 }, (_, number) => aRecord("key", number));
    await put(store, ...records);
    const wants = Array.from({ length: 20_000 }, (_, number) => at("key", number % 200));
    const found = await readAll(other, wants);
    assert.equal(found.length, 20_000);
    assert.ok(
      found.every((loaded, number) =>
        number % 200 < 100 ? loaded?.record.id === wants[number]?.id : loaded === null,
      ),
    );
  }),
  it("records that are read together are of one moment, and so is the revision", async (store, other) => {
    const records = [aRecord("key", 1), aRecord("identity", 2), aRecord("role", 3)];
    await put(store, ...records);
    await readWhile(
      { store, other },
      (each, round) =>
        commit(each, {
          puts: records.map((record) => ({ record: { ...record, version: round, body: round } })),
          revision: round,
        }),
      async (each) => {
        const { revision, found } = await each.read(WORKSPACE, records);
        const versions = found.map((loaded) => loaded?.record.version);
        assert.ok(
          versions.every((version) => version === Math.max(1, revision)),
          `versions ${versions} were read at revision ${revision}`,
        );
      },
    );
    assert.equal(await revisionOf(other), 10);
  }),
  it("a record, its counters and the identity it links to are read as one", async (store, other) => {
    const identity = aRecord("identity");
    const key = aRecord("key", 1, { link: identity.id });
    await putWithUses(store, identity, usesOf(1));
    await putWithUses(store, key, usesOf(1));
    await readWhile(
      { store, other },
      (each, round) =>
        commit(each, {
          puts: [key, identity].map((record) => ({
            record: { ...record, version: round },
            counters: { usage: usesOf(round) },
          })),
        }),
      async (each) => {
        const { record, usage, linked } = await load(each, key);
        assert.deepEqual(
          [usage?.remaining, linked?.record.version, linked?.usage?.remaining],
          [record.version, record.version, record.version],
        );
      },
    );
    await assertHolds(other, nextOf({ ...key, version: 9 }), {
      usage: usesOf(10),
      linked: { record: { ...identity, version: 10 }, usage: usesOf(10), usedAt: null },
    });
  }),
];
