import { NO_CHANGES } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { aKey, aPlan, deleteKey, load, WORKSPACE, withKey } from "./testing/fixtures.js";
import { openScratch } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

async function twoConnections(remaining: number | null) {
  const path = scratch.newPath();
  const here = sqliteStore(path);
  const loaded = await withKey(here, aKey(1, remaining));
  const there = sqliteStore(path);
  const close = () => Promise.all([here.close(), there.close()]);
  return { path, here, there, loaded, close };
}

test.each([null, 100])(
  "a key that was confirmed before is stale at once when another connection changes it (uses: %s)",
  async (remaining) => {
    const { here, there, loaded, close } = await twoConnections(remaining);
    const plan = aPlan(loaded);
    for (let count = 0; count < 20; count += 1) {
      expect((await here.charge(plan)).kind).toBe("charged");
    }
    await there.updateKey(WORKSPACE, loaded.key.id, 1, { switchedOn: false }, NO_CHANGES);
    expect(await here.charge(plan)).toEqual({ kind: "stale" });
    await close();
  },
);

test("every way in which another connection can take a key away is seen by the next charge", async () => {
  const { here, there, loaded, close } = await twoConnections(null);
  await here.charge(aPlan(loaded));
  await there.setWorkspaceEnabled(WORKSPACE, false, NO_CHANGES);
  expect(await here.charge(aPlan(loaded))).toEqual({ kind: "stale" });
  const fresh = await load(here);
  expect((await here.charge(aPlan(fresh))).kind).toBe("charged");
  const usage = { due: null, operation: { kind: "set", remaining: 1 }, settledAt: 0 } as const;
  await there.updateKey(WORKSPACE, loaded.key.id, 1, { usage }, NO_CHANGES);
  expect(await here.charge(aPlan(fresh))).toMatchObject({ kind: "charged", remaining: 0 });
  expect((await there.charge(aPlan(fresh))).kind).toBe("usage-exceeded");
  await deleteKey(there);
  expect(await here.charge(aPlan(fresh))).toEqual({ kind: "stale" });
  await close();
});

test("charges stay exact while another connection commits before each of them", async () => {
  const { path, here, there, loaded, close } = await twoConnections(50);
  const noise = new Database(path);
  noise.exec("CREATE TABLE noise (n INTEGER)");
  for (let count = 0; count < 50; count += 1) {
    noise.exec("INSERT INTO noise VALUES (1)");
    const result = await (count % 3 === 0 ? there : here).charge(aPlan(loaded));
    expect(result).toMatchObject({ kind: "charged", remaining: 49 - count });
  }
  noise.exec("INSERT INTO noise VALUES (1)");
  expect((await here.charge(aPlan(loaded))).kind).toBe("usage-exceeded");
  noise.close();
  await close();
});

test("a charge that could not be written is not remembered as taken", async () => {
  const database = new Database(scratch.newPath());
  const store = sqliteStore(database);
  const loaded = await withKey(store, aKey(1, 5));
  await store.charge(aPlan(loaded));
  database.pragma("query_only = ON");
  await expect(store.charge(aPlan(loaded))).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
  database.pragma("query_only = OFF");
  expect(await store.charge(aPlan(loaded))).toMatchObject({ remaining: 3 });
  expect((await load(store)).usage.remaining).toBe(3);
  database.close();
});
