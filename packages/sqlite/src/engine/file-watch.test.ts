import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { aPlan, charge, deleteKey, find, load, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const GONE = {
  code: "STORE_UNAVAILABLE",
  outcome: "not-applied",
  message: expect.stringContaining("deleted, moved or replaced"),
};

/** Charges until a charge is refused: charges do not check the path each time. */
async function chargesUntilRefused(
  work: () => Promise<unknown>,
  why: object = GONE,
): Promise<number> {
  for (let count = 0; count < 1_000; count += 1) {
    try {
      await work();
    } catch (error) {
      expect(error).toMatchObject(why);
      return count;
    }
  }
  throw new Error("never refused");
}

test.each(["path", "database"])(
  "once its file is deleted a store refuses every commit, and soon every charge and read (%s)",
  async (source) => {
    const path = scratch.newPath();
    const store = sqliteStore(source === "path" ? path : new Database(path));
    const plan = aPlan(await withKey(store, 1, 1_000));
    rmSync(path);
    expect(await chargesUntilRefused(() => charge(store, plan))).toBeLessThanOrEqual(128);
    await expect(charge(store, plan)).rejects.toMatchObject(GONE);
    await expect(deleteKey(store)).rejects.toMatchObject(GONE);
    await expect(load(store)).rejects.toMatchObject(GONE);
    await store.close();
  },
);

test("with durability full no charge goes into a deleted file", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path, { durability: "full" });
  const plan = aPlan(await withKey(store, 1, 1_000));
  await charge(store, plan);
  rmSync(path);
  await expect(charge(store, plan)).rejects.toMatchObject(GONE);
  await store.close();
});

test("a revocation never goes into a file that was replaced", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, 1, 5);
  copyFileSync(path, `${path}.copy`);
  renameSync(`${path}.copy`, path);
  await expect(deleteKey(store)).rejects.toMatchObject(GONE);
  await store.close();
});

test.each(["-wal", "-shm"])(
  "once the %s file beside it is deleted a store refuses all commits, and soon all charges: another process would take the same uses again",
  async (end) => {
    const path = scratch.newPath();
    const link = `${path}.link`;
    writeFileSync(path, "");
    symlinkSync(path, link);
    const store = sqliteStore(link);
    const plan = aPlan(await withKey(store, 1, 1_000));
    rmSync(`${path}${end}`);
    const why = {
      ...GONE,
      message: `the file ${basename(path)}${end}, a part of the database, was deleted or replaced while it was open: close the store in every process, and open it again`,
    };
    await expect(deleteKey(store)).rejects.toMatchObject(why);
    expect(await chargesUntilRefused(() => charge(store, plan), why)).toBe(0);
    await store.close();

    const again = sqliteStore(link);
    expect(await load(again)).toMatchObject({ usage: { remaining: 1_000 } });
    await deleteKey(again);
    await again.close();
  },
);

test("charges alone also notice that the log was replaced", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const plan = aPlan(await withKey(store, 1, 1_000));
  copyFileSync(`${path}-wal`, `${path}.copy`);
  renameSync(`${path}.copy`, `${path}-wal`);
  const why = { ...GONE, message: expect.stringContaining("-wal") };
  expect(await chargesUntilRefused(() => charge(store, plan), why)).toBeLessThanOrEqual(128);
  await store.close();
});

test("a file that is put back is used again", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, 1, 5);
  renameSync(path, `${path}.away`);
  await expect(deleteKey(store)).rejects.toMatchObject(GONE);
  mkdirSync(path);
  await expect(deleteKey(store)).rejects.toMatchObject(GONE);
  rmSync(path, { recursive: true });
  renameSync(`${path}.away`, path);
  await deleteKey(store);
  expect(await find(store)).toBeNull();
  await store.close();
});

test("a relative path refers to the folder in which the store was opened", async () => {
  const before = process.cwd();
  const folder = scratch.newPath();
  mkdirSync(folder);
  process.chdir(folder);
  const store = sqliteStore("relative.db");
  process.chdir(before);
  await withKey(store, 1, 5);
  expect(await charge(store, aPlan(await load(store)))).toMatchObject({ remaining: 4 });
  await store.close();
});
