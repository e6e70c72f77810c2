import fs from "node:fs";
import Database from "better-sqlite3";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { sqliteStore } from "../index.js";
import { aPlan, aRecord, charge, commit, load, WORKSPACE, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";

vi.mock("node:fs", async (original) => {
  const real = await original<typeof fs>();
  return { ...real, fdatasync: vi.fn(real.fdatasync) };
});
const flush = vi.mocked((await import("node:fs")).fdatasync);

const scratch = openScratch();
beforeEach(() => void flush.mockClear());
afterAll(() => scratch.remove());

/** Flushes fail from now on, as on a disk that fails, for so many times. */
function failFlushes(times: number): void {
  for (let time = 0; time < times; time += 1)
    flush.mockImplementationOnce((_file, done) => done(new Error("EIO")));
}

test.each(["normal", "full"] as const)(
  "a change of records waits for the disk, a charge if durability is full, and statistics never (%s)",
  async (durability) => {
    const store = sqliteStore(scratch.newPath(), { durability });
    const loaded = await withKey(store, 1, 5);
    expect(flush).toHaveBeenCalledTimes(1);
    await charge(store, aPlan(loaded));
    const flushes = durability === "full" ? 2 : 1;
    expect(flush).toHaveBeenCalledTimes(flushes);
    await store.addStatistics(WORKSPACE, { counts: [], uses: [] });
    expect(flush).toHaveBeenCalledTimes(flushes);
    await store.close();
  },
);

test("what is flushed is the log beside the file, also where the file was opened by a link", async () => {
  const [path, link] = [scratch.newPath(), scratch.newPath()];
  fs.writeFileSync(path, "");
  fs.symlinkSync(path, link);
  const store = sqliteStore(link);
  const flushed: number[] = [];
  flush.mockImplementationOnce((file, done) => {
    flushed.push(fs.fstatSync(file).ino);
    done(null);
  });
  await withKey(store);
  expect(flushed).toEqual([fs.statSync(`${path}-wal`).ino]);
  await store.close();
});

test("changes that are under way together share flushes", async () => {
  const store = sqliteStore(scratch.newPath());
  const numbers = Array.from({ length: 20 }, (_, index) => index + 1);
  await Promise.all(numbers.map((number) => withKey(store, number)));
  // One for those that were committed before it began, and one for those that came meanwhile.
  expect(flush.mock.calls.length).toBeLessThanOrEqual(2);
  expect((await load(store, 20)).record).toEqual(aRecord(20));
  await store.close();
});

test("where the log cannot be flushed it is copied into the file, which is", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  failFlushes(1);
  await withKey(store);
  expect(fs.statSync(`${path}-wal`).size).toBe(0);
  await store.close();
});

test("what may never reach the disk fails with an unknown outcome, and so does all after it until the file has it", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const reader = new Database(path);
  reader.exec("BEGIN; SELECT * FROM latchkey_record");
  failFlushes(1);
  const error = { code: "STORE_UNAVAILABLE", outcome: "unknown" };
  for (const number of [1, 2])
    await expect(commit(store, { puts: [{ record: aRecord(number) }] })).rejects.toMatchObject(
      error,
    );
  expect(flush).toHaveBeenCalledTimes(1);
  reader.close();
  await commit(store, { puts: [{ record: aRecord(3) }] });
  await commit(store, { puts: [{ record: aRecord(4) }] });
  expect(flush).toHaveBeenCalledTimes(2);
  await store.close();
});

test("a change whose flush has not begun when the store is closed is on the disk all the same", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const changes = [1, 2, 3].map((number) => commit(store, { puts: [{ record: aRecord(number) }] }));
  const closed = store.close();
  for (const change of changes) expect(await change).toMatchObject({ kind: "committed" });
  await closed;
  const reopened = sqliteStore(path);
  expect((await load(reopened, 3)).record).toEqual(aRecord(3));
  await reopened.close();
});
