import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { createLatchkey, type KeyStore } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { sqliteStore } from "../index.js";
import { aPlan, aRecord, charge, commit, load, WORKSPACE, withKey } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";
import { Log } from "./log.js";
import { LogFile } from "./log-file.js";

/** Only against hanging: a busy machine may take longer than the default of one second. */
const PATIENTLY = { timeout: 60_000 };

const scratch = openScratch();
afterAll(() => scratch.remove());

const UNKNOWN = { code: "STORE_UNAVAILABLE", outcome: "unknown" };

/** A log with something in it, on a disk whose flushes the caller controls. */
function openLog(path = scratch.newPath()) {
  const database = new Database(path, { timeout: 2 });
  onTestFinished(() => void database.close());
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE note (text TEXT)");
  const flush = vi.fn(async () => true);
  const opened: string[] = [];
  const log = new Log(database, (file) => {
    opened.push(file);
    return { flush, close: () => undefined };
  });
  return { log, flush, opened, size: () => statSync(`${path}-wal`).size, path };
}

test.each(["normal", "full"] as const)(
  "a change of records waits for the disk, a charge and statistics if durability is full (%s)",
  async (durability) => {
    const flush = vi.spyOn(Log.prototype, "flush");
    onTestFinished(() => flush.mockRestore());
    const store = sqliteStore(scratch.newPath(), { durability });
    const loaded = await withKey(store, 1, 5);
    expect(flush).toHaveBeenCalledTimes(1);
    await charge(store, aPlan(loaded));
    await store.addStatistics(WORKSPACE, { counts: [], uses: [] });
    expect(flush).toHaveBeenCalledTimes(durability === "full" ? 3 : 1);
    await store.close();
  },
);

test("the log beside the file is flushed, even if the file was opened through a link", async () => {
  const [path, link] = [scratch.newPath(), scratch.newPath()];
  writeFileSync(path, "");
  symlinkSync(path, link);
  const { opened } = openLog(link);
  expect(opened).toEqual([`${path}-wal`]);
});

test("calls during a flush share the next one, and do not rely on the current one", async () => {
  const { log, flush } = openLog();
  let finish: (isFlushed: boolean) => void = () => {};
  flush.mockReturnValueOnce(new Promise((resolve) => (finish = resolve)));
  const first = log.flush();
  await vi.waitUntil(() => flush.mock.calls.length === 1, PATIENTLY);
  const others = [log.flush(), log.flush(), log.flush()];
  finish(true);
  await first;
  await Promise.all(others);
  expect(flush).toHaveBeenCalledTimes(2);
});

test("a log that cannot be flushed is copied into the file, which is flushed", async () => {
  const { log, flush, size } = openLog();
  expect(size()).toBeGreaterThan(0);
  flush.mockResolvedValueOnce(false);
  await log.flush();
  expect(size()).toBe(0);
});

test("a change that may never reach the disk fails with an unknown outcome, as do all later ones until the file has them", async () => {
  const { log, flush, path } = openLog();
  const reader = new Database(path);
  reader.exec("BEGIN; SELECT * FROM note");
  flush.mockResolvedValueOnce(false);
  await expect(log.flush()).rejects.toMatchObject(UNKNOWN);
  await expect(log.flush()).rejects.toMatchObject(UNKNOWN);
  expect(flush).toHaveBeenCalledTimes(1);
  reader.close();
  await log.flush();
  await log.flush();
  expect(flush).toHaveBeenCalledTimes(2);
});

test("on a disk that never answers every change fails in time with an unknown outcome, and succeeds once it answers", async () => {
  const store = sqliteStore(scratch.newPath());
  const answers: ((isFlushed: boolean) => void)[] = [];
  const flush = vi
    .spyOn(LogFile.prototype, "flush")
    .mockImplementation(() => new Promise((resolve) => answers.push(resolve)));
  onTestFinished(() => flush.mockRestore());
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const write = (number: number) => commit(store, { puts: [{ record: aRecord(number) }] });
  const first = expect(write(1)).rejects.toMatchObject(UNKNOWN);
  await vi.advanceTimersByTimeAsync(1_000);
  // This one waits for the flush after the stuck one.
  const second = expect(write(2)).rejects.toMatchObject(UNKNOWN);
  await vi.advanceTimersByTimeAsync(5_000);
  await Promise.all([first, second]);
  expect((await load(store, 2)).record).toEqual(aRecord(2));
  const third = write(3);
  for (const answer of answers) answer(true);
  flush.mockRestore();
  expect(await third).toMatchObject({ kind: "committed" });
  await store.close();
});

test("a change whose flush has not begun when the store is closed still reaches the disk", async () => {
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

test("a change that finds nothing to change waits for the disk as well, whichever store wrote what it found", async () => {
  const path = scratch.newPath();
  const [first, second] = [sqliteStore(path), sqliteStore(path)];
  const { apiId } = await createLatchkey({ store: first }).createApi({ name: "before" });
  const flushes: ((isFlushed: boolean) => void)[] = [];
  const flush = vi
    .spyOn(LogFile.prototype, "flush")
    .mockImplementation(() => new Promise((resolve) => flushes.push(resolve)));
  onTestFinished(() => flush.mockRestore());
  const settled: string[] = [];
  const rename = (store: KeyStore, name: string) =>
    createLatchkey({ store })
      .updateApi({ apiId, name: "after" })
      .then(
        () => settled.push(name),
        () => settled.push(`${name} failed`),
      );
  const calls = [rename(first, "first")];
  await vi.waitUntil(() => flushes.length === 1, PATIENTLY);
  calls.push(rename(second, "second"));
  await vi.waitUntil(() => flushes.length === 2, PATIENTLY);
  expect(settled).toEqual([]);
  flushes[1]?.(true);
  await calls[1];
  expect(settled).toEqual(["second"]);
  flushes[0]?.(true);
  await Promise.all(calls);
  flush.mockRestore();
  await Promise.all([first.close(), second.close()]);
});
