import assert from "node:assert/strict";
import { it, type StoreContract } from "../fixtures/context.js";
import { scanAll } from "../fixtures/pages.js";
import { takeUnits } from "../fixtures/plans.js";
import {
  aRecord,
  at,
  commit,
  OTHER_WORKSPACE,
  put,
  putWithUses,
  WORKSPACE,
} from "../fixtures/records.js";

/** The promises of `scan`. */
export const scanContracts: readonly StoreContract[] = [
  it("workspaces that were written to are found, whatever was written", async (store, other) => {
    assert.deepEqual(await scanAll(store, null), []);
    await put(store, aRecord("identity"));
    await commit(store, { puts: [{ record: aRecord("api") }] }, OTHER_WORKSPACE);
    await commit(store, { revision: 1 }, "ws_third-_9");
    assert.deepEqual(await scanAll(other, null), [WORKSPACE, OTHER_WORKSPACE, "ws_third-_9"]);
  }),
  it("windows that a workspace keeps are found by name, and those of records are not", async (store, other) => {
    const names = ["!", "a:key_1:60000:a%20b(c)", "n:60000:x-_y", "~"];
    await putWithUses(store, aRecord("key"));
    await takeUnits(store, at("key"), 1, "own");
    await takeUnits(store, null, 1, ...names);
    assert.deepEqual(await scanAll(other, WORKSPACE), names.toSorted());
    assert.deepEqual(await scanAll(other, OTHER_WORKSPACE), []);
    await commit(store, { dropWindows: ["~"] });
    assert.deepEqual(await scanAll(other, WORKSPACE), names.slice(0, 3).toSorted());
  }),
  it("the windows of all workspaces at once, where the store has that, are those of each", async (store, other) => {
    if (other.scanWindows === undefined) return;
    await commit(store, { puts: [{ record: aRecord("identity") }] }, OTHER_WORKSPACE);
    const names = ["a:key_1:60000:a%20b(c)", "n:60000:x-_y"];
    await takeUnits(store, null, 1, ...names);
    const found = new Map<string, Set<string>>();
    for (let after: string | null = null; ; ) {
      const { windows, next } = await other.scanWindows(after);
      for (const [id, some] of windows) found.set(id, new Set([...(found.get(id) ?? []), ...some]));
      if (next === null) break;
      after = next;
    }
    assert.deepEqual([...found.keys()], [WORKSPACE]);
    assert.deepEqual([...(found.get(WORKSPACE) ?? [])].sort(), names);
  }),
  it("more names than one answer holds are all found", async (store, other) => {
    const names = Array.from({ length: 2_500 }, (_, number) => `n:${10_000 + number}`);
    for (let from = 0; from < names.length; from += 50)
      await takeUnits(store, null, 1, ...names.slice(from, from + 50));
    assert.deepEqual(await scanAll(other, WORKSPACE), names);
  }),
];
