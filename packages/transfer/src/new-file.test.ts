import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import fs from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@latchkey/memory";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { backup } from "./backup.js";
import { giveName, partialPathOf } from "./new-file.js";
import { restore } from "./restore.js";
import { assertArrived, type Filled, fill } from "./testing/fixture.js";

const store = memoryStore();
let filled: Filled;

beforeAll(async () => {
  filled = await fill(store);
});

function aFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-new-file-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const errorOf = (code: string) => Object.assign(new Error(code), { code });

/** Makes a file system function fail, as on file systems that do not support it. */
function failing(name: "link" | "rename", code: string): void {
  const spy = vi.spyOn(fs, name).mockRejectedValue(errorOf(code));
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Makes flushing a folder fail. Resolves to a function that returns the number of attempts. */
async function failingFlush(code: string): Promise<() => number> {
  const handle = await fs.open(tmpdir(), "r");
  const spy = vi.spyOn(Object.getPrototypeOf(handle), "sync").mockRejectedValue(errorOf(code));
  await handle.close();
  onTestFinished(() => spy.mockRestore());
  return () => spy.mock.calls.length;
}

const WITHOUT_LINKS = ["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];

describe("a backup", () => {
  test.each([
    ["255 letters", "k".repeat(255)],
    ["85 characters of three bytes", "鍵".repeat(85)],
    ["63 characters of four bytes", "🔑".repeat(63)],
  ])("may have a name of %s, the maximum", async (_, name) => {
    const folder = aFolder();
    await backup(store, join(folder, name));
    expect(readdirSync(folder)).toEqual([name]);
  });

  test.each(WITHOUT_LINKS)(
    "is written on a file system without hard links, which answers %s",
    async (code) => {
      failing("link", code);
      const folder = aFolder();
      const path = join(folder, "keys.lkb");
      await backup(store, path);
      expect(readdirSync(folder)).toEqual(["keys.lkb"]);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      const to = memoryStore();
      await restore(to, path);
      await assertArrived(to, filled);
    },
  );

  test("is written if its folder cannot be flushed", async () => {
    const tries = await failingFlush("EPERM");
    const folder = aFolder();
    await backup(store, join(folder, "keys.lkb"));
    expect(tries()).toBe(1);
    expect(readdirSync(folder)).toEqual(["keys.lkb"]);
  });

  test("fails if the disk of its folder fails", async () => {
    await failingFlush("EIO");
    await expect(backup(store, join(aFolder(), "keys.lkb"))).rejects.toThrow("EIO");
  });
});

describe("giving a file its name", () => {
  test.each(["has", "has no"])(
    "replaces no file that appeared meanwhile, if the file system %s hard links",
    async (has) => {
      if (has === "has no") failing("link", "EPERM");
      const path = join(aFolder(), "keys.jsonl");
      const partial = partialPathOf(path);
      writeFileSync(partial, "mine");
      writeFileSync(path, "theirs");
      await expect(giveName(partial, path)).rejects.toMatchObject({ code: "EEXIST" });
      expect(readFileSync(path, "utf8")).toBe("theirs");
    },
  );

  test("leaves no empty file if it fails halfway", async () => {
    failing("link", "EPERM");
    failing("rename", "EIO");
    const folder = aFolder();
    const path = join(folder, "keys.jsonl");
    const partial = partialPathOf(path);
    writeFileSync(partial, "mine");
    await expect(giveName(partial, path)).rejects.toThrow("EIO");
    rmSync(partial);
    expect(readdirSync(folder)).toEqual([]);
  });

  test("fails with any other error of a link", async () => {
    failing("link", "ENOSPC");
    const path = join(aFolder(), "keys.jsonl");
    writeFileSync(partialPathOf(path), "mine");
    await expect(giveName(partialPathOf(path), path)).rejects.toThrow("ENOSPC");
  });
});
