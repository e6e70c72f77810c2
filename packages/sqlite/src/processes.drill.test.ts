import { readFileSync } from "node:fs";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import {
  aPlan,
  charge,
  find,
  hashOf,
  keyIdOf,
  load,
  pageOfKeys,
  WORKSPACE,
  withKey,
} from "./testing/fixtures.js";
import { startWorker } from "./testing/processes.js";
import { openScratch, withDatabase } from "./testing/scratch.js";

/** `LATCHKEY_FUZZ_RUNS=10`: ten times as many rounds. */
const TIMES = Number(process.env.LATCHKEY_FUZZ_RUNS ?? "1");

const scratch = openScratch();
afterAll(() => scratch.remove());

test("four processes that open a fresh file at once all find the tables, made once", async () => {
  for (let round = 0; round < 2 * TIMES; round += 1) {
    const path = scratch.newPath();
    const workers = [1, 2, 3, 4].map((number) => startWorker("open", path, String(number)));
    await Promise.all(workers.map(({ ready }) => ready));
    for (const { go } of workers) go();
    const said = await Promise.all(workers.map(({ lines }) => lines));
    expect(said).toEqual([["opened"], ["opened"], ["opened"], ["opened"]]);
    const store = sqliteStore(path);
    expect(await pageOfKeys(store)).toMatchObject({ size: 4, hasMore: false });
    await store.close();
    const versions = withDatabase(path, (database) =>
      database.prepare("SELECT version FROM latchkey_schema").pluck().all(),
    );
    expect(versions).toEqual([5]);
  }
});

test("two processes on one key together admit exactly the uses it had", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  await withKey(store, 1, 5_000);
  const workers = [startWorker("hammer", path), startWorker("hammer", path)];
  await Promise.all(workers.map(({ ready }) => ready));
  for (const { go } of workers) go();
  const admitted = (await Promise.all(workers.map(({ lines }) => lines))).flat().map(Number);
  expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(5_000);
  expect((await load(store)).usage?.remaining).toBe(0);
  await store.close();
});

test("of several processes that replace one key, one succeeds, with the counters of the key", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const loaded = await withKey(store, 1, 5);
  const workers = [2, 3, 4].map((number) => startWorker("rotate", path, String(number)));
  await Promise.all(workers.map(({ ready }) => ready));
  for (const { go } of workers) go();
  const said = (await Promise.all(workers.map(({ lines }) => lines))).flat();
  expect(said.toSorted()).toEqual(["committed", "stale", "stale"]);

  const old = await load(store);
  const { found, size } = await pageOfKeys(store);
  const successor = found[1];
  if (!successor) throw new Error("no successor");
  expect(old.record.body).toEqual({ next: successor.record.id });
  expect(found.map(({ record }) => record.id)).toEqual([keyIdOf(1), successor.record.id]);
  expect(size).toBe(2);
  expect(await charge(store, aPlan(loaded))).toEqual({ kind: "stale", moved: 0 });
  expect(await charge(store, aPlan(old))).toMatchObject({ remaining: 4 });
  expect(await charge(store, aPlan(successor))).toMatchObject({ remaining: 3 });
  await store.close();
});

test.each(["normal", "full"])(
  "nothing that was answered is lost, and nothing is half written, when the process is killed (%s)",
  async (durability) => {
    const path = scratch.newPath();
    const before = sqliteStore(path);
    await withKey(before, 1, 1_000_000);
    await before.close();
    for (let round = 0; round < 3 * TIMES; round += 1) {
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
  const numbersAfter = (word: string) =>
    lines.filter((line) => line.startsWith(word)).map((line) => Number(line.split(" ")[1]));
  const store = sqliteStore(path);
  const deleted = new Set(numbersAfter("deleted"));
  // The process may have ended before or after it deleted the last one.
  for (const number of numbersAfter("inserted").slice(0, -1)) {
    const byName = (await store.read(WORKSPACE, [hashOf(number)])).found[0];
    const byId = await find(store, number);
    const partsOf = (loaded: typeof byName) => [
      loaded?.record,
      loaded?.usage,
      loaded?.linked?.record,
    ];
    expect(partsOf(byId)).toEqual(partsOf(byName));
    if (deleted.has(number)) expect(byName).toBeNull();
    else expect(byName?.linked).not.toBeNull();
  }
  const left = numbersAfter("left");
  const remaining = (await load(store)).usage?.remaining;
  if (left.length > 0) {
    const least = Math.min(...left);
    expect([least, least - 1]).toContain(remaining);
  }
  await expectWhole(store);
  await store.close();
  const bytes = readFileSync(path, "latin1");
  for (const number of deleted) expect(bytes).not.toContain(keyIdOf(number));
  withDatabase(path, (database) => {
    expect(database.pragma("integrity_check", { simple: true })).toBe("ok");
    const loose = `SELECT (SELECT count(*) FROM latchkey_record WHERE counters NOT IN (SELECT seq FROM latchkey_counters))
      + (SELECT count(*) FROM latchkey_counters WHERE seq NOT IN (SELECT counters FROM latchkey_record WHERE counters IS NOT NULL))
      + (SELECT count(*) FROM latchkey_claim WHERE record NOT IN (SELECT seq FROM latchkey_record))`;
    expect(database.prepare(loose).pluck().get()).toBe(0);
  });
}

/** Every listed key has everything that was written along with it, and as many are listed as were counted. */
async function expectWhole(store: ReturnType<typeof sqliteStore>): Promise<void> {
  let after: string | null = null;
  let listed = 0;
  for (;;) {
    const page = await pageOfKeys(store, 100, after);
    for (const { record, linked, usage } of page.found) {
      listed += 1;
      expect(usage).not.toBeNull();
      if (record.id !== keyIdOf(1)) expect(linked).not.toBeNull();
    }
    if (!page.hasMore) return expect(listed).toBe(page.size);
    after = page.found.at(-1)?.record.id ?? null;
  }
}
