import { corruptRecord, type KeyStore, parseWhole } from "@latchkey/core";
import { charge } from "./charge.js";
import { ChargeQueue } from "./charge-queue.js";
import { commit } from "./commit.js";
import { CommitQueue } from "./commit-queue.js";
import { Connection } from "./engine/connection.js";
import { openDatabase, type Source } from "./engine/open.js";
import { forget } from "./forget.js";
import { holdsBeside, settle } from "./holds.js";
import { type PostgresStoreOptions, parseOptions } from "./options.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { scan } from "./scan.js";
import { SettleQueue } from "./settle-queue.js";
import { addStatistics, deleteStatistics, readStatistics } from "./statistics.js";

/**
 * Opens a store in PostgreSQL. Many processes on many machines may share one, and all promises of `KeyStore` hold among them.
 * Each call is one statement, and so one transaction and one round trip: nothing is kept on a connection between two calls. The
 * first call makes the tables, in a schema of their own, or brings them up to date.
 *
 * ```ts
 * const latchkey = createLatchkey({ store: postgresStore("postgres://app@localhost/app") });
 * ```
 *
 * @param source - `postgres://user@host:5432/database`; an open `Pool` of node-postgres, or a PGlite, which stays its owner's to
 * close.
 * @throws TypeError for a wrong argument.
 * @see packages/core/decisions/0028-postgres-one-statement-a-call.md
 */
export function postgresStore(source: Source, options: PostgresStoreOptions = {}): KeyStore {
  const settings = parseOptions(options);
  const connection = new Connection(openDatabase(source, settings), settings);
  const charges = new ChargeQueue(connection);
  const commits = new CommitQueue();
  const settles = new SettleQueue(connection);
  return {
    read: (...given) => read(connection, ...given),
    page: (...given) => page(connection, ...given),
    commit: (...given) => commit(connection, commits, ...given),
    charge: (...given) => charge(connection, charges, ...given),
    settle: (...given) => settle(connection, settles, ...given),
    holds: (...given) => holdsBeside(connection, ...given),
    addStatistics: (...given) => addStatistics(connection, ...given),
    readStatistics: (...given) => readStatistics(connection, ...given),
    deleteStatistics: (...given) => deleteStatistics(connection, ...given),
    scan: (...given) => scan(connection, ...given),
    forget: (workspaceId) => forget(connection, workspaceId),
    async readClock() {
      const [[now] = []] = await connection.ask(connection.sql.clock, []);
      const instant = parseWhole(now);
      if (instant === null) throw corruptRecord("clock");
      return instant;
    },
    close: () => connection.close(),
  };
}

/** How long {@link migrate} may take, in ms. */
const MIGRATION_MS = 600_000;

/**
 * Makes latchkey's tables, or brings them up to date, with a user that may: for servers whose own user may not, and that open
 * their store with `migrate: false`.
 *
 * @param source - As `postgresStore` takes it.
 * @throws LatchkeyError `PRECONDITION_FAILED` when the database is of a newer version, or the user may not.
 */
export async function migrate(
  source: Source,
  options: Pick<PostgresStoreOptions, "schema" | "ssl" | "preparedStatements"> = {},
): Promise<void> {
  const settings = parseOptions({ ...options, migrate: true, timeoutMs: MIGRATION_MS });
  const connection = new Connection(openDatabase(source, settings), settings);
  try {
    await connection.ask(connection.sql.clock, []);
  } finally {
    await connection.close();
  }
}
