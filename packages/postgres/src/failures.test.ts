import {
  aChange,
  aLimit,
  aMoment,
  aPlan,
  aRecord,
  at,
  usesOf,
  WORKSPACE,
} from "@latchkey/conformance";
import { createLatchkey, type KeyStore } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { migrate, postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const MOMENT = aMoment();
const limits = [aLimit({ limit: 1_000_000 })];

describeWithServers("a PostgreSQL that fails", () => {
  let server: TestServer;
  let pool: pg.Pool;
  let store: KeyStore;

  beforeAll(async () => {
    server = await startServer({ fsync: "off", deadlock_timeout: "50ms" });
    pool = new pg.Pool({ connectionString: server.url });
    pool.on("error", () => undefined);
    store = postgresStore(pool);
    await writeKey(store);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  async function writeKey(into: KeyStore, number = 1, remaining: number | null = 1_000_000) {
    const record = aRecord("key", number);
    const puts = [{ record, counters: { usage: usesOf(remaining) } }];
    await into.commit(WORKSPACE, aChange({ puts }));
  }

  /** Locks the counters of all keys during the work. */
  async function whileLocked(work: () => Promise<void>): Promise<void> {
    const holder = await pool.connect();
    await holder.query("BEGIN; SELECT 1 FROM latchkey.counters FOR UPDATE");
    try {
      await work();
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
  }

  test("whose connection is lost while a charge runs: the outcome is unknown", async () => {
    await whileLocked(async () => {
      const call = store.charge(aPlan(), MOMENT);
      const ended = errorOf(call);
      const waiting =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
      while ((await pool.query(waiting)).rowCount === 0);
      expect(await ended).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "unknown" });
    });
    expect(await store.charge(aPlan(), MOMENT)).toMatchObject({ kind: "charged" });
  });

  test("that does not answer a charge in time: unknown, and of a call that only reads not applied", async () => {
    // Long enough for a busy machine to send it: otherwise the outcome would not be unknown.
    const hasty = postgresStore(pool, { chargeTimeoutMs: 500 });
    await hasty.read(WORKSPACE, []);
    await whileLocked(async () => {
      expect(await errorOf(hasty.charge(aPlan(), MOMENT))).toMatchObject({
        code: "STORE_UNAVAILABLE",
        outcome: "unknown",
      });
    });
    const single = new pg.Pool({ connectionString: server.url, max: 1 });
    const slow = postgresStore(single, { timeoutMs: 200 });
    // Even if a busy machine is too late with this answer, the tables are known afterwards.
    await slow.read(WORKSPACE, []).catch(() => undefined);
    const taken = await single.connect();
    for (const call of [slow.read(WORKSPACE, []), slow.commit(WORKSPACE, aChange())])
      expect(await errorOf(call)).toMatchObject({
        code: "STORE_UNAVAILABLE",
        outcome: "not-applied",
      });
    taken.release();
    const patient = postgresStore(single, { timeoutMs: 60_000 });
    expect(await patient.read(WORKSPACE, [])).toMatchObject({ revision: 0 });
    await single.end();
  });

  test("that is not there, or where there is no such user: nothing was applied, and no password is shown", async () => {
    for (const url of [
      "postgres://app:hunter2@127.0.0.1:1/keys",
      server.url.replace("postgres@/postgres", "app:hunter2@/nowhere"),
    ]) {
      const missing = postgresStore(url);
      const error = await errorOf(missing.charge(aPlan(), MOMENT));
      expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
      expect(error.message).not.toContain("hunter2");
      await missing.close();
    }
  });

  test("windows and uses that cannot be read refuse a charge, and the key can be deleted", async () => {
    await writeKey(store, 2, 5);
    const plan = aPlan({ confirms: [{ ...at("key", 2), version: 1 }], limits });
    const counters = "latchkey.counters c SET";
    const where = "FROM latchkey.record r WHERE r.counters = c.seq AND r.id = $1";
    for (const windows of ['{"default": "1:x"}', '{"default": [1]}', '{"default": "-1:5"}']) {
      await pool.query(`UPDATE ${counters} windows = $2 ${where}`, [at("key", 2).id, windows]);
      expect(await errorOf(store.charge(plan, MOMENT))).toMatchObject({ code: "STORE_CORRUPT" });
    }
    await pool.query(`UPDATE ${counters} windows = '{}', remaining = -3 ${where}`, [
      at("key", 2).id,
    ]);
    expect(await errorOf(store.charge(plan, MOMENT))).toMatchObject({ code: "STORE_CORRUPT" });
    const damaged = await store.read(WORKSPACE, [at("key", 2)]);
    expect(damaged.found[0]).toMatchObject({
      record: { body: undefined },
      usage: { remaining: 0 },
    });
    await store.commit(WORKSPACE, aChange({ deletes: [at("key", 2)] }));
    expect((await store.read(WORKSPACE, [at("key", 2)])).found).toEqual([null]);
  });

  test("a charge whose counters are gone is refused", async () => {
    await writeKey(store, 3, 5);
    const plan = aPlan({ confirms: [{ ...at("key", 3), version: 1 }] });
    await pool.query(
      "DELETE FROM latchkey.counters c USING latchkey.record r WHERE r.counters = c.seq AND r.id = $1",
      [at("key", 3).id],
    );
    expect(await errorOf(store.charge(plan, MOMENT))).toMatchObject({ code: "STORE_CORRUPT" });
  });

  test("thousands of changes and charges at once over the same records never wait for each other in a circle", async () => {
    // All at once: the last one waits for all others.
    const patient = { chargeTimeoutMs: 240_000, timeoutMs: 240_000 };
    const others = [postgresStore(pool, patient), postgresStore(pool, patient)];
    const KEYS = 4;
    for (let number = 11; number <= 10 + KEYS; number += 1) await writeKey(store, number);
    const work = Array.from({ length: 3_000 }, async (_, step) => {
      const each = others[step % 2] as KeyStore;
      const [one, other] = [11 + (step % KEYS), 11 + ((step * 7 + 1) % KEYS)];
      const confirms = [one, other].map(
        (number) => ({ ...at("key", number), version: "exists" }) as const,
      );
      if (step % 5 !== 0 || one === other) {
        const both = [0, 1].map((owner) =>
          aLimit({ window: `w${owner}`, owner, limit: 1_000_000 }),
        );
        const expiring = { ...aLimit({ window: `p${step % 3}`, owner: null, limit: 1_000_000 }) };
        return each.charge(aPlan({ confirms, uses: 1, limits: [...both, expiring] }), MOMENT);
      }
      const usage = {
        due: null,
        operation: { kind: "increment", by: 1 },
        restartsAt: null,
      } as const;
      const counters = confirms.map((address) => ({ ...address, usage }));
      const puts = [other, one].map((number) => ({ record: aRecord("key", number) }));
      if (step % 2 === 0) {
        const uses = puts.map(({ record }) => ({ kind: record.kind, id: record.id, usedAt: step }));
        await each.addStatistics(WORKSPACE, { counts: [], uses });
      }
      return each.commit(WORKSPACE, aChange({ counters, puts, dropWindows: ["p2", "p1"] }));
    });
    const kinds = new Set((await Promise.all(work)).map(({ kind }) => kind));
    expect([...kinds].sort()).toEqual(["charged", "committed"]);
    const { rows } = await pool.query(
      "SELECT deadlocks::int FROM pg_stat_database WHERE datname = 'postgres'",
    );
    expect(rows).toEqual([{ deadlocks: 0 }]);
  });

  test("waiting changes of a workspace leave connections to verifications", async () => {
    const few = new pg.Pool({ connectionString: server.url, max: 4 });
    const patient = postgresStore(few, { chargeTimeoutMs: 60_000, timeoutMs: 60_000 });
    await patient.charge(aPlan(), MOMENT);
    const holder = await pool.connect();
    await holder.query("BEGIN; SELECT 1 FROM latchkey.workspace FOR UPDATE");
    const puts = Array.from({ length: 8 }, (_, index) => [{ record: aRecord("key", 50 + index) }]);
    const changes = puts.map((each) => patient.commit(WORKSPACE, aChange({ puts: each })));
    try {
      expect(await patient.charge(aPlan(), MOMENT)).toMatchObject({ kind: "charged" });
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
    for (const change of changes) expect(await change).toMatchObject({ kind: "committed" });
    await few.end();
  });

  test("whose sessions are not READ COMMITTED is refused, and named", async () => {
    const strict = new pg.Pool({
      connectionString: server.url,
      options: "-c default_transaction_isolation=serializable",
    });
    const error = await errorOf(postgresStore(strict).charge(aPlan(), MOMENT));
    expect(error.code).toBe("PRECONDITION_FAILED");
    expect(error.message).toContain("default_transaction_isolation");
    await strict.end();
  });

  test("a role without the right to make tables serves, once another has made them; not before", async () => {
    const schema = "apart";
    await pool.query("CREATE ROLE app LOGIN; REVOKE ALL ON SCHEMA public FROM PUBLIC");
    const url = server.url.replace("postgres@", "app@");
    const early = postgresStore(url, { schema, migrate: false });
    expect(await errorOf(early.read(WORKSPACE, []))).toMatchObject({ code: "PRECONDITION_FAILED" });
    await early.close();
    await migrate(server.url, { schema });
    // As where the default rights of functions were revoked.
    await pool.query(`REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} FROM PUBLIC;
      GRANT USAGE ON SCHEMA ${schema} TO app;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ${schema} TO app;
      GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${schema} TO app;
      GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${schema} TO app`);
    for (const isMigrating of [true, false]) {
      const served = postgresStore(url, { schema, migrate: isMigrating });
      await writeKey(served);
      expect(await served.charge(aPlan(), MOMENT)).toMatchObject({ kind: "charged" });
      await served.addStatistics(WORKSPACE, { counts: [], uses: [{ ...at("key"), usedAt: 1 }] });
      await served.close();
    }
  });

  test("many processes that open an empty database at once make its tables once", async () => {
    const opened = Array.from({ length: 6 }, () => postgresStore(pool, { schema: "at_once" }));
    for (const { revision } of await Promise.all(opened.map((each) => each.read(WORKSPACE, []))))
      expect(revision).toBe(0);
  });

  test("a process that waits for another to make the schema finds it made", async () => {
    const first = await pool.connect();
    await first.query("BEGIN");
    await first.query("SELECT pg_advisory_xact_lock(1818326891, 0)");
    await first.query("CREATE SCHEMA waited_for");
    const reading = postgresStore(pool, { schema: "waited_for" }).read(WORKSPACE, []);
    const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";
    await expect.poll(async () => (await pool.query(waiting)).rowCount).toBe(1);
    await first.query("COMMIT");
    first.release();
    expect(await reading).toMatchObject({ revision: 0 });
  });

  test("the functions of an earlier schema are replaced by those of this one", async () => {
    await migrate(pool, { schema: "earlier" });
    await pool.query(`CREATE OR REPLACE FUNCTION earlier.commit(workspace_id text, change jsonb) RETURNS jsonb
      LANGUAGE sql AS $$ SELECT '{"kind": "committed", "usages": []}'::jsonb $$`);
    await pool.query("UPDATE earlier.schema_version SET version = 1");
    const migrated = postgresStore(pool, { schema: "earlier" });
    await migrated.commit(WORKSPACE, aChange({ revision: 2 ** 48 }));
    expect(await migrated.read(WORKSPACE, [])).toMatchObject({ revision: 2 ** 48 });
  });

  test("tables of a newer version are refused", async () => {
    await migrate(pool, { schema: "newer" });
    await pool.query("UPDATE newer.schema_version SET version = 99");
    const error = await errorOf(postgresStore(pool, { schema: "newer" }).read(WORKSPACE, []));
    expect(error.code).toBe("PRECONDITION_FAILED");
    expect(error.message).toContain("install a newer @latchkey/postgres, or restore a backup");
  });

  test("a process that was open when a newer version changed the tables is refused by the next connection", async () => {
    const schema = "left_behind";
    const own = new pg.Pool({ connectionString: server.url });
    const open = postgresStore(own, { schema });
    await open.read(WORKSPACE, []);
    await pool.query(`UPDATE ${schema}.schema_version SET version = 99`);
    const held = await own.connect();
    expect(await errorOf(open.commit(WORKSPACE, aChange()))).toMatchObject({
      code: "PRECONDITION_FAILED",
    });
    held.release();
    await own.end();
  });

  test("windows are forgotten a day after their end by the clock of the server, not by that of the caller", async () => {
    const own = postgresStore(pool, { schema: "sweeps" });
    const charge = (window: string, now: number) =>
      own.charge(aPlan({ confirms: [], uses: null, limits: [aLimit({ owner: null, window })] }), {
        now,
        refill: null,
      });
    const names = async () => (await own.scan(WORKSPACE, null)).names;
    const serverNow = (await own.readClock?.()) ?? 0;
    for (const days of [-3, 0, 3]) await charge(`w${days}`, serverNow + days * 86_400_000);
    for (let round = 0; round < 5; round += 1) await charge("w0", serverNow);
    expect([...(await names())].sort()).toEqual(["w-3", "w0", "w3"]);
    await pool.query(
      "UPDATE sweeps.passing SET until = until - 86400000 - 60001 WHERE name <> 'w0'",
    );
    await charge("w0", serverNow);
    expect(await names()).toEqual(["w0"]);
  });

  test("a change that finds nothing to change is answered once everything that it found is on the disk", async () => {
    const latchkey = createLatchkey({ store: postgresStore(pool, { schema: "flushes" }) });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { key } = await latchkey.createKey({ apiId, remaining: 9 });
    await latchkey.verifyKey({ key, requestId: "one" });
    for (const repeat of [
      () => latchkey.updateApi({ apiId, name: "payments" }),
      () => latchkey.verifyKey({ key, requestId: "one" }),
    ]) {
      const { rows } = await pool
        .query(
          `BEGIN; SET LOCAL synchronous_commit = off; UPDATE flushes.counters SET holders = holders;
         COMMIT; SELECT pg_current_wal_insert_lsn() AS written`,
        )
        .then(
          (results) =>
            (results as unknown as { rows: { written: string }[] }[]).at(-1) as {
              rows: { written: string }[];
            },
        );
      await repeat();
      const flushed = await pool.query("SELECT pg_current_wal_flush_lsn() >= $1::pg_lsn AS is", [
        rows[0]?.written,
      ]);
      expect(flushed.rows).toEqual([{ is: true }]);
    }
  });

  test("a request that was remembered before an upgrade, with only the values of its limits, is repeated as it was answered", async () => {
    const own = postgresStore(pool, { schema: "upgrades" });
    await writeKey(own, 1, 5);
    const plan = aPlan({
      limits: [aLimit({ name: "calls", limit: 9, duration: 60_000, cost: 2 })],
    });
    const request = { id: "one", fingerprint: "question", rememberUntil: MOMENT.now + 600_000 };
    const moment = { ...MOMENT, request };
    const first = await own.charge(plan, moment);
    const { rowCount } = await pool.query(
      `UPDATE upgrades.passing SET value = regexp_replace(value, '\\[\\{.*$', '[["calls",9,60000,2]]') WHERE value ~ '\\[\\{'`,
    );
    expect([first.kind, rowCount]).toEqual(["charged", 1]);
    expect(await own.charge(plan, moment)).toEqual({ ...first, isRepeat: true });
  });

  test("the clock is that of the server", async () => {
    const { rows } = await pool.query("SELECT extract(epoch FROM clock_timestamp()) * 1000 AS now");
    const now = (await store.readClock?.()) ?? 0;
    expect(Number.isSafeInteger(now)).toBe(true);
    expect(now).toBeGreaterThanOrEqual(Math.floor(Number(rows[0].now)));
  });
});
