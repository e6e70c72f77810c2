import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryStore } from "@latchkey/memory";
import { afterAll, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import type { ProgressListener } from "./progress.js";
import { restore } from "./restore.js";
import { fill } from "./testing/fixture.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-progress-"));

afterAll(() => rmSync(folder, { recursive: true }));

test("every transfer reports the total number of records from its first part on", async () => {
  const from = memoryStore();
  await fill(from);
  const path = join(folder, "keys.lkb");
  const transfers: readonly ((onProgress: ProgressListener) => Promise<unknown>)[] = [
    (onProgress) => backup(from, path, { onProgress }),
    (onProgress) => restore(memoryStore(), path, { onProgress }),
    (onProgress) => copy(from, memoryStore(), { onProgress }),
    (onProgress) => copy(from, memoryStore(), { live: true, onProgress }),
  ];
  const said: string[][] = [];
  for (const transfer of transfers) {
    const totals = new Set<string>();
    const done = new Map<string, number>();
    await transfer((progress) => {
      totals.add(`${progress.phase} ${progress.total}`);
      done.set(progress.phase, progress.done);
    });
    expect([...new Set(done.values())]).toEqual([36]);
    said.push([...totals]);
  }
  const both = ["copying 36", "verifying 36"];
  expect(said).toEqual([["copying 36"], both, both, both]);
});
