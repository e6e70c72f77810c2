import assert from "node:assert/strict";
import type { KeyStore, ListEntry } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { entriesOf, idsOn, pageOf, walk } from "../fixtures/pages.js";
import {
  aRecord,
  at,
  commit,
  comparable,
  idOf,
  NOW,
  put,
  stateWith,
  tellUse,
  usesOf,
} from "../fixtures/records.js";

/** Writes keys with the given numbers, and enters them into the list in the order given. */
async function withKeys(
  store: KeyStore,
  numbers: readonly number[],
  fields: Partial<ListEntry> = {},
): Promise<readonly string[]> {
  const ids = numbers.map((number) => idOf("key", number));
  await put(store, ...numbers.map((number) => aRecord("key", number)));
  for (const id of ids) await commit(store, { enters: entriesOf([id], fields) });
  return ids.toSorted();
}

export const pageContracts: readonly StoreContract[] = [
  it("a list is in ascending order of id, whatever the order in which records entered it", async (store, other) => {
    const ids = await withKeys(store, [5, 1, 9, 3, 7, 2]);
    assert.deepEqual(await idsOn(other), ids);
    assert.deepEqual(await idsOn(other, { descending: false }), ids);
  }),
  it("a list in descending order is the same list backwards", async (store, other) => {
    const ids = await withKeys(store, [5, 1, 9, 3, 7, 2]);
    assert.deepEqual(await idsOn(other, { descending: true }), ids.toReversed());
  }),
  it("the order is that of the characters' codes, upper case before lower case", async (store, other) => {
    const ids = ["A", "B", "Z", "_", "a", "b", "b-", "b1", "bA", "b_", "ba", "z", "~"];
    const shuffled = [7, 2, 11, 0, 5, 9, 3, 12, 1, 8, 4, 10, 6].map((index) => ids[index] ?? "");
    await put(store, ...shuffled.map((id) => aRecord("key", 1, { id })));
    await commit(store, { enters: entriesOf(shuffled) });
    assert.deepEqual(await walk(other, { limit: 3 }), ids);
    assert.deepEqual(await walk(other, { limit: 3, descending: true }), ids.toReversed());
  }),
  it("pages of any size list every record once, in both directions", async (store, other) => {
    const ids = await withKeys(store, [1, 2, 3, 4, 5, 6, 7]);
    for (const limit of [1, 2, 3, 6, 7, 8]) {
      assert.deepEqual(await walk(other, { limit }), ids);
      assert.deepEqual(await walk(other, { limit, descending: true }), ids.toReversed());
    }
  }),
  it("hasMore says whether records follow the last of the page, at its edge too", async (store, other) => {
    await withKeys(store, [1, 2, 3]);
    for (const descending of [false, true]) {
      for (const [limit, hasMore] of [
        [1, true],
        [2, true],
        [3, false],
        [4, false],
      ] as const) {
        assert.equal((await pageOf(other, { limit, descending })).hasMore, hasMore);
      }
    }
  }),
  it("a page begins after an id that is not in the list as it would after one that is", async (store, other) => {
    const [first, second, third] = await withKeys(store, [2, 4, 6]);
    const after = (number: number, descending: boolean) =>
      idsOn(other, { after: idOf("key", number), descending });
    assert.deepEqual(await after(1, false), [first, second, third]);
    assert.deepEqual(await after(2, false), [second, third]);
    assert.deepEqual(await after(3, false), [second, third]);
    assert.deepEqual(await after(6, false), []);
    assert.deepEqual(await after(7, false), []);
    assert.deepEqual(await after(7, true), [third, second, first]);
    assert.deepEqual(await after(6, true), [second, first]);
    assert.deepEqual(await after(5, true), [second, first]);
    assert.deepEqual(await after(2, true), []);
    assert.deepEqual(await after(1, true), []);
    assert.deepEqual(await idsOn(other, { after: "~" }), []);
    assert.deepEqual(await idsOn(other, { after: "!" }), [first, second, third]);
  }),
  it("the size of a list is exact, while records enter it twice and leave it without being in it", async (store, other) => {
    const sizeOf = async () => (await pageOf(other, { limit: 1 })).size;
    assert.equal(await sizeOf(), 0);
    await withKeys(store, [1, 2, 3]);
    assert.equal(await sizeOf(), 3);
    await commit(store, { enters: entriesOf([idOf("key", 1), idOf("key", 1)]) });
    assert.equal(await sizeOf(), 3);
    await commit(store, { leaves: entriesOf([idOf("key", 9)]) });
    assert.equal(await sizeOf(), 3);
    await commit(store, { leaves: entriesOf([idOf("key", 1), idOf("key", 1)]) });
    assert.equal(await sizeOf(), 2);
    await commit(store, { leaves: entriesOf([idOf("key", 2), idOf("key", 3)]) });
    assert.equal(await sizeOf(), 0);
    assert.deepEqual(await idsOn(other), []);
  }),
  it("a thousand records enter a list in one change, and fill one page", async (store, other) => {
    const numbers = Array.from({ length: 1_001 }, (_, number) => number);
    await commit(store, {
      puts: numbers.map((number) => ({ record: aRecord("key", number) })),
      enters: entriesOf(numbers.map((number) => idOf("key", number))),
    });
    const { found, hasMore, size } = await pageOf(other, { limit: 1_000 });
    assert.deepEqual([found.length, hasMore, size], [1_000, true, 1_001]);
    assert.equal((await walk(other, { limit: 1_000 })).length, 1_001);
  }),
  it("each of many records is on one page, also after all of them were changed", async (store, other) => {
    // In an order that is neither that of the list nor its reverse.
    const numbers = Array.from({ length: 997 }, (_, index) => (index * 131) % 997);
    const ids = numbers.map((number) => idOf("key", number));
    const putAll = (version: number) =>
      numbers.map((number) => ({ record: { ...aRecord("key", number), version } }));
    await commit(store, { puts: putAll(1), enters: entriesOf(ids) });
    await commit(store, { puts: putAll(2) });
    assert.deepEqual(await walk(other, { limit: 400 }), ids.toSorted());
    await commit(store, { puts: putAll(3) });
    assert.deepEqual(await walk(other, { limit: 400, descending: true }), ids.toSorted().reverse());
  }),
  it("records whose ids begin alike are apart, and on pages in the order of their ends", async (store, other) => {
    const ids = Array.from({ length: 9 }, (_, number) => `key_${"0".repeat(25)}${number}`);
    await commit(store, {
      puts: ids.toReversed().map((id) => ({ record: aRecord("key", 1, { id }) })),
      enters: ["keys", "key"].flatMap((list) => entriesOf(ids, { list })),
    });
    const gone = ids.splice(4, 1).map((id) => ({ kind: "key" as const, id }));
    await commit(store, { deletes: gone });
    for (const limit of [1, 2, 9])
      for (const list of ["keys", "key"]) {
        assert.deepEqual(await walk(other, { list, limit }), ids);
        assert.deepEqual(await walk(other, { list, limit, descending: true }), ids.toReversed());
      }
  }),
  it("records that are gone are left out of a page, and others are read instead", async (store, other) => {
    const ids = await withKeys(store, [1, 2, 3, 4, 5, 6, 7, 8]);
    const gone = [1, 2, 4, 7, 8].map((number) => at("key", number));
    await commit(store, { deletes: gone });
    const left = ids.filter((id) => !gone.some((address) => address.id === id));
    for (const limit of [1, 2, 3, 4]) {
      assert.deepEqual(await walk(other, { limit }), left);
      assert.deepEqual(await walk(other, { limit, descending: true }), left.toReversed());
    }
    const first = await pageOf(other, { limit: 2 });
    assert.deepEqual([first.found.length, first.hasMore], [2, true]);
    const all = await pageOf(other, { limit: 3 });
    assert.deepEqual([all.found.length, all.hasMore], [3, false]);
  }),
  it("the size of a list counts ids, also of records that are gone without leaving it", async (store, other) => {
    await withKeys(store, [1, 2, 3]);
    await commit(store, { deletes: [at("key", 2)] });
    assert.equal((await pageOf(other)).size, 3);
    await commit(store, { leaves: entriesOf([idOf("key", 2)]) });
    assert.equal((await pageOf(other)).size, 2);
  }),
  it("a record that comes back is where it was in a list that it has not left", async (store, other) => {
    const ids = await withKeys(store, [1, 2, 3]);
    await commit(store, { deletes: [at("key", 2)] });
    await put(store, aRecord("key", 2));
    assert.deepEqual(await idsOn(other), ids);
  }),
  it("each record of a page comes with its counters, its latest use and the identity it links to", async (store, other) => {
    const identity = aRecord("identity");
    const plain = aRecord("key", 1);
    const linked = aRecord("key", 2, { link: identity.id });
    await commit(store, {
      puts: [
        { record: identity, counters: { usage: usesOf(5) } },
        { record: plain },
        { record: linked, counters: { usage: usesOf(3) } },
      ],
      enters: entriesOf([plain.id, linked.id]),
      revision: 1,
    });
    await tellUse(store, linked);
    const { found, revision } = await pageOf(other);
    assert.equal(revision, 1);
    const state = { record: identity, usage: usesOf(5), usedAt: null };
    assert.deepEqual(found.map(comparable), [
      stateWith(plain),
      stateWith(linked, { usage: usesOf(3), usedAt: NOW, linked: state }),
    ]);
  }),
  it("a list that nothing entered is empty", async (store) => {
    const { found, hasMore, size, revision } = await pageOf(store, { list: "nothing" });
    assert.deepEqual([found, hasMore, size, revision], [[], false, 0, 0]);
    await withKeys(store, [1]);
    assert.deepEqual(await idsOn(store, { list: "nothing" }), []);
    assert.deepEqual(await idsOn(store, { of: "nothing" }), []);
  }),
  it("a small list is beside the list of its name: neither holds what entered the other", async (store, other) => {
    const [one, two, three] = await withKeys(store, [1, 2, 3]);
    await commit(store, { leaves: entriesOf([three ?? ""]) });
    await commit(store, { enters: entriesOf([two ?? "", three ?? ""], { of: "a" }) });
    assert.deepEqual(await idsOn(other), [one, two]);
    assert.deepEqual(await idsOn(other, { of: "a" }), [two, three]);
    await commit(store, { leaves: entriesOf([two ?? ""]) });
    assert.deepEqual(await idsOn(other, { of: "a" }), [two, three]);
    await commit(store, { leaves: entriesOf([two ?? "", three ?? ""], { of: "a" }) });
    assert.deepEqual(await idsOn(other, { of: "a" }), []);
    assert.deepEqual(await idsOn(other), [one]);
  }),
  it("the list with the name of a kind holds all its records, once each, until they are deleted", async (store, other) => {
    const ids = [5, 1, 9, 3, 7].map((number) => idOf("key", number));
    const [gone = "", ...left] = ids;
    for (const id of ids)
      await commit(store, {
        puts: [{ record: aRecord("key", 1, { id }) }],
        enters: entriesOf([id], { list: "key" }),
      });
    await put(store, aRecord("key", 3, { version: 2 }), aRecord("identity", 2));
    assert.deepEqual(await walk(other, { list: "key", limit: 2 }), ids.toSorted());
    await commit(store, {
      deletes: [{ kind: "key", id: gone }],
      leaves: entriesOf([gone], { list: "key" }),
    });
    const backwards = await walk(other, { list: "key", limit: 2, descending: true });
    assert.deepEqual(backwards, left.toSorted().toReversed());
    assert.equal((await pageOf(other, { list: "key" })).size, left.length);
  }),
  it("a page of a small list answers the size of the list of that name", async (store, other) => {
    await withKeys(store, [1, 2, 3]);
    await commit(store, { enters: entriesOf([idOf("key", 1)], { of: "a" }) });
    for (const of of ["a", "b"]) assert.equal((await pageOf(other, { of })).size, 3);
    assert.equal((await pageOf(other, { list: "small", of: "a" })).size, 0);
  }),
  it("small lists are paged through in both directions, as any list", async (store, other) => {
    const ids = await withKeys(store, [4, 2, 6, 1, 5], { of: "an owner" });
    await withKeys(store, [3, 8], { of: "another" });
    for (const limit of [1, 2, 5]) {
      const page = { of: "an owner", limit };
      assert.deepEqual(await walk(other, page), ids);
      assert.deepEqual(await walk(other, { ...page, descending: true }), ids.toReversed());
    }
    const after = { of: "an owner", after: idOf("key", 3) };
    assert.deepEqual(await idsOn(other, after), ids.slice(2));
    assert.deepEqual(await idsOn(other, { ...after, descending: true }), [ids[1], ids[0]]);
  }),
  it("records enter and leave several lists in one change", async (store, other) => {
    const [id = ""] = await withKeys(store, [1]);
    await commit(store, {
      enters: [
        { list: "first", id },
        { list: "second", of: "a", id },
      ],
    });
    await commit(store, {
      leaves: [{ list: "first", id }, ...entriesOf([id])],
      enters: [{ list: "second", of: "b", id }],
    });
    assert.deepEqual(await idsOn(other), []);
    assert.deepEqual(await idsOn(other, { list: "first" }), []);
    assert.deepEqual(await idsOn(other, { list: "second", of: "a" }), [id]);
    assert.deepEqual(await idsOn(other, { list: "second", of: "b" }), [id]);
  }),
];
