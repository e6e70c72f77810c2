import type { LatchkeyError } from "@latchkey/core";
import type { RedisClient } from "./client.js";
import { unavailable } from "./errors.js";

/**
 * The number of the database that a client was made for, 0 where it says nothing.
 *
 * @throws TypeError when that is no whole number >= 0.
 */
export function databaseOf(client: RedisClient): number {
  const { db = null } = client.options as { readonly db?: unknown };
  if (db === null) return 0;
  if (Number.isInteger(db) && (db as number) >= 0) return db as number;
  throw new TypeError('"client" has the option db; it must be a whole number >= 0');
}

/**
 * What is wrong with the database that the connection of a client is in; null where nothing is.
 *
 * ioredis goes on in database 0 when its SELECT was refused, and keys would be written there. Database 0 itself is where
 * every connection begins, and is not asked for.
 */
export async function databaseProblem(
  client: RedisClient,
  database: number,
): Promise<LatchkeyError | null> {
  if (database === 0) return null;
  const info = String(await client.client("INFO"));
  if (/(?:^| )db=(\d+)/.exec(info)?.[1] === String(database)) return null;
  return unavailable(
    'Redis did not SELECT the database number of the URL (option "db" of a client): it must be below the setting "databases" of the server, and the user may need the right to SELECT',
  );
}
