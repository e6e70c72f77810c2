import assert from "node:assert/strict";
import type { KeyStore } from "@latchkey/core";
import { it, type StoreContract } from "../fixtures/context.js";
import { takeUnits } from "../fixtures/plans.js";
import { aRecord, at, commit, OTHER_WORKSPACE, put, WORKSPACE } from "../fixtures/records.js";

/** All names that a store answers, each once, in ascending order. */
async function namesOf(store: KeyStore, workspaceId: string | null): Promise<readonly string[]> {
  const names = new Set<string>();
  let after: string | null = null;
  do {
    const page = await store.scan(workspaceId, after);
    for (const name of page.names) names.add(name);
    after = page.next;
  } while (after !== null);
  return [...names].sort();
}

/** What `scan` promises. */
export const scanContracts: readonly StoreContract[] = [
  it("workspaces that were written to are found, whatever was written", async (store, other) => {
    assert.deepEqual(await namesOf(store, null), []);
    await put(store, aRecord("identity"));
    await commit(store, { puts: [{ record: aRecord("api") }] }, OTHER_WORKSPACE);
    await commit(store, { revision: 1 }, "ws_third-_9");
    assert.deepEqual(await namesOf(other, null), [WORKSPACE, OTHER_WORKSPACE, "ws_third-_9"]);
  }),
  it("windows that a workspace keeps are found by name, and those of records are not", async (store, other) => {
    const names = ["!", "a:key_1:60000:a%20b(c)", "n:60000:x-_y", "~"];
    await commit(store, {
      puts: [
        {
          record: aRecord("key"),
          counters: { usage: { remaining: null, refilledAt: 0, lastRefillAt: null } },
        },
      ],
    });
    await takeUnits(store, at("key"), 1, "own");
    await takeUnits(store, null, 1, ...names);
    assert.deepEqual(await namesOf(other, WORKSPACE), names.toSorted());
    assert.deepEqual(await namesOf(other, OTHER_WORKSPACE), []);
    await commit(store, { dropWindows: ["~"] });
    assert.deepEqual(await namesOf(other, WORKSPACE), names.slice(0, 3).toSorted());
  }),
  it("more names than one answer holds are all found", async (store, other) => {
    const names = Array.from({ length: 2_500 }, (_, number) => `n:${10_000 + number}`);
    for (let from = 0; from < names.length; from += 50)
      await takeUnits(store, null, 1, ...names.slice(from, from + 50));
    assert.deepEqual(await namesOf(other, WORKSPACE), names);
  }),
];
