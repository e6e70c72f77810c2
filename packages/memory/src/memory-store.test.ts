import {
  aKey,
  aKeyLimit,
  aKeyWithUses,
  aNewKey,
  anApi,
  aPlan,
  describeKeyStore,
  idOf,
  NOW,
  WORKSPACE,
} from "@latchkey/conformance";
import { type ChangeRecord, type KeyStore, type LoadedKey, NO_CHANGES } from "@latchkey/core";
import { expect, test } from "vitest";
import { memoryStore } from "./memory-store.js";

describeKeyStore("memory", memoryStore);

const CHANGE: ChangeRecord = {
  id: "evt_1",
  workspaceId: WORKSPACE,
  type: "key.deleted",
  at: NOW,
  actor: null,
  resourceId: aKey(1).id,
  keyId: aKey(1).id,
  identityId: null,
  fields: [],
};

async function storeWithKeys(...numbers: readonly number[]): Promise<KeyStore> {
  const store = memoryStore();
  await store.insertApi(anApi(), NO_CHANGES);
  for (const number of numbers) await store.insertKeys([aKeyWithUses(5, number)], NO_CHANGES);
  return store;
}

async function load(store: KeyStore, number = 1): Promise<LoadedKey> {
  return (await store.getKey(WORKSPACE, aKey(number).id)) as LoadedKey;
}

test("what is handed out is frozen to the depth", async () => {
  const store = await storeWithKeys();
  const meta = { plan: { seats: [1, 2] } };
  const ratelimits = [aKeyLimit("a", 1)];
  await store.insertKeys([aKeyWithUses(5, 1, { meta, ratelimits })], NO_CHANGES);
  const { key } = await load(store);
  for (const value of [key, key.meta, key.meta?.plan, key.ratelimits, key.ratelimits[0]]) {
    expect(Object.isFrozen(value)).toBe(true);
  }
  expect(Object.isFrozen(meta)).toBe(false);
});

test("a store keeps to itself", async () => {
  const [one, two] = [await storeWithKeys(1), await storeWithKeys(1)];
  const theirs = await load(two);
  await one.charge(aPlan(theirs, { cost: 2 }));
  expect((await load(two)).usage.remaining).toBe(5);
  expect((await load(one)).usage.remaining).toBe(3);
});

test("a charge with another key's handle is charged to the key that it names", async () => {
  const store = await storeWithKeys(1, 2);
  const [first, second] = [await load(store, 1), await load(store, 2)];
  await store.charge(aPlan(first, { handle: second.handle }));
  expect((await load(store, 1)).usage.remaining).toBe(4);
  expect((await load(store, 2)).usage.remaining).toBe(5);
});

test("ten thousand keys inserted in any order are paged in ascending order", async () => {
  const numbers = Array.from({ length: 10_000 }, (_, index) => (index * 7_919) % 10_000);
  const store = await storeWithKeys(...numbers);
  let afterId: string | null = null;
  const listed: string[] = [];
  for (let hasMore = true; hasMore; ) {
    const page = await store.listKeys(
      WORKSPACE,
      idOf("api", 1),
      { identityId: null },
      { afterId, limit: 100 },
    );
    listed.push(...page.items.map(({ key }) => key.id));
    afterId = listed.at(-1) as string;
    hasMore = page.hasMore;
  }
  expect(listed).toEqual(numbers.map((number) => idOf("key", number)).sort());
});

test("a key without a limit on uses keeps up to when its refills are settled", async () => {
  const store = await storeWithKeys();
  for (const [number, refilledAt] of [NOW - 1, NOW, NOW + 1].entries()) {
    await store.insertKeys(
      [aNewKey(aKey(number), { usage: { remaining: null, refilledAt } })],
      NO_CHANGES,
    );
    expect((await load(store, number)).usage).toEqual({ remaining: null, refilledAt });
  }
});

test("where an entry of the log cannot be made, no key is deleted", async () => {
  const store = await storeWithKeys(1, 2);
  const entryOf = (keyId: string) => {
    if (keyId === aKey(2).id) throw new RangeError("no entry");
    return { change: CHANGE, ifCreated: false };
  };
  await expect(store.deleteKeys(WORKSPACE, idOf("api", 1), 10, NOW, entryOf)).rejects.toThrow(
    RangeError,
  );
  expect(await store.getKey(WORKSPACE, aKey(1).id)).not.toBeNull();
  expect(
    await store.listChanges(WORKSPACE, { kind: "all" }, { beforeId: null, limit: 10 }),
  ).toEqual({ items: [], hasMore: false });
});

test("a workspace that is written after its keys does not go back to an epoch that they were loaded at", async () => {
  const store = await storeWithKeys(1);
  const loaded = await load(store);
  const workspace = { id: WORKSPACE, name: "acme", enabled: false, epoch: loaded.workspace.epoch };
  expect(await store.insertWorkspace(workspace, NO_CHANGES)).toBe("inserted");
  expect(await store.charge(aPlan(loaded))).toEqual({ kind: "stale" });
});

test("calls that race with close are answered or refused, never left open", async () => {
  const store = await storeWithKeys(1);
  const loaded = await load(store);
  const charges = Array.from({ length: 5 }, () => store.charge(aPlan(loaded, { now: NOW })));
  await store.close();
  expect((await Promise.all(charges)).map(({ kind }) => kind)).toEqual(Array(5).fill("charged"));
  await expect(store.charge(aPlan(loaded))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
});
