import assert from "node:assert/strict";
import {
  type KeyStore,
  type LoadedKey,
  type NewKey,
  NO_CHANGES,
  type Page,
  type PageRequest,
  type Rotation,
  type UpdateKeyResult,
} from "@latchkey/core";
import { aNewKey, anApi, idOf, WORKSPACE } from "./fixtures.js";

/** Inserts the first API and the keys, which must all be accepted, and loads the first of them. */
export async function withKeys(
  store: KeyStore,
  ...keys: readonly [NewKey, ...NewKey[]]
): Promise<LoadedKey> {
  await store.insertApi(anApi(), NO_CHANGES);
  for (const key of keys) await insert(store, key);
  return load(store, keys[0].key.id);
}

/** Inserts a key that must be accepted. */
export async function insert(store: KeyStore, key: NewKey = aNewKey()): Promise<void> {
  const { kind } = await store.insertKeys([key], NO_CHANGES);
  assert.equal(kind, "inserted");
}

/** Puts a successor beside a key, which must be accepted, and loads it. */
export async function rotate(
  store: KeyStore,
  old: LoadedKey,
  rotation: Rotation,
): Promise<LoadedKey> {
  const { id, version } = old.key;
  assert.equal(await store.rotateKey(WORKSPACE, id, version, rotation, NO_CHANGES), "rotated");
  return load(store, rotation.successor.id);
}

/** Loads a key that must exist. */
export async function load(store: KeyStore, keyId = idOf("key", 1)): Promise<LoadedKey> {
  const loaded = await store.getKey(WORKSPACE, keyId);
  assert.ok(loaded !== null, `${keyId} is not found`);
  return loaded;
}

/** Asserts that two keys were loaded alike. The handle is nobody's to compare but the store's. */
export function assertSameKey(actual: LoadedKey | null, expected: LoadedKey | null): void {
  assert.deepEqual(withoutHandle(actual), withoutHandle(expected));
}

/** What was loaded, but the store's own handle. */
function withoutHandle(loaded: LoadedKey | null): Omit<LoadedKey, "handle"> | null {
  if (loaded === null) return null;
  const { handle: _, ...fields } = loaded;
  return fields;
}

/** Uses left of a key that must exist. */
export async function usesLeft(store: KeyStore, keyId = idOf("key", 1)): Promise<number | null> {
  return (await load(store, keyId)).usage.remaining;
}

/** Asserts that an update went through. */
export function assertUpdated(
  result: UpdateKeyResult,
): asserts result is Extract<UpdateKeyResult, { kind: "updated" }> {
  assert.equal(result.kind, "updated");
}

/** All items of a list, page by page, and what each page said of the total. */
export async function readAll<Item>(
  readPage: (page: PageRequest) => Promise<Page<Item>>,
  idOfItem: (item: Item) => string,
  limit: number,
): Promise<{ readonly items: readonly Item[]; readonly pages: number; readonly total: number }> {
  const items: Item[] = [];
  let afterId: string | null = null;
  for (let pages = 1; ; pages += 1) {
    const page: Page<Item> = await readPage({ afterId, limit });
    assert.ok(page.items.length <= limit, "a page holds more than was asked for");
    items.push(...page.items);
    if (!page.hasMore) return { items, pages, total: page.total };
    const last = page.items.at(-1);
    assert.ok(last !== undefined, "a page without items says that more follow");
    assert.ok(afterId === null || idOfItem(last) > afterId, "a page does not move on");
    afterId = idOfItem(last);
  }
}

/** Ids of all live keys of the first API. */
export async function listedKeyIds(
  store: KeyStore,
  identityId: string | null = null,
): Promise<string[]> {
  const { items } = await readAll(
    (page) => store.listKeys(WORKSPACE, idOf("api", 1), { identityId }, page),
    ({ key }) => key.id,
    100,
  );
  return items.map(({ key }) => key.id);
}
