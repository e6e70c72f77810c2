import { type ChargePlan, EMPTY_CHANGE, type KeyStore, type Want } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import {
  aLimit,
  anIdentity,
  aPlan,
  aRecord,
  charge,
  commit,
  deleteKey,
  hashOf,
  keyIdOf,
  load,
  WORKSPACE,
  withKey,
  withUses,
} from "../testing/fixtures.js";
import { copyDatabase, openScratch } from "../testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const SET_TO_1 = { due: null, operation: { kind: "set", remaining: 1 }, restartsAt: null } as const;

async function twoConnections(remaining: number | null) {
  const path = scratch.newPath();
  const here = sqliteStore(path);
  const loaded = await withKey(here, 1, remaining);
  const there = sqliteStore(path);
  const close = () => Promise.all([here.close(), there.close()]);
  return { path, here, there, loaded, close };
}

test.each([null, 100])(
  "a confirmed record is stale as soon as another connection changes it (uses: %s)",
  async (remaining) => {
    const { here, there, loaded, close } = await twoConnections(remaining);
    const plan = aPlan(loaded);
    for (let count = 0; count < 20; count += 1)
      expect((await charge(here, plan)).kind).toBe("charged");
    await commit(there, { puts: [{ record: aRecord(1, { version: 2 }) }] });
    for (const same of [plan, aPlan(loaded)])
      expect(await charge(here, same)).toEqual({ kind: "stale", moved: 0 });
    await close();
  },
);

test("the next charge sees every way in which another connection can take a record away", async () => {
  const { here, there, loaded, close } = await twoConnections(null);
  const plan = aPlan(loaded, { revision: 0 });
  expect((await charge(here, plan)).kind).toBe("charged");
  await commit(there, { revision: 1 });
  expect(await charge(here, plan)).toEqual({ kind: "stale", moved: "revision" });
  const fresh = aPlan(loaded, { revision: 1 });
  expect((await charge(here, fresh)).kind).toBe("charged");
  await commit(there, { counters: [{ kind: "key", id: keyIdOf(1), usage: SET_TO_1 }] });
  expect(await charge(here, fresh)).toMatchObject({ kind: "charged", remaining: 0 });
  expect((await charge(there, fresh)).kind).toBe("usage-exceeded");
  await deleteKey(there);
  expect(await charge(here, fresh)).toEqual({ kind: "stale", moved: 0 });
  await close();
});

test("after charges and new records of another connection only counters are read again, after a change everything", async () => {
  const path = scratch.newPath();
  const statements: string[] = [];
  const database = new Database(path, { verbose: (sql) => statements.push(String(sql)) });
  const here = sqliteStore(database);
  const loaded = await withKey(here, 1, 100);
  const [plan, planThere] = [aPlan(loaded), aPlan(loaded)];
  const there = sqliteStore(path);
  const chargeHere = async () => {
    statements.length = 0;
    const result = await charge(here, plan);
    return { result, readsRecords: statements.some((sql) => sql.includes("latchkey_record")) };
  };
  await charge(there, planThere);
  await charge(here, plan);
  await charge(there, planThere);
  const charged = (remaining: number) => ({ kind: "charged", remaining });
  expect(await chargeHere()).toMatchObject({ result: charged(96), readsRecords: false });
  await commit(there, { puts: [{ record: aRecord(2) }] });
  expect(await chargeHere()).toMatchObject({ result: charged(95), readsRecords: false });
  await commit(there, { puts: [{ record: aRecord(2, { version: 2 }) }] });
  expect(await chargeHere()).toMatchObject({ result: charged(94), readsRecords: true });
  await there.close();
  database.close();
});

test("a change is seen even if a backup with as many changes replaces the content of the file", async () => {
  const [path, backup] = [scratch.newPath(), scratch.newPath()];
  const here = sqliteStore(path);
  const plan = aPlan(await withKey(here, 1, 100));
  await charge(here, plan);
  await copyDatabase(path, backup);
  const later = aPlan(await withKey(here, 2, 100));
  for (const each of [plan, later]) expect((await charge(here, each)).kind).toBe("charged");
  const restored = sqliteStore(backup);
  await commit(restored, { puts: [{ record: aRecord(3) }] });
  await restored.close();
  await copyDatabase(backup, path);
  expect(await charge(here, later)).toEqual({ kind: "stale", moved: 0 });
  expect(await charge(here, plan)).toMatchObject({ kind: "charged", remaining: 98 });
  await here.close();
});

