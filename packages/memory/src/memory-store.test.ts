import {
  aKey,
  aKeyLimit,
  aKeyWithUses,
  anApi,
  aPlan,
  describeKeyStore,
  idOf,
  NOW,
  WORKSPACE,
} from "@latchkey/conformance";
import { type KeyStore, type LoadedKey, NO_CHANGES } from "@latchkey/core";
import { expect, test } from "vitest";
import { memoryStore } from "./memory-store.js";

describeKeyStore("memory", memoryStore);

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
