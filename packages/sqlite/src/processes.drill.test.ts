import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { API_ID, aKey, aPlan, keyIdOf, load, NOW, WORKSPACE, withKey } from "./testing/fixtures.js";
import { startWorker } from "./testing/processes.js";
import { openScratch, withDatabase } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

test("four processes that open a fresh file at once all find the tables, made once", async () => {
  for (let round = 0; round < 3; round += 1) {
    const path = scratch.newPath();
    const workers = [1, 2, 3, 4].map((number) => startWorker("open", path, String(number)));
    await Promise.all(workers.map(({ ready }) => ready));
    for (const { go } of workers) go();
    const said = await Promise.all(workers.map(({ lines }) => lines));
    expect(said).toEqual([["opened"], ["opened"], ["opened"], ["opened"]]);
    const versions = withDatabase(path, (database) =>
      database.prepare("SELECT version FROM latchkey_schema").pluck().all(),
    );
    expect(versions).toEqual([1]);
  }
});

test("two processes on one key admit together exactly the uses it had", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, aKey(1, 5_000));
  const workers = [startWorker("hammer", path), startWorker("hammer", path)];
  await Promise.all(workers.map(({ ready }) => ready));
  for (const { go } of workers) go();
  const admitted = (await Promise.all(workers.map(({ lines }) => lines))).flat().map(Number);
  expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(5_000);
  expect((await load(store)).usage.remaining).toBe(0);
  await store.close();
});

test("of several processes that rotate one key, one puts its successor there, with the counters of the key", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const loaded = await withKey(store, aKey(1, 5));
  const workers = [2, 3, 4].map((number) => startWorker("rotate", path, String(number)));
  await Promise.all(workers.map(({ ready }) => ready));
  for (const { go } of workers) go();
  const said = (await Promise.all(workers.map(({ lines }) => lines))).flat();
  expect(said.toSorted()).toEqual(["rotated", "stale", "stale"]);

  const old = await load(store);
  const successorId = keyIdOf(2 + said.indexOf("rotated"));
  expect(old.key.rotatedTo).toBe(successorId);
  const page = { afterId: null, limit: 10 };
  const { items, total } = await store.listKeys(WORKSPACE, API_ID, { identityId: null }, page);
  expect(items.map(({ key }) => key.id)).toEqual([keyIdOf(1), successorId]);
  expect(total).toBe(2);
  expect(await store.charge(aPlan(loaded))).toEqual({ kind: "stale" });
  expect(await store.charge(aPlan(old))).toMatchObject({ remaining: 4 });
  expect(await store.charge(aPlan(await load(store, successorId)))).toMatchObject({ remaining: 3 });
  await store.close();
});

test.each(["normal", "full"])(
  "nothing that was answered is lost, and nothing is half written, when the process is killed (%s)",
  async (durability) => {
    const path = scratch.newPath();
    const before = sqliteStore(path);
    await withKey(before, aKey(1, 1_000_000));
    await before.close();
    for (let round = 0; round < 5; round += 1) {
      const worker = startWorker("write", path, durability);
      await worker.ready;
      worker.go();
      await worker.said(1 + Math.floor(Math.random() * 150));
      worker.kill();
      await expectKept(path, await worker.lines);
    }
  },
);

async function expectKept(path: string, lines: readonly string[]): Promise<void> {
  const idsAfter = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => line.split(" ")[1] as string);
  const store = sqliteStore(path);
  const deleted = new Set(idsAfter("deleted"));
  // Whether the last one was deleted before the process ended is not known.
  for (const keyId of idsAfter("inserted").slice(0, -1)) {
    const key = await store.getKey(WORKSPACE, keyId);
    if (deleted.has(keyId)) expect(key).toBeNull();
    else expect(key?.identity).not.toBeNull();
  }
  const left = idsAfter("left").map(Number);
  const { remaining } = (await load(store, keyIdOf(1))).usage;
  if (left.length > 0) {
    const least = Math.min(...left);
    expect([least, least - 1]).toContain(remaining);
  }
  await expectWhole(store);
  await store.close();
  withDatabase(path, (database) => {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    expect(database.pragma("foreign_key_check")).toEqual([]);
  });
}

/** Every key that is listed has all that was written with it, and as many are listed as were counted. */
async function expectWhole(store: ReturnType<typeof sqliteStore>): Promise<void> {
  let afterId: string | null = null;
  let listed = 0;
  for (;;) {
    const page = await store.listKeys(
      WORKSPACE,
      API_ID,
      { identityId: null },
      { afterId, limit: 100 },
    );
    for (const { key, identity, permissions } of page.items) {
      listed += 1;
      if (key.id === keyIdOf(1)) continue;
      expect(identity?.createdAt).toBe(NOW);
      expect(permissions).toHaveLength(1);
    }
    if (!page.hasMore) return expect(listed).toBe(page.total);
    afterId = page.items.at(-1)?.key.id ?? null;
  }
}