test("numbers of names that a restored backup lacks are no longer used", async () => {
  const [path, backup] = [scratch.newPath(), scratch.newPath()];
  const here = sqliteStore(path);
  const inWorkspace = (id: string, version: number) =>
    here.commit(id, { ...EMPTY_CHANGE, puts: [{ record: aRecord(1, { version }) }] });
  const readIn = async (id: string, want: Want) => (await here.read(id, [want])).found[0] ?? null;
  await inWorkspace("ws_one", 1);
  await copyDatabase(path, backup);
  await withKey(here, 2, 5);
  await inWorkspace("ws_two", 2);
  await copyDatabase(backup, path);
  // Workspaces and the claims of hashes get new numbers: the first may be the same as before.
  await inWorkspace("ws_three", 3);
  const first = { kind: "key", id: keyIdOf(1) } as const;
  expect(await readIn("ws_two", first)).toBeNull();
  expect(await readIn(WORKSPACE, hashOf(2))).toBeNull();
  await withKey(here, 2, 5);
  await here.close();
  const again = sqliteStore(path);
  const { found } = await again.read(WORKSPACE, [hashOf(2)]);
  expect(found[0]?.record.id).toBe(keyIdOf(2));
  expect((await again.read("ws_three", [first])).found[0]?.record.version).toBe(3);
  await again.close();
});

test("a missing record is found as soon as it exists", async () => {
  const { here, there, loaded, close } = await twoConnections(9);
  const none = { kind: "identity", id: anIdentity().id, version: null } as const;
  const confirms = [...aPlan(loaded).confirms, none];
  for (const mode of ["peek", "commit"] as const) {
    const plan = aPlan(loaded, { confirms, mode });
    expect((await charge(here, plan)).kind).toBe("charged");
    await commit(there, { puts: [{ record: anIdentity() }] });
    expect(await charge(here, plan)).toEqual({ kind: "stale", moved: 1 });
    await commit(there, { deletes: [anIdentity()] });
  }
  await close();
});

test("a record that was read by a name is charged as it is now, not as it was read", async () => {
  const { here, there, close } = await twoConnections(5);
  const { found } = await here.read(WORKSPACE, [hashOf(1)]);
  const [loaded] = found;
  if (!loaded) throw new Error("the key is gone");
  await charge(there, aPlan(loaded));
  expect(await charge(here, aPlan(loaded))).toMatchObject({ kind: "charged", remaining: 3 });
  await here.read(WORKSPACE, [hashOf(1)]);
  await commit(there, { puts: [{ record: aRecord(1, { version: 2 }) }] });
  expect(await charge(here, aPlan(loaded))).toEqual({ kind: "stale", moved: 0 });
  await close();
});

test("charges stay exact while another connection commits before each of them", async () => {
  const { path, here, there, loaded, close } = await twoConnections(50);
  const plans = [aPlan(loaded), aPlan(loaded)] as const;
  const noise = new Database(path);
  noise.exec("CREATE TABLE noise (n INTEGER)");
  for (let count = 0; count < 50; count += 1) {
    noise.exec("INSERT INTO noise VALUES (1)");
    const [store, plan] = count % 3 === 0 ? [there, plans[0]] : [here, plans[1]];
    const result = await charge(store, plan);
    expect(result).toMatchObject({ kind: "charged", remaining: 49 - count });
  }
  noise.exec("INSERT INTO noise VALUES (1)");
  expect((await charge(here, plans[0])).kind).toBe("usage-exceeded");
  noise.close();
  await close();
});

test("a charge that could not be written is not remembered as taken", async () => {
  const database = new Database(scratch.newPath());
  const store = sqliteStore(database);
  const plan = aPlan(await withKey(store, 1, 5));
  await charge(store, plan);
  database.pragma("query_only = ON");
  await expect(charge(store, plan)).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    outcome: "not-applied",
  });
  database.pragma("query_only = OFF");
  expect(await charge(store, plan)).toMatchObject({ remaining: 3 });
  expect((await load(store)).usage?.remaining).toBe(3);
  database.close();
});

test("counters that records share are exact, whichever record and whichever connection takes from them", async () => {
  const { here, there, loaded, close } = await twoConnections(30);
  await charge(here, aPlan(loaded));
  const counters = { sharedWith: keyIdOf(1) };
  await commit(there, { puts: [{ record: aRecord(2), counters }] });
  const limits = [{ ...aLimit("a", 0), limit: 29 }];
  const plans = [aPlan(loaded, { limits }), aPlan(await load(here, 2), { limits })];
  for (let count = 0; count < 29; count += 1) {
    const store = count % 3 === 0 ? there : here;
    const result = await charge(store, plans[count % 2] as ChargePlan);
    expect(result).toMatchObject({ remaining: 28 - count, limits: [{ remaining: 28 - count }] });
  }
  for (const store of [here, there])
    for (const plan of plans) expect((await charge(store, plan)).kind).toBe("rate-limited");
  await commit(there, {
    counters: [{ kind: "key", id: keyIdOf(2), usage: SET_TO_1, keepWindows: [] }],
  });
  expect((await charge(here, plans[0] as ChargePlan)).kind).toBe("charged");
  expect((await charge(here, plans[1] as ChargePlan)).kind).toBe("usage-exceeded");
  await close();
});

