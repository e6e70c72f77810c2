import pg from "pg";
import { startServer, type TestServer } from "./postgres-server.js";

/** Starts a standby of a server, and waits until it receives what is written. `isSynchronous`: whether commits wait for it. */
export async function startStandby(
  primary: TestServer,
  isSynchronous: boolean,
): Promise<TestServer> {
  // It asks for the primary again at once after the primary was away.
  const standby = await startServer({ wal_retrieve_retry_interval: "50ms" }, primary);
  if (isSynchronous) await ask(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
  await ask(primary, "SELECT pg_reload_conf()");
  const state = isSynchronous ? "sync" : "async";
  await until(primary, `SELECT FROM pg_stat_replication WHERE sync_state = '${state}'`);
  return standby;
}

/** The rows of an answer, over a separate connection. */
export async function ask(
  server: Pick<TestServer, "url">,
  sql: string,
): Promise<readonly (readonly unknown[])[]> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    return (await client.query({ text: sql, rowMode: "array" })).rows;
  } finally {
    await client.end();
  }
}

/** Repeats the query until there is a row. */
export async function until(server: TestServer, sql: string): Promise<void> {
  while ((await ask(server, sql)).length === 0);
}
