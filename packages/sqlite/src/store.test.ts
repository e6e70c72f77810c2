import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import {
  aLimit,
  anIdentity,
  aPlan,
  commit,
  deleteKey,
  find,
  hashOf,
  keyIdOf,
  load,
  MOMENT,
  NOW,
  WORKSPACE,
  withKey,
  withUses,
} from "./testing/fixtures.js";

test("smoke", async () => {
  const database = new Database(":memory:");
  const store = sqliteStore(database);
  await commit(store, { puts: [withUses(anIdentity(1), 3)] });
  const key = await withKey(store, 1, 5, { link: "id_1" });
  expect(key).toMatchObject({
    record: { version: 1, body: { name: "key 1" } },
    usage: { remaining: 5 },
    linked: { record: { id: "id_1" }, usage: { remaining: 3 } },
  });
  expect((await store.read(WORKSPACE, [hashOf(1)])).found[0]).toEqual(key);
  const plan = aPlan([key, key.linked as never], {
    limits: [aLimit("a", 0), aLimit("b", 1), aLimit("c", null)],
  });
  for (let left = 4; left >= 0; left -= 1)
    expect(store.charge(plan, MOMENT)).toMatchObject({
      kind: "charged",
      remaining: left,
      limits: [{ remaining: left + 5 }, { remaining: left + 5 }, { remaining: left + 5 }],
    });
  expect(store.charge(plan, MOMENT)).toMatchObject({ kind: "usage-exceeded" });
  const simple = aPlan(key, { limits: [aLimit("a", 0)], cost: 0 });
  expect(store.charge(simple, MOMENT)).toMatchObject({ kind: "usage-exceeded" });
  expect(
    await commit(store, {
      counters: [
        {
          kind: "key",
          id: keyIdOf(1),
          usage: { due: null, restartsAt: null, operation: { kind: "set", remaining: 2 } },
          keepWindows: [],
        },
      ],
    }),
  ).toMatchObject({ kind: "committed", usages: [{ remaining: 2 }] });
  expect(store.charge(simple, MOMENT)).toMatchObject({
    kind: "charged",
    remaining: 2,
    limits: [{ remaining: 9 }],
  });
  for (let n = 2; n < 8; n++) await withKey(store, n);
  const page = await store.page(WORKSPACE, {
    kind: "key",
    list: "keys",
    after: keyIdOf(2),
    limit: 3,
    descending: false,
  });
  expect(page).toMatchObject({
    hasMore: true,
    size: 7,
    found: [3, 4, 5].map((n) => ({ record: { id: keyIdOf(n) } })),
  });
  await deleteKey(store, 1);
  expect(await find(store)).toBeNull();
  expect(store.charge(simple, MOMENT)).toEqual({ kind: "stale", moved: 0 });
  const request = { id: "r", fingerprint: "f", rememberUntil: NOW + 10 };
  const p2 = aPlan(await load(store, 2));
  expect(store.charge(p2, { ...MOMENT, request })).toMatchObject({ remaining: null });
  expect(store.charge(p2, { ...MOMENT, request })).toMatchObject({ remaining: null });
  for (const view of ["keys", "identities", "audit"])
    console.log(database.prepare(`SELECT * FROM latchkey_${view} LIMIT 1`).all());
});
