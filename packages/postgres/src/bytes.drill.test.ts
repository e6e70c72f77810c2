import { randomUUID } from "node:crypto";
import { createLatchkey } from "@latchkey/core";
import pg from "pg";
import { expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { PATIENT, startServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

// KEYS=1000 npx vitest run --config vitest.workspace.ts --project drills postgres/src/bytes --reporter=verbose
const { KEYS: asked } = process.env;
/** With fewer keys, the result depends on how full the last pages are, and not on the size of a key. */
const KEYS = Number(asked ?? 1_000);
const AT_ONCE = 100;
const COUNTED = {
  remaining: 1_000,
  ratelimits: [{ name: "burst", limit: 100, duration: 60_000, autoApply: true }],
};

describeWithServers(`${KEYS} keys more, after VACUUM and with all indexes`, () => {
  test("take at most 900 bytes each, if nothing is counted and no log kept", {
    timeout: 600_000,
  }, async () => {
    const server = await startServer({ fsync: "off", autovacuum: "off" });
    const pool = new pg.Pool({ connectionString: server.url, max: 4 });
    try {
      const plain = await bytesOf(pool, "plain", {}, false);
      expect(plain).toBeLessThanOrEqual(900);
      // Unbounded data is measured only on request.
      const others = asked !== undefined && {
        audited: await bytesOf(pool, "audited", {}, true),
        counted: await bytesOf(pool, "counted", COUNTED, false),
      };
      console.info({ keys: KEYS, plain, ...others });
    } finally {
      await pool.end();
      await server.remove();
    }
  });
});

async function bytesOf(
  pool: pg.Pool,
  schema: string,
  given: object,
  auditLog: boolean,
): Promise<number> {
  const latchkey = createLatchkey({
    store: postgresStore(pool, { ...PATIENT, schema }),
    auditLog,
    usage: false,
  });
  const { apiId } = await latchkey.createApi({ name: "payments" });
  const make = async () => {
    const keys = Array.from({ length: AT_ONCE }, () => `pay_live_${randomUUID()}`);
    await latchkey.createKeys(
      keys.map((plaintext) => ({ apiId, plaintext, start: plaintext.slice(0, 12), ...given })),
    );
    // Before that, nothing is written for a limit.
    if ("ratelimits" in given) await Promise.all(keys.map((key) => latchkey.verifyKey({ key })));
  };
  const fill = async () => {
    for (let made = 0; made < KEYS; made += AT_ONCE) await make();
    return sizeOf(pool, schema);
  };
  // A table and an index take at least a page each, however empty: only their growth counts.
  const before = await fill();
  return Math.round(((await fill()) - before) / KEYS);
}

async function sizeOf(pool: pg.Pool, schema: string): Promise<number> {
  const tables = "FROM pg_stat_user_tables WHERE schemaname = $1";
  const { rows } = await pool.query(`SELECT relid::regclass::text AS name ${tables}`, [schema]);
  for (const { name } of rows) await pool.query(`VACUUM ${name}`);
  const sum = `SELECT sum(pg_total_relation_size(relid))::int AS bytes ${tables}`;
  return (await pool.query(sum, [schema])).rows[0].bytes;
}
