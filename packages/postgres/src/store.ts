import { corruptRecord, type KeyStore, parseWhole } from "@latchkey/core";
import { charge } from "./charge.js";
import { ChargeQueue } from "./charge-queue.js";
import { commit } from "./commit.js";
import { CommitQueue } from "./commit-queue.js";
import { Connection } from "./engine/connection.js";
import { openDatabase, type Source } from "./engine/open.js";
import { forget } from "./forget.js";
import { holdsOf } from "./holds.js";
import { type PostgresStoreOptions, parseOptions } from "./options.js";
import { page } from "./page.js";
import { read } from "./read.js";
import { scan } from "./scan.js";
import { statisticsOf } from "./statistics.js";

/**
 * Opens a store in PostgreSQL. Many processes on many machines may share it. Each call is one statement, and so one transaction and one
 * round trip; nothing is kept on a connection between calls. The first call creates or updates the tables, in a schema of their own.
 *
 * ```ts
 * const latchkey = createLatchkey({ store: postgresStore("postgres://app@localhost/app") });
 * ```
 *
 * @param source - `postgres://user@host:5432/database`; an open `Pool` of node-postgres; or a PGlite. You close a pool or PGlite that
 * you pass.
 * @throws TypeError for a wrong argument.
 * @see packages/core/decisions/0028-postgres-one-statement-a-call.md
 */
export function postgresStore(source: Source, options: PostgresStoreOptions = {}): KeyStore {
  const settings = parseOptions(options);
  const connection = new Connection(openDatabase(source, settings), settings);
  const charges = new ChargeQueue(connection);
  const commits = new CommitQueue();
  return {
    read: (...given) => read(connection, ...given),
    page: (...given) => page(connection, ...given),
    commit: (...given) => commit(connection, commits, ...given),
    charge: (...given) => charge(connection, charges, ...given),
    ...holdsOf(connection),
    countsInStep: true,
    ...statisticsOf(connection),
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
 * Creates or updates latchkey's tables, for servers whose own user has no right to, and that open their store with `migrate: false`.
 *
 * @param source - The same as for `postgresStore`.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the tables are of a newer version, or the user has no right to create them.
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
