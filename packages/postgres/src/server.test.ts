import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { describeContract } from "./testing/contract.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithPostgres, POSTGRES_URL } from "./testing/where.js";

describeWithPostgres("a PostgreSQL server", () => {
  let server: TestServer | undefined;
  let pools: [pg.Pool, pg.Pool];

  beforeAll(async () => {
    server = POSTGRES_URL === null ? await startServer({ fsync: "off" }) : undefined;
    const connectionString = POSTGRES_URL ?? server?.url;
    pools = [new pg.Pool({ connectionString }), new pg.Pool({ connectionString })];
  });
  afterAll(async () => {
    for (const pool of pools) await pool.end();
    await server?.remove();
  });

  describeContract(
    "a pool",
    () => pools,
    (sql, values = []) => pools[0].query(sql, [...values]),
  );
});
