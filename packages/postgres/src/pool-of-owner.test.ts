import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { postgresStore } from "./index.js";
import { errorOf } from "./testing/errors.js";
import { startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

describeWithServers("a pool of the owner that gives no connection", () => {
  let server: TestServer;

  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
  });
  afterAll(() => server?.remove());

  test("because all of them are in use: the call names the option of the pool, and nothing was sent", async () => {
    const pool = new pg.Pool({
      connectionString: server.url,
      max: 1,
      connectionTimeoutMillis: 500,
    });
    const taken = await pool.connect();
    expect(await errorOf(postgresStore(pool).read("ws_default", []))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      outcome: "not-applied",
      message: expect.stringContaining("connectionTimeoutMillis"),
    });
    taken.release();
    await pool.end();
  });

  test("because it has ended: the call says so", async () => {
    const pool = new pg.Pool({ connectionString: server.url });
    await pool.end();
    expect(await errorOf(postgresStore(pool).read("ws_default", []))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      message: "PostgreSQL is not connected: its owner has ended the pool",
    });
  });
});
