import { aChange, aRecord, usesOf, WORKSPACE } from "@latchkey/conformance";
import { createLatchkey, type StoredRecord } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("what a call costs on the wire", () => {
  let server: TestServer;
  let pool: pg.Pool;
  let sent: string[] = [];
  let values: unknown[][] = [];

  beforeAll(async () => {
    server = await startServer({ fsync: "off", autovacuum: "off" });
    pool = new pg.Pool({ connectionString: server.url, max: 1 });
    // With one connection, its statements are everything that is sent.
    const client = await pool.connect();
    const query = client.query.bind(client) as (...given: unknown[]) => unknown;
    Object.assign(client, {
      query: (...given: unknown[]) => {
        const { text, values: of } = given[0] as { text: string; values: unknown[] };
        sent.push(text);
        values.push(of);
        return query(...given);
      },
    });
    client.release();
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  async function sentBy(work: () => Promise<unknown>): Promise<readonly string[]> {
    [sent, values] = [[], []];
    await work();
    return sent.map((sql) => {
      if (sql.startsWith("WITH decided")) return "plain charge";
      if (sql.startsWith("WITH found")) return "plain end";
      return /latchkey"\.(charge|commit|settle)\(/.exec(sql)?.[1] ?? "read";
    });
  }

  test("a verification is one statement when the key was verified before, and two when it was not", async () => {
    const latchkey = createLatchkey({ store: postgresStore(pool, PATIENT), usage: false });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const limited = {
      remaining: 100,
      ratelimit: { limit: 100, duration: 60_000 },
      externalId: "user",
    };
    const { key } = await latchkey.createKey({ apiId, ...limited });
    const { key: another } = await latchkey.createKey({ apiId });
    const verify = () => latchkey.verifyKey({ key });
    // Not counted: the process reads the API first.
    await latchkey.verifyKey({ key: another });

    expect(await sentBy(verify)).toEqual(["read", "plain charge"]);
    expect(await sentBy(verify)).toEqual(["plain charge"]);
    const ratelimits = [{ name: "burst", limit: 5, duration: 1_000 }];
    const more = () => latchkey.verifyKey({ key, requestId: "r", ratelimits });
    expect(await sentBy(more)).toEqual(["charge"]);
    expect(await sentBy(() => latchkey.createKey({ apiId }))).toEqual(["commit"]);
  });

  test.each([
    ["fixed", {}],
    ["sliding", { algorithm: "sliding" }],
    ["token-bucket", { algorithm: "token-bucket", burst: 100 }],
  ] as const)(
    "the rules of a %s limit are inlined: PostgreSQL would plan a function anew in each call",
    async (_name, fields) => {
      const latchkey = createLatchkey({ store: postgresStore(pool, PATIENT), usage: false });
      const { apiId } = await latchkey.createApi({ name: "payments" });
      const ratelimit = { limit: 100, duration: 60_000, ...fields };
      const refill = { interval: "daily", amount: 10 } as const;
      const { key } = await latchkey.createKey({ apiId, remaining: 100, refill, ratelimit });
      await latchkey.verifyKey({ key });
      expect(await sentBy(() => latchkey.verifyKey({ key }))).toEqual(["plain charge"]);
      const { rows } = await pool.query({
        text: `EXPLAIN (VERBOSE) ${sent[0]}`,
        values: values[0] ?? [],
        rowMode: "array",
      });
      const called = new Set(String(rows).match(/latchkey\.\w+(?=\()/g));
      // Called only if leases hold units of a bucket.
      called.delete("latchkey.leased_bucket_missing");
      expect([...called]).toEqual([]);
    },
  );

  test("a reservation is one statement, and its end another", async () => {
    const latchkey = createLatchkey({ store: postgresStore(pool, PATIENT), usage: false });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const limited = { remaining: 100, ratelimit: { limit: 100, duration: 60_000 } };
    const { key } = await latchkey.createKey({ apiId, ...limited });
    const { key: shared } = await latchkey.createKey({ apiId, ...limited, externalId: "owner" });
    const slots = { name: "slots", limit: 5, duration: 60_000, algorithm: "concurrent" } as const;
    for (const each of [key, shared]) {
      await latchkey.verifyKey({ key: each });
      let reservationId = "";
      const reserve = async () => {
        const verdict = await latchkey.reserve({ key: each });
        if (verdict.code === "VALID") ({ reservationId } = verdict);
      };
      expect(await sentBy(reserve)).toEqual(["plain charge"]);
      const settle = () => latchkey.settle({ reservationId, remaining: { cost: 0 } });
      expect(await sentBy(settle)).toEqual(["plain end"]);
      expect(await latchkey.verifyKey({ key: each })).toMatchObject({ remaining: 98 });
      const withSlots = () => latchkey.reserve({ key: each, ratelimits: [slots] });
      expect(await sentBy(withSlots)).toEqual(["charge"]);
    }
  });

  test("a change, a read, a page and a batch of uses read only the rows that they name, however many others there are", async () => {
    const store = postgresStore(pool, { ...PATIENT, schema: "large" });
    const records = Array.from({ length: 3_000 }, (_, number) => aRecord("key", number));
    const counters = { usage: usesOf(1) };
    const enters = records.map(({ id }) => ({ list: "keys", id }));
    const puts = records.map((record) => ({ record, counters }));
    await store.commit(WORKSPACE, aChange({ puts, enters }));
    const [first, second] = records as [StoredRecord, StoredRecord];
    const name = { kind: "key", index: "hash", value: "a hash", id: first.id } as const;
    const usage = { due: null, operation: { kind: "keep" }, restartsAt: null } as const;
    const calls = {
      write: () =>
        store.commit(WORKSPACE, aChange({ puts: [{ record: first, counters }], claims: [name] })),
      move: () => store.commit(WORKSPACE, aChange({ counters: [{ ...first, usage }] })),
      read: () => store.read(WORKSPACE, [first, name, second]),
      page: () => store.page(WORKSPACE, { kind: "key", list: "keys", after: null, limit: 5 }),
      use: () => store.addStatistics(WORKSPACE, { counts: [], uses: [{ ...first, usedAt: 1 }] }),
      remove: () =>
        store.commit(
          WORKSPACE,
          aChange({ deletes: [first], releases: [name], leaves: [{ list: "keys", id: first.id }] }),
        ),
    };
    // The store refuses a connection that reports an open transaction.
    const quiet = (client: pg.PoolClient) => {
      client.getTransactionStatus = () => null;
    };
    pool.on("acquire", quiet);
    onTestFinished(() => void pool.off("acquire", quiet));
    for (const [what, call] of Object.entries(calls)) {
      // One connection, and so one transaction.
      await pool.query("BEGIN");
      await call();
      const { rows } = await pool.query(
        "SELECT sum(seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE schemaname = 'large'",
      );
      await pool.query("COMMIT");
      expect(rows[0].rows, what).toBeLessThan(60);
    }
  });

  test("a key without limits is verified without writing anything", async () => {
    const latchkey = createLatchkey({ store: postgresStore(pool, PATIENT), usage: false });
    const { apiId } = await latchkey.createApi({ name: "payments" });
    const { key } = await latchkey.createKey({ apiId });
    const position = async () => {
      const { rows } = await pool.query("SELECT pg_current_xact_id()::text AS id");
      return Number(rows[0].id);
    };
    await latchkey.verifyKey({ key });
    const before = await position();
    expect(await latchkey.verifyKey({ key })).toMatchObject({ valid: true });
    // A write takes a transaction number of its own: only the question itself has one.
    expect(await position()).toBe(before + 1);
  });
});
