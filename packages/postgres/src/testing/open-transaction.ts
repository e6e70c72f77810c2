import pg from "pg";

/** Does the work while another connection is inside a transaction in which it has run the SQL; then rolls it back. */
export async function duringTransaction(
  url: string,
  sql: string,
  work: () => Promise<void>,
): Promise<void> {
  const other = new pg.Client({ connectionString: url });
  await other.connect();
  try {
    await other.query(`BEGIN; ${sql}`);
    await work();
  } finally {
    await other.end();
  }
}
