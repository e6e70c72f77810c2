import { type ChargePlan, type KeyStore, NO_CHANGES } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import {
  aKey,
  anIdentity,
  aPlan,
  aRotation,
  deleteKey,
  insertKey,
  keyIdOf,
  load,
  NOW,
  WORKSPACE,
  withKey,
} from "./testing/fixtures.js";
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

test("uses that keys share after a rotation are exact, whichever key and whichever connection takes them", async () => {
  const { here, there, loaded, close } = await twoConnections(30);
  await here.charge(aPlan(loaded));
  await there.rotateKey(WORKSPACE, loaded.key.id, 1, aRotation(loaded), NO_CHANGES);
  const plans = [aPlan(await load(here)), aPlan(await load(here, keyIdOf(2)))];
  for (let count = 0; count < 29; count += 1) {
    const store = count % 3 === 0 ? there : here;
    const result = await store.charge(plans[count % 2] as ChargePlan);
    expect(result).toMatchObject({ kind: "charged", remaining: 28 - count });
  }
  for (const store of [here, there]) {
    for (const plan of plans) expect((await store.charge(plan)).kind).toBe("usage-exceeded");
  }
  const usage = { due: null, operation: { kind: "set", remaining: 1 }, settledAt: 0 } as const;
  await there.updateKey(WORKSPACE, keyIdOf(2), 1, { usage }, NO_CHANGES);
  expect((await here.charge(plans[0] as ChargePlan)).kind).toBe("charged");
  expect((await here.charge(plans[1] as ChargePlan)).kind).toBe("usage-exceeded");
  await close();
});

test("a number of uses that is given to one key of a rotation binds the other, which had none", async () => {
  const { here, there, loaded, close } = await twoConnections(null);
  await here.rotateKey(WORKSPACE, loaded.key.id, 1, aRotation(loaded), NO_CHANGES);
  const plan = aPlan(await load(here));
  for (const store of [here, there]) {
    expect(await store.charge(plan)).toMatchObject({ kind: "charged", remaining: null });
  }
  const usage = { due: null, operation: { kind: "set", remaining: 1 }, settledAt: 0 } as const;
  await there.updateKey(WORKSPACE, keyIdOf(2), 1, { usage }, NO_CHANGES);
  expect(await here.charge(plan)).toMatchObject({ kind: "charged", remaining: 0 });
  expect((await there.charge(plan)).kind).toBe("usage-exceeded");
  await close();
});

test("uses of an identity are exact over its keys and over connections, and change under none of them unseen", async () => {
  const path = scratch.newPath();
  const here = sqliteStore(path);
  const there = sqliteStore(path);
  const identity = anIdentity();
  await here.insertIdentity(identity, { remaining: 20, refilledAt: NOW }, NO_CHANGES);
  const drawing = { usesFrom: "identity", identityId: identity.id } as const;
  await withKey(here, aKey(1, null, drawing));
  await insertKey(here, aKey(2, 5, drawing));
  const plans = [aPlan(await load(here)), aPlan(await load(here, keyIdOf(2)))];
  const chargeAt = (count: number, store: KeyStore) => store.charge(plans[count % 2] as ChargePlan);
  for (let count = 0; count < 20; count += 1) {
    const result = await chargeAt(count, count % 3 === 0 ? there : here);
    expect(result).toMatchObject({ kind: "charged", remaining: 19 - count });
  }
  for (const store of [here, there]) expect((await chargeAt(0, store)).kind).toBe("usage-exceeded");
  const usage = { due: null, operation: { kind: "set", remaining: 1 }, settledAt: 0 } as const;
  await there.updateIdentity(WORKSPACE, identity.id, 1, { usage }, NO_CHANGES);
  expect(await chargeAt(1, here)).toMatchObject({ kind: "charged", remaining: 0 });
  expect((await load(here, keyIdOf(2))).usage.remaining).toBe(5);
  await there.deleteIdentity(WORKSPACE, identity.id, NO_CHANGES);
  expect(await chargeAt(0, here)).toEqual({ kind: "stale" });
  expect((await here.charge(aPlan(await load(here)))).kind).toBe("usage-exceeded");
  await Promise.all([here.close(), there.close()]);
});

test("a key that is made again under the id of one that was deleted for good is charged as itself", async () => {
  const { here, there, loaded, close } = await twoConnections(9);
  await here.charge(aPlan(loaded));
  await deleteKey(there, 1, true);
  await insertKey(there, aKey(2, 3));
  await insertKey(there, aKey(1, 2));
  expect(await here.charge(aPlan(loaded))).toMatchObject({ kind: "charged", remaining: 1 });
  await close();
});
