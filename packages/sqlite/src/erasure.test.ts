import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { aKey, aPlan, deleteKey, insertKey, load, WORKSPACE, withKey } from "./testing/fixtures.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

/** Everything that is on the disk of a database now. */
function bytesOf(path: string): string {
  return [path, `${path}-wal`].map((file) => readFileSync(file, "latin1")).join("");
}

test("the encrypted secret of a deleted key is on the disk no more, in the file as in the log", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const sealedOf = (number: number) => `v1.vault.sealed-${number}-${"x".repeat(300)}`;
  await withKey(store, aKey(1, 5, { sealedSecret: sealedOf(1) }));
  for (let number = 2; number <= 40; number += 1) {
    await insertKey(store, aKey(number, 5, { sealedSecret: sealedOf(number) }));
  }
  await store.charge(aPlan(await load(store)));
  expect(bytesOf(path)).toContain("sealed-7-");
  for (const number of [7, 8, 21]) await deleteKey(store, number);
  const bytes = bytesOf(path);
  for (const number of [7, 8, 21]) expect(bytes).not.toContain(`sealed-${number}-`);
  expect(bytes).toContain("sealed-9-");
  await store.close();
});

test("a deleted key is found by nothing, and its hash can be given to another", async () => {
  const store = sqliteStore(":memory:");
  const loaded = await withKey(store, aKey(1, 5));
  await deleteKey(store);
  expect(await store.findKey(loaded.key.hash, WORKSPACE)).toBeNull();
  expect(await store.charge(aPlan(loaded))).toEqual({ kind: "stale" });
  const again = aKey(2, null, { hash: loaded.key.hash });
  expect(await insertKey(store, again)).toEqual({ kind: "inserted", created: [] });
  await store.close();
});
