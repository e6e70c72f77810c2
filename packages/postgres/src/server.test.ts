import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { describeContract, type RunSql } from "./testing/contract.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeViews } from "./testing/views.js";
import { describeWithPostgres, POSTGRES_URL } from "./testing/where.js";

describeWithPostgres("a PostgreSQL server", () => {
  let server: TestServer | undefined;
  let pools: [pg.Pool, pg.Pool];

  beforeAll(async () => {
    server = POSTGRES_URL === null ? await startServer({ fsync: "off", jit: "off" }) : undefined;
    const connectionString = POSTGRES_URL ?? server?.url;
    pools = [new pg.Pool({ connectionString }), new pg.Pool({ connectionString })];
  });
  afterAll(async () => {
    for (const pool of pools) await pool.end();
    await server?.remove();
  });

  const run: RunSql = (sql, values = []) => pools[0].query(sql, [...values]);

  // A call takes long, and a sequence has hundreds of them.
  describeContract("a pool", () => pools, run, { shareOfSequences: 0.3 });

  describeViews("a server", () => pools[0], run);
});
