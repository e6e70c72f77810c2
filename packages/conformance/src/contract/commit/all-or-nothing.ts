import assert from "node:assert/strict";
import type { Change, KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import { idsOn, pageOf } from "../../fixtures/pages.js";
import { takeUnits, usedOf } from "../../fixtures/plans.js";
import { countByKind, race } from "../../fixtures/race.js";
import {
  aRecord,
  assertHolds,
  at,
  atFirst,
  aUsageChange,
  commit,
  comparable,
  find,
  HASH,
  idOf,
  nextOf,
  put,
  readAll,
  revisionOf,
  tryCommit,
  usesOf,
  WORKSPACE,
} from "../../fixtures/records.js";

const [KEPT, DELETED, NEW] = [aRecord("key", 1), aRecord("key", 2), aRecord("key", 3)];

/** Two records with names, in lists, with uses and windows: something of everything that a change may move. */
async function prepare(store: KeyStore): Promise<void> {
  await commit(store, {
    puts: [KEPT, DELETED].map((record) => ({ record, counters: { usage: usesOf(5) } })),
    claims: [
      { ...HASH, value: "kept", id: KEPT.id },
      { ...HASH, value: "deleted", id: DELETED.id },
    ],
    enters: [
      { list: "keys", id: KEPT.id },
      { list: "keys", of: "small", id: DELETED.id },
    ],
    revision: 1,
  });
  await takeUnits(store, KEPT, 3, "default");
  await takeUnits(store, null, 4, "default");
}

/** Moves all of it. */
const EVERYTHING: Partial<Change> = {
  expects: atFirst(KEPT),
  puts: [
    { record: nextOf(KEPT, "changed") },
    { record: NEW, counters: { sharedWith: KEPT.id } },
    { record: aRecord("api", 4), counters: { usage: usesOf(1) } },
  ],
  deletes: [DELETED],
  releases: [{ ...HASH, value: "kept", id: KEPT.id }],
  claims: [{ ...HASH, value: "new", id: NEW.id }],
  enters: [
    { list: "keys", id: NEW.id },
    { list: "keys", of: "small", id: NEW.id },
    { list: "others", id: NEW.id },
  ],
  leaves: [
    { list: "keys", id: KEPT.id },
    { list: "keys", of: "small", id: DELETED.id },
  ],
  counters: [
    { ...at("key", 1), usage: aUsageChange({ kind: "increment", by: 1 }), keepWindows: [] },
  ],
  dropWindows: ["default"],
  revision: 2,
};

/** Everything of it that can be seen. */
async function observe(store: KeyStore) {
  const wants = [
    ...[1, 2, 3].map((number) => at("key", number)),
    at("api", 4),
    ...["kept", "deleted", "new"].map((value) => ({ ...HASH, value })),
  ];
  return {
    records: (await readAll(store, wants)).map(comparable),
    lists: [await idsOn(store), await idsOn(store, { of: "small" })],
    others: await idsOn(store, { list: "others" }),
    size: (await pageOf(store)).size,
    windows: [await usedOf(store), await usedOf(store, { owner: null })],
    revision: await revisionOf(store),
  };
}

/** One change for each kind of refusal, each with everything else that could be written. */
const REFUSED: readonly (readonly [kind: string, change: Partial<Change>])[] = [
  ["stale", { ...EVERYTHING, expects: [{ ...at("key", 1), version: 2 }] }],
  ["stale", { ...EVERYTHING, expects: [{ ...at("key", 1), version: null }] }],
  ["stale", { ...EVERYTHING, expects: [{ ...at("key", 9), version: "exists" }] }],
  [
    "taken",
    {
      ...EVERYTHING,
      claims: [
        { ...HASH, value: "new", id: NEW.id },
        { ...HASH, value: "deleted", id: NEW.id },
      ],
    },
  ],
  [
    "refused",
    {
      ...EVERYTHING,
      counters: [
        ...(EVERYTHING.counters ?? []),
        { ...at("key", 2), usage: aUsageChange({ kind: "decrement", by: 6 }) },
      ],
    },
  ],
];

export const allOrNothingContracts: readonly StoreContract[] = [
  it("a change that goes through moves everything that it names", async (store, other) => {
    await prepare(store);
    await commit(store, EVERYTHING);
    const seen = await observe(other);
    assert.deepEqual(
      seen.records.map((loaded) => loaded?.record.body ?? null),
      ["changed", null, { number: 3 }, { number: 4 }, null, null, { number: 3 }],
    );
    assert.deepEqual(seen.lists, [[NEW.id], [NEW.id]]);
    assert.deepEqual([seen.others, seen.size], [[NEW.id], 1]);
    assert.deepEqual([seen.windows, seen.revision], [[0, 0], 2]);
    await assertHolds(other, NEW, { usage: usesOf(6) });
  }),
  ...REFUSED.map(([kind, change], index) =>
    it(`a change that is ${kind} writes nothing at all (${index + 1} of ${REFUSED.length})`, async (store, other) => {
      await prepare(store);
      const before = await observe(store);
      assert.equal((await tryCommit(other, change)).kind, kind);
      assert.deepEqual(await observe(store), before);
      assert.deepEqual(await observe(other), before);
    }),
  ),
  it("of N changes that expect one version exactly one goes through", async (store, other) => {
    const record = aRecord("key");
    await put(store, record);
    const results = await race({ store, other }, 20, (each, number) =>
      tryCommit(each, {
        expects: atFirst(record),
        puts: [{ record: nextOf(record, number) }],
        enters: [{ list: "keys", id: idOf("key", number) }],
        revision: 7,
      }),
    );
    assert.deepEqual(countByKind(results), { committed: 1, stale: 19 });
    const winner = results.findIndex(({ kind }) => kind === "committed");
    await assertHolds(other, nextOf(record, winner));
    assert.deepEqual([(await pageOf(store)).size, await revisionOf(store)], [1, 7]);
  }),
  it("of N changes that expect a record to be absent exactly one writes it", async (store, other) => {
    const results = await race({ store, other }, 20, (each, number) =>
      tryCommit(each, {
        expects: [{ ...at("key"), version: null }],
        puts: [{ record: aRecord("key", 1, { body: number }) }],
      }),
    );
    assert.deepEqual(countByKind(results), { committed: 1, stale: 19 });
  }),
  it("of N claims of one name exactly one wins, and the others leave nothing", async (store, other) => {
    const name = { ...HASH, value: "wanted by all" };
    const results = await race({ store, other }, 20, (each, number) =>
      tryCommit(each, {
        puts: [{ record: aRecord("key", number) }],
        claims: [{ ...name, id: idOf("key", number) }],
        enters: [{ list: "keys", id: idOf("key", number) }],
      }),
    );
    assert.deepEqual(countByKind(results), { committed: 1, taken: 19 });
    const winner = results.findIndex(({ kind }) => kind === "committed");
    assert.equal((await find(other, name))?.record.id, idOf("key", winner));
    const wants = results.map((_, number) => at("key", number));
    const there = (await readAll(other, wants)).filter((loaded) => loaded !== null);
    assert.deepEqual([there.length, (await pageOf(other)).size], [1, 1]);
  }),
  it("of changes at once each is carried out: lists count each record, and one was the latest", async (store, other) => {
    await race({ store, other }, 20, (each, number) =>
      commit(each, {
        puts: [{ record: aRecord("key", number) }],
        enters: [{ list: "keys", id: idOf("key", number) }],
        revision: number + 1,
      }),
    );
    const { size, found, revision } = await other.page(WORKSPACE, {
      kind: "key",
      list: "keys",
      after: null,
      limit: 100,
    });
    assert.deepEqual([size, found.length], [20, 20]);
    assert.ok(revision >= 1 && revision <= 20, `the revision is ${revision}`);
    assert.equal(await revisionOf(store), revision);
  }),
];
