import { readdirSync, readlinkSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { sqliteStore } from "../index.js";
import { aRecord, commit } from "../testing/fixtures.js";
import { openScratch } from "../testing/scratch.js";
import { LogFile } from "./log-file.js";

/** Only against hanging: a busy machine may take longer than the default of one second. */
const PATIENTLY = { timeout: 60_000 };

const scratch = openScratch();
afterAll(() => scratch.remove());

const FOLDER = "/proc/self/fd";

/** The numbers of this process's open descriptors of a file. */
function descriptorsOf(path: string): readonly string[] {
  return readdirSync(FOLDER).filter((number) => {
    try {
      return [path, `${path} (deleted)`].includes(readlinkSync(`${FOLDER}/${number}`));
    } catch {
      return false;
    }
  });
}

describe.runIf(process.platform === "linux")("the log of an open store", () => {
  test("is flushed through the descriptor that was open before it was written to, and is closed with the store", async () => {
    const path = scratch.newPath();
    const store = sqliteStore(path);
    const before = descriptorsOf(`${path}-wal`);
    // SQLite's own, and the store's.
    expect(before).toHaveLength(2);
    for (const number of [1, 2, 3]) await commit(store, { puts: [{ record: aRecord(number) }] });
    expect(descriptorsOf(`${path}-wal`)).toEqual(before);
    await store.close();
    await vi.waitUntil(() => descriptorsOf(`${path}-wal`).length === 0, PATIENTLY);
  });
});

describe("a log that another file has replaced", () => {
  function aLogFile() {
    const path = scratch.newPath();
    writeFileSync(path, "a");
    const file = new LogFile(path);
    onTestFinished(() => file.close());
    return { path, file };
  }

  test("is not flushed at first, since its past is unknown; the next time it is", async () => {
    const { path, file } = aLogFile();
    expect(await file.flush()).toBe(true);
    renameSync(path, `${path}-old`);
    writeFileSync(path, "b");
    expect(await file.flush()).toBe(false);
    expect(await file.flush()).toBe(true);
  });

  test("is not flushed while there is no file", async () => {
    const { path, file } = aLogFile();
    rmSync(path);
    expect([await file.flush(), await file.flush()]).toEqual([false, false]);
    writeFileSync(path, "b");
    expect([await file.flush(), await file.flush()]).toEqual([false, true]);
  });
});
