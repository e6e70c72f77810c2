import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { startServer, type TestServer } from "./postgres-server.js";

/** A server and a pool for the tests of one block, from the first of them to the last. */
export interface OwnServer {
  readonly server: TestServer;
  readonly pool: pg.Pool;
}

/** Starts a server before the tests of this block, and removes it after them. It loses what a crash of the machine would lose. */
export function ownServer(): OwnServer {
  let server: TestServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await startServer({ fsync: "off" });
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });
  return {
    get server() {
      return server;
    },
    get pool() {
      return pool;
    },
  };
}
