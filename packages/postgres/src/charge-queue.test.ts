import {
  aChange,
  aLimit,
  aMoment,
  aPlan,
  aRecord,
  aRequest,
  at,
  usesOf,
  WORKSPACE,
} from "@latchkey/conformance";
import type { ChargeResult, KeyStore } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

const MOMENT = aMoment();
const [HOT, OTHER, DAMAGED] = [1, 2, 3];

describeWithServers("charges that begin together", () => {
  let server: TestServer;
  let pool: pg.Pool;
  let store: KeyStore;
  let asked: number;

  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
    pool = new pg.Pool({ connectionString: server.url, max: 2 });
    pool.on("acquire", () => {
      asked += 1;
    });
    store = postgresStore(pool, { chargeTimeoutMs: 60_000 });
    const counters = { usage: usesOf(1_000) };
    for (const number of [HOT, OTHER, DAMAGED])
      await store.commit(
        WORKSPACE,
        aChange({ puts: [{ record: aRecord("key", number), counters }] }),
      );
    // From now on the plans know where their counters are: the function has told them.
    await Promise.all([HOT, OTHER, DAMAGED].map(charge));
    asked = 0;
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  const plans = [HOT, OTHER, DAMAGED].map((number) =>
    aPlan({ confirms: [{ ...at("key", number), version: 1 }] }),
  );
  /** Charges a key with its own plan, which knows its counters. */
  const charge = (number: number) =>
    Promise.resolve(store.charge(plans[number - 1] ?? aPlan(), MOMENT));
  const remainingOf = (results: readonly ChargeResult[]) =>
    results.map((result) => (result.kind === "charged" ? result.remaining : result.kind));

  test("are one statement, each decided on what those before it left", async () => {
    const before = remainingOf([await charge(HOT), await charge(OTHER)]) as number[];
    asked = 0;
    const results = await Promise.all([charge(HOT), charge(OTHER), charge(HOT)]);
    const [hot = 0, other = 0] = before;
    expect(remainingOf(results)).toEqual([hot - 1, other - 1, hot - 2]);
    expect(asked).toBe(1);
  });

  test("of a key that another connection has locked hold up no charge of another key, and hold one connection", async () => {
    const holder = new pg.Client({ connectionString: server.url });
    await holder.connect();
    await holder.query(
      `BEGIN; SELECT FROM latchkey.counters c JOIN latchkey.record r ON r.counters = c.seq WHERE r.id = '${at("key", HOT).id}' FOR UPDATE OF c`,
    );
    let isHeld = true;
    const hot: Promise<boolean>[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      for (let count = 0; count < 5; count += 1) hot.push(charge(HOT).then(() => isHeld));
      // In the same turn, and so in the same statement.
      expect(await charge(OTHER)).toMatchObject({ kind: "charged" });
    }
    isHeld = false;
    await holder.query("ROLLBACK");
    await holder.end();
    expect(new Set(await Promise.all(hot))).toEqual(new Set([false]));
  });

  test("of a key, one with a request id among them, and of another key in one turn are all answered", async () => {
    for (let turn = 0; turn < 20; turn += 1) {
      const request = aRequest({ id: `request ${turn}` });
      const results = await Promise.all([
        charge(HOT),
        store.charge(plans[HOT - 1] ?? aPlan(), aMoment({ request })),
        charge(OTHER),
      ]);
      const [first = 0, second] = remainingOf(results) as number[];
      expect(second).toBe(first - 1);
    }
  });

  test("of a window without an owner hold one connection, and then go together", async () => {
    const expiring = aPlan({ uses: null, limits: [aLimit({ owner: null, limit: 1_000 })] });
    asked = 0;
    const results = await Promise.all(
      Array.from({ length: 34 }, () => store.charge({ ...expiring }, MOMENT)),
    );
    const left = results.map((result) => "limits" in result && result.limits[0]?.remaining);
    expect(left).toEqual(left.map((_, index) => 999 - index));
    expect(asked).toBe(3);
  });

  test("that wait for a change of their counters see all of it", async () => {
    const changer = new pg.Client({ connectionString: server.url });
    await changer.connect();
    const { id } = at("key", OTHER);
    await changer.query("BEGIN");
    await changer.query(
      `UPDATE latchkey.counters c SET remaining = 5 FROM latchkey.record r WHERE r.counters = c.seq AND r.id = '${id}'`,
    );
    await changer.query(`UPDATE latchkey.record SET version = 2 WHERE id = '${id}'`);
    const waiting = charge(OTHER);
    const locks = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    while ((await pool.query(locks)).rowCount === 0);
    await changer.query("COMMIT");
    expect(await waiting).toEqual({ kind: "stale", moved: 0 });
    await changer.query(`UPDATE latchkey.record SET version = 1 WHERE id = '${id}'`);
    await changer.end();
    expect(await charge(OTHER)).toMatchObject({ kind: "charged", remaining: 4 });
  });

  test("are answered beside one that finds its counters damaged", async () => {
    const { id } = at("key", DAMAGED);
    await pool.query(
      "UPDATE latchkey.counters c SET remaining = -9223372036854775808 FROM latchkey.record r WHERE r.counters = c.seq AND r.id = $1",
      [id],
    );
    const moment = aMoment({ refill: { amount: 1, dueAt: 0 } });
    // A number that no column holds: the server refuses the whole statement.
    const tooLarge = aPlan({
      confirms: plans[OTHER - 1]?.confirms ?? [],
      cost: Number.MAX_VALUE,
    });
    const [hot, damaged, wrong, other] = [
      charge(HOT),
      errorOf(store.charge(plans[DAMAGED - 1] ?? aPlan(), moment)),
      errorOf(store.charge(tooLarge, MOMENT)),
      charge(OTHER),
    ];
    expect(await damaged).toMatchObject({ code: "STORE_CORRUPT" });
    expect(await wrong).toMatchObject({ code: "STORE_CORRUPT" });
    expect(remainingOf(await Promise.all([hot, other]))).toEqual([
      expect.any(Number),
      expect.any(Number),
    ]);
  });
});

test("a charge that finds its counters locked again and again fails in the end because they are locked, and not as damaged", async () => {
  const aPlanOn = (workspaceId: string) =>
    aPlan({ workspaceId, confirms: [{ ...at("key"), version: "exists", handle: "7" }] });
  /** A driver whose server has locked what one workspace takes from, while others also ask it. */
  const client = {
    async query({ values }: { readonly values: readonly unknown[] }) {
      if (!String(values[0]).startsWith("{"))
        return { rows: [["PostgreSQL", "150000", "UTF8", "false"]] };
      const workspaces = String(values[0]).match(/free|locked/g) ?? [];
      if (!isTold) askFree();
      await new Promise((resolve) => setImmediate(resolve));
      const answers = workspaces.map((name) => (name === "free" ? "charged 1" : "busy"));
      return { rows: [[answers.join("\x01")]] };
    },
    release: () => undefined,
    on: () => undefined,
    removeListener: () => undefined,
  };
  const pool = { totalCount: 0, connect: async () => client, end: async () => {}, on: () => {} };
  const store = postgresStore(pool as never);
  let isTold = false;
  // Calls still in flight when the store is closed are refused.
  const askFree = () =>
    void Promise.resolve(store.charge(aPlanOn("free"), MOMENT)).catch(() => undefined);
  askFree();
  const error = await errorOf(store.charge(aPlanOn("locked"), MOMENT));
  isTold = true;
  expect(error).toMatchObject({ code: "STORE_UNAVAILABLE", outcome: "not-applied" });
  expect(error.message).toContain("locked");
  await store.close();
});
