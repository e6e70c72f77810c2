import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import type { KeyStore } from "@latchkey/core";
import pg from "pg";
import { beforeAll, onTestFinished } from "vitest";
import { postgresStore } from "../index.js";
import { PATIENT, startServer } from "./postgres-server.js";
import { describeWithPostgres, POSTGRES_URL } from "./where.js";

/**
 * One server for all tests of a process, and schemas that are emptied and used again: starting a server, creating its tables and
 * connecting takes longer than most tests.
 */
let server: Promise<pg.Pool> | undefined;
const emptySchemas: string[] = [];

/** Opens a store on one empty schema with each call, each with the state of a separate process. */
export type OpenHandle = () => KeyStore;

/**
 * Defines tests on a PostgreSQL server that they share with those of other files. A test calls `nextSchema`, and gets a schema that no
 * other test uses.
 */
export function describeOnSharedPostgres(
  name: string,
  define: (nextSchema: () => OpenHandle) => void,
): void {
  describeWithPostgres(name, () => {
    let pool: pg.Pool;
    beforeAll(async () => {
      server ??= startShared();
      pool = await server;
    });
    define(() => {
      const schema = emptySchemas.pop() ?? `test_${randomUUID().replaceAll("-", "")}`;
      onTestFinished(async () => {
        await empty(pool, schema);
        emptySchemas.push(schema);
      });
      return () => postgresStore(pool, { schema, ...PATIENT });
    });
  });
}

async function startShared(): Promise<pg.Pool> {
  const pool = new pg.Pool({
    connectionString: POSTGRES_URL ?? (await startUntilExit()),
    max: 8,
    allowExitOnIdle: true,
  });
  return pool.on("error", () => undefined);
}

/** Starts a server that ends, and leaves nothing behind, when this process ends, however it ends. */
async function startUntilExit(): Promise<string> {
  // Just-in-time compilation would compile each plan anew, which takes longer than a whole test.
  const { url, folder } = await startServer({ fsync: "off", jit: "off" });
  // Its input ends with this process.
  const script = `read -r _; kill -QUIT "$(head -n 1 "$1")"; until rm -rf "$0"; do sleep 0.1; done`;
  const watcher = spawn("sh", ["-c", script, folder, join(folder, "data", "postmaster.pid")], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  watcher.unref();
  (watcher.stdin as typeof watcher.stdin & { unref?: () => void }).unref?.();
  return url;
}

/** Empties all tables of latchkey, if the schema has any. */
async function empty(pool: pg.Pool, schema: string): Promise<void> {
  const { rows } = await pool.query(
    "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'schema_version'",
    [schema],
  );
  const deletions = rows.map(
    ({ tablename }, at) => `d${at} AS (DELETE FROM ${schema}.${tablename})`,
  );
  if (deletions.length > 0) await pool.query(`WITH ${deletions.join(", ")} SELECT 1`);
}
