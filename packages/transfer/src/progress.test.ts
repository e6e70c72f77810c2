import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interceptStore } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import type { ProgressListener, TransferProgress } from "./progress.js";
import { restore } from "./restore.js";
import { fill, latchkeyOn } from "./testing/fixture.js";

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

test("a live copy also reports what it copies of the changes made meanwhile", async () => {
  const from = memoryStore();
  await fill(from);
  const latchkey = latchkeyOn(from);
  const { apiId } = await latchkey.createApi({ name: "tides" });
  let changing: Promise<unknown> | undefined;
  const change = async () => {
    for (let number = 0; number < 600; number += 1) await latchkey.createKey({ apiId });
    await latchkey.limit({ namespace: "tides", identifier: "calls", limit: 10, duration: 60_000 });
  };
  const waiting = interceptStore(from, async (_, run) => {
    await changing;
    return run();
  });
  const following: TransferProgress[] = [];
  await copy(waiting, memoryStore(), {
    live: true,
    onProgress: (progress) => {
      changing ??= change();
      if (progress.phase === "following") following.push(progress);
    },
  });
  expect(following.length).toBeGreaterThan(3);
  const last = following.at(-1) as TransferProgress;
  expect(following[0]).toMatchObject({ workspaceId: "ws_default", done: 1, total: last.total });
  // The keys, their entries in the log, the limit, and what belongs to them.
  expect(last.total).toBeGreaterThan(1_200);
  expect(last.done).toBe(last.total);
});
