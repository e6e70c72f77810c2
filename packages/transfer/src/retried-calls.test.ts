import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ChargePlan,
  EMPTY_CHANGE,
  interceptStore,
  type KeyStore,
  LatchkeyError,
} from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import { afterAll, describe, expect, test } from "vitest";
import { backup } from "./backup.js";
import { copy } from "./copy.js";
import { restore } from "./restore.js";
import { withRetriedCalls } from "./retried-calls.js";
import { assertArrived, fill } from "./testing/fixture.js";

const folder = mkdtempSync(join(tmpdir(), "latchkey-retried-"));
const silent = (outcome: "not-applied" | "unknown" = "unknown") =>
  new LatchkeyError("STORE_UNAVAILABLE", "the store did not answer", { outcome });

/** A store that fails at the calls with these numbers, from 1 on, and the number of calls so far. */
function failingAt(store: KeyStore, fails: (call: number) => boolean, error = () => silent()) {
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

  test.each([true, false])(
    "are repeated, and so are writes that were not applied: a copy, live %s, is complete although both stores were away",
    async (live) => {
      const source = memoryStore();
      const filled = await fill(source);
      const opened = () => [source, memoryStore()] as const;
      const counted = opened().map((store) => failingAt(store, () => false));
      await copy(counted[0]?.failing as KeyStore, counted[1]?.failing as KeyStore);
      const [from, to] = opened();
      const away = [from, to].map((store, side) => {
        const third = Math.floor((counted[side]?.made.calls ?? 0) / 3);
        const fails = (call: number) => call >= third && call % third < 2;
        return failingAt(store, fails, () => silent("not-applied"));
      });
      await copy(away[0]?.failing as KeyStore, away[1]?.failing as KeyStore, { live });
      await assertArrived(to, filled);
    },
  );

  test("are repeated alone: a write that may have been applied is not, and a charge that takes nothing is a read", async () => {
    const store = memoryStore();
    await fill(store);
    const made: string[] = [];
    const silentOnce = interceptStore(store, async ({ method }, run) => {
      made.push(method);
      if (made.filter((each) => each === method).length === 1) throw silent("unknown");
      return run();
    });
    const retried = withRetriedCalls(silentOnce, [1]);
    await expect(retried.scan(null, null)).rejects.toMatchObject({ outcome: "unknown" });
    await retried.scan(null, null);
    const commit = () => retried.commit("ws_default", EMPTY_CHANGE);
    await expect(commit()).rejects.toMatchObject({ outcome: "unknown" });
    const plan: ChargePlan = {
      workspaceId: "ws_default",
      revision: null,
      confirms: [],
      mode: "peek",
      cost: 0,
      uses: null,
      limits: [],
    };
    await retried.charge(plan, { now: 1, refill: null });
    expect(made).toEqual(["scan", "scan", "commit", "charge", "charge"]);
  });

  test("fail with its error if it stays away", async () => {
    const { failing, made } = failingAt(memoryStore(), (call) => call > 1);
    const store = withRetriedCalls(failing, [1, 1, 1]);
    await store.scan(null, null);
    await expect(store.scan(null, null)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(made.calls).toBe(1 + 4);
  });

  test("fail at once if it never answered, or for another reason", async () => {
    const never = failingAt(memoryStore(), () => true);
    const first = withRetriedCalls(never.failing).scan(null, null);
    await expect(first).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(never.made.calls).toBe(1);
    const corrupt = () => new LatchkeyError("STORE_CORRUPT", "the store is damaged");
    const damaged = failingAt(memoryStore(), (call) => call > 1, corrupt);
    const store = withRetriedCalls(damaged.failing);
    await store.scan(null, null);
    await expect(store.scan(null, null)).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    expect(damaged.made.calls).toBe(2);
  });
});
