import assert from "node:assert/strict";
import type { KeyStore, LogPlace, Put } from "@latchkey/core";
import { it, type StoreContract } from "../../fixtures/context.js";
import {
  aRecord,
  at,
  commit,
  nextOf,
  OTHER_WORKSPACE,
  tryCommit,
  WORKSPACE,
} from "../../fixtures/records.js";

const LIST = "auditEntry";
const START: LogPlace = { version: 1, id: "" };

/** New entries, or entries that bring versions of their own. */
const entry = (number: number, version = 0) => aRecord("auditEntry", number, { version });

function append(store: KeyStore, numbers: readonly number[], workspaceId = WORKSPACE) {
  return write(
    store,
    numbers.map((number) => entry(number)),
    workspaceId,
  );
}

async function write(store: KeyStore, records: readonly Put["record"][], workspaceId = WORKSPACE) {
  const enters = records.map(({ id }) => ({ list: LIST, id }));
  await commit(store, { puts: records.map((record) => ({ record })), enters }, workspaceId);
}

async function remove(store: KeyStore, numbers: readonly number[]) {
  const deletes = numbers.map((number) => at("auditEntry", number));
  await commit(store, { deletes, leaves: deletes.map(({ id }) => ({ list: LIST, id })) });
}

function pageOf(store: KeyStore, from = START, limit = 1_000, workspaceId = WORKSPACE) {
  return store.page(workspaceId, { kind: "auditEntry", list: LIST, after: null, limit, from });
}

/** `[number of the record, version]` of each entry, and the highest version that was given. */
async function logOf(store: KeyStore, from = START, limit = 1_000, workspaceId = WORKSPACE) {
  const { found, last } = await pageOf(store, from, limit, workspaceId);
  const entries = found.map(({ record: { body, version } }) => [Object(body).number, version]);
  return { entries, last };
}

export const logOrderContracts: readonly StoreContract[] = [
  it("entries of the audit log are numbered in the order of commits, whatever their ids are", async (store, other) => {
    assert.deepEqual(await logOf(other), { entries: [], last: 1 });
    await append(store, [5]);
    await append(other, [3, 4]);
    await append(store, [9]);
    await append(other, [1]);
    const entries = [
      [5, 2],
      [3, 3],
      [4, 4],
      [9, 5],
      [1, 6],
    ];
    assert.deepEqual(await logOf(other), { entries, last: 6 });
  }),
  it("a page of the log begins at a place, even at one that no entry has", async (store, other) => {
    await append(store, [5, 3, 4, 9, 1]);
    const { id } = at("auditEntry", 4);
    assert.deepEqual((await logOf(other, { version: 4, id })).entries[0], [4, 4]);
    assert.deepEqual((await logOf(other, { version: 4, id: "" })).entries[0], [4, 4]);
    const { found, hasMore, size } = await pageOf(other, { version: 3, id: "" }, 2);
    assert.deepEqual([found.length, hasMore, size], [2, true, 5]);
    const end = await pageOf(other, { version: 5, id: "" }, 2);
    assert.deepEqual([end.found.length, end.hasMore, end.size], [2, false, 5]);
    assert.deepEqual(await logOf(other, { version: 7, id: "" }), { entries: [], last: 6 });
  }),
  it("numbers of entries that are deleted are not given again", async (store, other) => {
    await append(store, [1, 2, 3]);
    await remove(store, [2, 3]);
    assert.deepEqual(await logOf(other), { entries: [[1, 2]], last: 4 });
    await append(other, [4]);
    await remove(store, [1, 4]);
    assert.deepEqual(await logOf(other), { entries: [], last: 5 });
    await append(store, [3]);
    assert.deepEqual(await logOf(other), { entries: [[3, 6]], last: 6 });
  }),
  it("a change that is refused takes no number", async (store, other) => {
    await append(store, [1]);
    const record = entry(2);
    const change = { puts: [{ record }], enters: [{ list: LIST, id: record.id }] };
    const gone = { ...at("key"), version: "exists" as const };
    assert.equal((await tryCommit(store, { ...change, expects: [gone] })).kind, "stale");
    await append(other, [3]);
    assert.deepEqual((await logOf(other)).entries, [
      [1, 2],
      [3, 3],
    ]);
  }),
  it("an entry that is written again keeps its number", async (store, other) => {
    await append(store, [1, 2]);
    await commit(store, {
      puts: [{ record: { ...nextOf(entry(1), { number: 7 }), version: 0 } }],
    });
    await append(store, [3]);
    assert.deepEqual((await logOf(other)).entries, [
      [7, 2],
      [2, 3],
      [3, 4],
    ]);
  }),
  it("entries that bring versions keep them, and numbers go on above the highest", async (store, other) => {
    await write(store, [entry(8, 40), entry(2, 41), entry(6, 1), entry(5, 1)]);
    await write(store, [entry(7, 12), entry(4, 1)]);
    await append(other, [1]);
    const numbered = [
      [7, 12],
      [8, 40],
      [2, 41],
      [1, 42],
    ];
    const old = [4, 5, 6].map((number) => [number, 1]);
    assert.deepEqual(await logOf(other), { entries: [...old, ...numbered], last: 42 });
    const from = { version: 1, id: at("auditEntry", 5).id };
    assert.deepEqual((await logOf(other, from, 3)).entries, [
      [5, 1],
      [6, 1],
      [7, 12],
    ]);
    const after = { version: 1, id: at("auditEntry", 7).id };
    assert.deepEqual((await logOf(other, after)).entries, numbered);
  }),
  it("each workspace has numbers of its own", async (store, other) => {
    await append(store, [1, 2]);
    await append(store, [1], OTHER_WORKSPACE);
    assert.deepEqual(await logOf(other, START, 10, OTHER_WORKSPACE), {
      entries: [[1, 2]],
      last: 2,
    });
    assert.equal((await logOf(other)).last, 3);
  }),
  it("a reader beside writers sees every entry below one that is there", async (store, other) => {
    const WRITERS = 8;
    const EACH = 25;
    let isWriting = true;
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let count = 0; count < EACH; count += 1)
        await append(writer % 2 === 0 ? store : other, [count * WRITERS + writer + 1]);
    });
    const written = Promise.all(writers).finally(() => {
      isWriting = false;
    });
    let looks = 0;
    while (isWriting) {
      const { found, last = 1 } = await pageOf(looks % 2 === 0 ? other : store);
      const versions = found.map(({ record }) => record.version);
      assert.deepEqual(
        versions,
        Array.from(versions, (_, index) => index + 2),
      );
      assert.equal(last, versions.length + 1);
      looks += 1;
      // A store that answers at once must not hold up the writers.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await written;
    assert.equal((await logOf(other)).last, WRITERS * EACH + 1);
  }),
];