test("two records of one plan that share their counters take from them together", async () => {
  const { here, loaded, close } = await twoConnections(5);
  await commit(here, { puts: [{ record: aRecord(2), counters: { sharedWith: keyIdOf(1) } }] });
  const limits = [aLimit("a", 1), { ...aLimit("b", 0), cost: 2 }];
  const plan = aPlan([loaded, await load(here, 2)], { limits });
  await charge(here, plan);
  expect(await charge(here, plan)).toMatchObject({
    remaining: 3,
    limits: [{ remaining: 8 }, { remaining: 6 }],
  });
  const again = aPlan(await load(here, 2), { mode: "peek", cost: 0, limits: [aLimit("b", 0)] });
  expect(await charge(here, again)).toMatchObject({ remaining: 3, limits: [{ remaining: 5 }] });
  await close();
});

test("uses of an identity are exact over its keys and over connections, and no connection misses a change of them", async () => {
  const { here, there, close } = await twoConnections(null);
  const identity = anIdentity();
  await commit(here, { puts: [withUses(identity, 20)] });
  const link = identity.id;
  const keys = [await withKey(here, 2, null, { link }), await withKey(here, 3, 5, { link })];
  const plans = keys.map((key) => {
    if (key.linked === null) throw new Error("no identity");
    return aPlan([key, { ...key.linked, linked: null }], { uses: 1 });
  }) as [ChargePlan, ChargePlan];
  for (let count = 0; count < 20; count += 1) {
    const result = await charge(count % 3 === 0 ? there : here, plans[count % 2] as ChargePlan);
    expect(result).toMatchObject({ kind: "charged", remaining: 19 - count });
  }
  for (const store of [here, there])
    expect((await charge(store, plans[0])).kind).toBe("usage-exceeded");
  await commit(there, { counters: [{ kind: "identity", id: link, usage: SET_TO_1 }] });
  expect(await charge(here, plans[1])).toMatchObject({ kind: "charged", remaining: 0 });
  expect((await load(here, 3)).usage?.remaining).toBe(5);
  await commit(there, { deletes: [identity] });
  expect(await charge(here, plans[0])).toEqual({ kind: "stale", moved: 1 });
  await close();
});

test("a record that is made again under a deleted id is charged as itself", async () => {
  const { here, there, loaded, close } = await twoConnections(9);
  const plan = aPlan(loaded);
  await charge(here, plan);
  await deleteKey(there);
  await withKey(there, 2, 3);
  await withKey(there, 1, 2);
  expect(await charge(here, plan)).toMatchObject({ kind: "charged", remaining: 1 });
  await close();
});

test("a handle of another record or another store never finds the wrong record", async () => {
  const { here, there, loaded, close } = await twoConnections(9);
  const other = await withKey(here, 2, 30);
  const confirms = [{ kind: "key", id: keyIdOf(2), version: 1, handle: loaded.handle } as const];
  for (const store of [here, there])
    for (const handle of [loaded.handle, other.handle, 99])
      expect(
        await charge(store, aPlan([], { confirms: [{ ...confirms[0], handle } as never] })),
      ).toMatchObject({ kind: "charged" });
  await close();
});

test("a plan that one connection has used works on another, and a copy of it on any", async () => {
  const { here, there, loaded, close } = await twoConnections(9);
  const plan = aPlan(loaded);
  for (const [index, store] of [here, there, here, there].entries())
    expect(await charge(store, plan)).toMatchObject({ remaining: 8 - index });
  const copy = { ...plan, confirms: [{ kind: "key", id: keyIdOf(1), version: 2 }] } as const;
  expect(await charge(here, copy)).toEqual({ kind: "stale", moved: 0 });
  expect(await charge(here, { ...plan, cost: 2 })).toMatchObject({ remaining: 3 });
  expect(await charge(here, { ...plan, revision: 1 })).toEqual({
    kind: "stale",
    moved: "revision",
  });
  expect((await load(here)).usage?.remaining).toBe(3);
  await close();
});

test("another connection sees a change whatever function random() is there", async () => {
  const path = scratch.newPath();
  const databases = [new Database(path), new Database(path)] as const;
  for (const database of databases) database.function("random", () => 4);
  const [here, there] = databases.map((database) => sqliteStore(database)) as [KeyStore, KeyStore];
  const loaded = await withKey(here, 1, 100);
  await commit(there, { puts: [{ record: aRecord(1, { version: 2 }) }] });
  const plan = aPlan(await load(here));
  expect((await charge(here, plan)).kind).toBe("charged");
  await commit(there, { puts: [{ record: aRecord(1, { version: 3 }) }] });
  expect(await charge(here, plan)).toEqual({ kind: "stale", moved: 0 });
  expect(loaded.record.version).toBe(1);
  for (const database of databases) database.close();
});
