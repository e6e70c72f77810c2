import { createLatchkey } from "@latchkey/core";
import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "./index.js";
import { damageFile } from "./testing/damage.js";
import { openScratch, withDatabase } from "./testing/scratch.js";

const scratch = openScratch();
afterAll(() => scratch.remove());

const NOW = Date.UTC(2030, 0, 1);

async function withStore<Answer>(
  path: string,
  work: (latchkey: ReturnType<typeof createLatchkey>) => Promise<Answer>,
): Promise<Answer> {
  const store = sqliteStore(path);
  try {
    return await work(createLatchkey({ store, clock: () => NOW, usage: false }));
  } finally {
    await store.close();
  }
}

/** A key with ten uses, of which four are held. */
async function reserved(path: string) {
  return withStore(path, async (latchkey) => {
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
    const verdict = await latchkey.reserve({ key, remaining: { cost: 4 } });
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    return { key, keyId, reservationId: verdict.reservationId };
  });
}

test("a file from before there were holds gets their table, and its keys can reserve", async () => {
  const path = scratch.newPath();
  const { key } = await withStore(path, async (latchkey) => {
    const { apiId } = await latchkey.createApi({ name: "tiles" });
    return latchkey.createKey({ apiId, remaining: 10 });
  });
  withDatabase(path, (database) =>
    database.exec(`
      DROP TABLE latchkey_hold;
      DROP INDEX latchkey_record_log;
      DROP INDEX latchkey_statistic_day;
      CREATE INDEX latchkey_statistic_hour ON latchkey_statistic (workspace, hour_at);
      DROP INDEX latchkey_record_unnumbered;
      ALTER TABLE latchkey_name DROP COLUMN last;
      UPDATE latchkey_schema SET version = 1;
    `),
  );
  await withStore(path, async (latchkey) => {
    const verdict = await latchkey.reserve({ key, remaining: { cost: 4 } });
    expect(verdict).toMatchObject({ code: "VALID", remaining: 6 });
  });
  const versions = withDatabase(path, (database) =>
    database.prepare("SELECT version FROM latchkey_schema").pluck().all(),
  );
  expect(versions).toEqual([5]);
});

test("a hold outlives the process that took it, and another process settles it", async () => {
  const path = scratch.newPath();
  const { keyId, reservationId } = await reserved(path);
  await withStore(path, async (latchkey) => {
    expect(await latchkey.getKey({ keyId })).toMatchObject({ remaining: 6, reserved: 4 });
    const settled = await latchkey.settle({ reservationId, remaining: { cost: 1 } });
    expect(settled).toEqual({ remaining: 9, taken: { uses: 1, ratelimits: [] } });
  });
  const left = withDatabase(path, (database) => ({
    holds: database.prepare("SELECT * FROM latchkey_hold").all(),
    words: database.prepare("SELECT DISTINCT windows FROM latchkey_counters").pluck().all(),
  }));
  expect(left).toEqual({ holds: [], words: [""] });
});

test.each([
  ["a hold", "UPDATE latchkey_hold SET value = 'x'"],
  ["what is said of holds beside counters", "UPDATE latchkey_counters SET windows = 'x'"],
])("%s that is damaged is refused as damage, and its key can be deleted", async (_what, damage) => {
  const path = scratch.newPath();
  const { key, keyId, reservationId } = await reserved(path);
  withDatabase(path, (database) => database.exec(damage));
  await withStore(path, async (latchkey) => {
    const settled = latchkey.settle({ reservationId });
    await expect(settled).rejects.toMatchObject({ code: "STORE_CORRUPT" });
    await latchkey.deleteKey({ keyId });
    expect(await latchkey.verifyKey({ key })).toMatchObject({ code: "NOT_FOUND" });
  });
  expect(withDatabase(path, (db) => db.prepare("SELECT * FROM latchkey_hold").all())).toEqual([]);
});

test("a hold that is over and damaged keeps no other from being settled", async () => {
  const path = scratch.newPath();
  const { key, reservationId } = await reserved(path);
  const damaged = await withStore(path, async (latchkey) => {
    const verdict = await latchkey.reserve({ key, ttl: "1s" });
    return verdict.code === "VALID" ? verdict.reservationId : "";
  });
  withDatabase(path, (database) =>
    database.prepare("UPDATE latchkey_hold SET value = 'x' WHERE id = ?").run(damaged),
  );
  const store = sqliteStore(path);
  const latchkey = createLatchkey({ store, clock: () => NOW + 1_000, usage: false });
  const settled = await latchkey.settle({ reservationId, remaining: { cost: 1 } });
  // How much the damaged one holds is unknown.
  expect(settled).toEqual({ remaining: 8, taken: { uses: 1, ratelimits: [] } });
  await store.close();
});

test("a reservation in use takes two statements, and its end five, beside the transaction's own", async () => {
  const ran: string[] = [];
  const database = new Database(":memory:", { verbose: (sql) => ran.push(String(sql)) });
  const latchkey = createLatchkey({
    store: sqliteStore(database),
    clock: () => NOW,
    usage: false,
  });
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const { key } = await latchkey.createKey({ apiId, remaining: 10 });
  const statementsOf = async (work: () => Promise<unknown>) => {
    ran.length = 0;
    await work();
    return ran
      .filter((sql) => !/^(BEGIN|COMMIT|PRAGMA data_version)/.test(sql))
      .map((sql) => sql.trim().replace(/^(\w+)(?:.|\n)*?\b(latchkey_\w+)(?:.|\n)*$/, "$1 $2"));
  };
  const counted = { reserve: [] as string[], settle: [] as string[] };
  // The first of each also reads what is cached afterwards.
  for (let round = 0; round < 3; round += 1) {
    let reservationId = "";
    counted.reserve = await statementsOf(async () => {
      const verdict = await latchkey.reserve({ key });
      if (verdict.code === "VALID") ({ reservationId } = verdict);
    });
    counted.settle = await statementsOf(() => latchkey.settle({ reservationId }));
  }
  expect(counted).toEqual({
    reserve: ["INSERT latchkey_hold", "UPDATE latchkey_counters"],
    settle: [
      "SELECT latchkey_hold",
      "DELETE latchkey_hold",
      "SELECT latchkey_hold",
      "INSERT latchkey_passing",
      "UPDATE latchkey_counters",
    ],
  });
  database.close();
});

test("a page of reservations reads only those that are on it, however many are open", async () => {
  const path = scratch.newPath();
  const store = sqliteStore(path);
  const latchkey = createLatchkey({ store, clock: () => NOW, usage: false });
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const { key, keyId } = await latchkey.createKey({ apiId, remaining: 10 });
  for (let number = 0; number < 3; number += 1) await latchkey.reserve({ key });
  const of = { kind: "key", id: keyId } as const;
  const ids = (await store.holds(latchkey.workspaceId, of, null, 9)).map(({ id }) => id);
  expect(ids).toHaveLength(3);
  // To read it is an error.
  damageFile(path, "UPDATE latchkey_hold SET value = '' WHERE id = ?", [ids[1]]);

  expect(await store.holds(latchkey.workspaceId, of, null, 1)).toMatchObject([{ id: ids[0] }]);
  expect(await store.holds(latchkey.workspaceId, of, ids[1] as string, 9)).toMatchObject([
    { id: ids[2] },
  ]);
  await expect(store.holds(latchkey.workspaceId, of, null, 2)).rejects.toMatchObject({
    code: "STORE_CORRUPT",
  });
  await store.close();
});
