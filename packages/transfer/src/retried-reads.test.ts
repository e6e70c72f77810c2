import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interceptStore, type KeyStore, LatchkeyError } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { restore } from "./restore.js";
import { withRetriedReads } from "./retried-reads.js";
import { assertArrived, fill } from "./testing/fixture.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-retried-"));
const silent = () => new LatchkeyError("STORE_UNAVAILABLE", "the store did not answer");

/** A store that fails at the calls with these numbers, from 1 on, and the number of calls so far. */
function failingAt(store: KeyStore, fails: (call: number) => boolean, error = silent) {
  const made = { calls: 0 };
  const failing = interceptStore(store, async (_, run) => {
    made.calls += 1;
    if (fails(made.calls)) throw error();
    return run();
  });
  return { failing, made };
}

afterAll(() => rmSync(folder, { recursive: true }));

describe("reads of a store that does not answer", () => {
  test("are repeated, so a backup is complete although the store was away", async () => {
    const store = memoryStore();
    const filled = await fill(store);
    const counted = failingAt(store, () => false);
    await backup(counted.failing, join(folder, "counted.lkb"));
    // At the end of each third: twice in a row, as in a failover.
    const third = Math.floor(counted.made.calls / 3);
    const { failing } = failingAt(store, (call) => call >= third && call % third < 2);
    const path = join(folder, "away.lkb");
    await backup(failing, path);
    const to = memoryStore();
    await restore(to, path);
    await assertArrived(to, filled);
  });

  test("fail with its error if it stays away", async () => {
    const { failing, made } = failingAt(memoryStore(), (call) => call > 1);
    const store = withRetriedReads(failing, [1, 1, 1]);
    await store.scan(null, null);
    await expect(store.scan(null, null)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(made.calls).toBe(1 + 4);
  });

  test("fail at once if it never answered, or for another reason", async () => {
    const never = failingAt(memoryStore(), () => true);
    const first = withRetriedReads(never.failing).scan(null, null);
    await expect(first).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(never.made.calls).toBe(1);
    const corrupt = () => new LatchkeyError("STORE_CORRUPT", "the store is damaged");
    const damaged = failingAt(memoryStore(), (call) => call > 1, corrupt);
    const store = withRetriedReads(damaged.failing);
    await store.scan(null, null);
    await expect(store.scan(null, null)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(damaged.made.calls).toBe(2);
  });
});
