import { LatchkeyError, unavailable, unfit } from "@latchkey/core";
import type { Ask } from "../database.js";
import { serverCode } from "../errors.js";
import { CHARGE } from "./charge.js";
import { COMMIT } from "./commit.js";
import { HOLD_RULES } from "./hold-rules.js";
import { RULES } from "./rules.js";
import { SETTLE } from "./settle.js";
import { ADD_STATISTICS } from "./statistics.js";
import { DAYS, HOLDS, LOG, TABLES } from "./tables.js";
import { VIEWS } from "./views.js";

/**
 * All functions, and the views. They replace those of earlier schemas. No name in a function is looked up in `public`, where another role
 * may be allowed to create functions and operators.
 */
const FUNCTIONS = `${RULES}${HOLD_RULES}${CHARGE}${SETTLE}${COMMIT}${ADD_STATISTICS}${VIEWS}`
  .replaceAll("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")
  .replaceAll("LANGUAGE plpgsql", "LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp");

/**
 * SQL that turns schema N into schema N + 1, at index N. A released step is never edited. When functions change, or a key has a new field
 * for the views, FUNCTIONS moves to a new last step, and its old step becomes empty. From HOLDS on, a step can run again on a schema
 * that has it.
 */
const MIGRATIONS: readonly string[] = [
  TABLES,
  "",
  "",
  "",
  HOLDS,
  LOG,
  DAYS,
  "",
  "",
  "",
  "",
  "",
  FUNCTIONS,
];

/** The schema that this code reads and writes. */
const LATEST = MIGRATIONS.length;

/**
 * Servers that speak the protocol of PostgreSQL, by their answer to `version()`. Their READ COMMITTED is a snapshot, an option that may
 * be off, or stricter: a charge relies on each of its statements seeing what was committed before that statement.
 */
const OTHERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/-YB-|yugabyte/i, "YugabyteDB"],
  [/cockroach/i, "CockroachDB"],
  [/\bDSQL\b/i, "Aurora DSQL"],
  [/spanner/i, "Spanner"],
  [/\bYDB\b/, "YDB"],
];

/** Functions that a charge needs: `FOR NO KEY UPDATE` and assignment to fields of rows in arrays. */
const OLDEST_SERVER = 140_000;

/** Replaces `latchkey.`, which is how all SQL here names the schema, with the name of the schema. */
export function inSchema(sql: string, schema: string): string {
  return sql.replace(/\blatchkey\./g, `"${schema}".`);
}

/** Tables that a schema of this version has, each with a primary key: a dump that was restored in part may have left out the keys. */
const TABLE_NAMES = "workspace counters record claim list entry passing statistic hold".split(" ");

/** Functions that a schema of this version has. */
const FUNCTION_NAMES = [
  ...new Set(Array.from(FUNCTIONS.matchAll(/FUNCTION latchkey\.(\w+)/g), ([, name]) => name)),
];

/** The schema that a schema without its functions counts as. */
const WITHOUT_FUNCTIONS = MIGRATIONS.indexOf(HOLDS);

/** Part of an update of a schema without some functions: unless another process has created them by now, all are created again. */
const CREATE_AGAIN = `IF (SELECT count(DISTINCT f.proname) FROM pg_proc f JOIN pg_class c ON c.relnamespace = f.pronamespace
      WHERE c.oid = 'latchkey.schema_version'::regclass AND f.proname IN ('${FUNCTION_NAMES.join("', '")}')) < ${FUNCTION_NAMES.length}
    THEN found := least(found, ${WITHOUT_FUNCTIONS}); END IF;`;

/**
 * How long an update may wait for a lock on a table, in ms. Statements of other processes queue behind it meanwhile, even those that the
 * holder of the lock does not block.
 */
const TABLE_LOCK_MS = 500;

/** How long an update pauses after it gave up a lock, in ms: statements that queued behind it run. */
const PAUSE_MS = 1_000;

const LOCKED =
  "the tables of latchkey have to be updated, and another transaction holds a lock on them: a long query, pg_dump, or another process that updates them. Nothing was changed: try again when it has ended";

/** What a connection leads to: server, version and objects. Names of tables and functions are given as lists of texts. */
const EXAMINE = `SELECT pg_catalog.version(), pg_catalog.current_setting('server_version_num'),
  pg_catalog.current_setting('server_encoding'), (pg_catalog.to_regclass($1) IS NOT NULL)::text,
  (SELECT pg_catalog.string_agg(c.relname::text, ', ') FROM pg_catalog.pg_class c
    WHERE c.relnamespace = n.oid AND c.relrowsecurity AND pg_catalog.row_security_active(c.oid)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid)),
  (SELECT pg_catalog.string_agg(named, ', ' ORDER BY named) FROM pg_catalog.unnest($3::text[]) named
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisprimary
      WHERE c.relnamespace = n.oid AND c.relname = named::pg_catalog.name)),
  (SELECT pg_catalog.string_agg(named, ', ' ORDER BY named) FROM pg_catalog.unnest($4::text[]) named
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_proc f WHERE f.pronamespace = n.oid AND f.proname = named::pg_catalog.name))
  FROM (SELECT) one LEFT JOIN pg_catalog.pg_namespace n ON n.nspname::text = $2`;

/** The version of latchkey's tables, 0 if there are none, and which functions of this version are missing. */
interface Found {
  readonly version: number;
  readonly missing: string | null;
}

/**
 * Reads what the schema has.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` if the server or its encoding is not supported, or a newer latchkey has written the tables;
 * `STORE_CORRUPT` if tables of this version, or their primary keys, are missing.
 */
async function examine(ask: Ask, schema: string): Promise<Found> {
  const examining = {
    sql: EXAMINE,
    values: [
      `"${schema}".schema_version`,
      schema,
      `{${TABLE_NAMES.join(",")}}`,
      `{${FUNCTION_NAMES.join(",")}}`,
    ],
    isOnce: true,
  };
  const [[name = "", server, encoding, isThere, hidden, tables, functions] = []] =
    await ask(examining);
  const other = OTHERS.find(([pattern]) => pattern.test(name ?? ""))?.[1];
  if (other !== undefined)
    throw unfit(
      `the server is ${other}, whose READ COMMITTED is not that of PostgreSQL: uses and limits would be taken twice; use PostgreSQL itself`,
    );
  if (!(Number(server) >= OLDEST_SERVER)) throw unfit("PostgreSQL 14 or later is needed");
  if (encoding !== "UTF8")
    throw unfit("the database must have the encoding UTF8: create another with ENCODING 'UTF8'");
  if (isThere !== "true") return { version: 0, missing: null };
  if (hidden)
    throw unfit(
      `row level security hides all rows of these tables of latchkey from the role: ${hidden}. Disable it there, or create a policy for the role`,
    );
  const sql = inSchema("SELECT version::text FROM latchkey.schema_version", schema);
  const [[stored] = []] = await ask({ sql, values: [], isOnce: true });
  const version = Number(stored ?? "0");
  if (!Number.isSafeInteger(version) || version < 0)
    throw new LatchkeyError("STORE_CORRUPT", "the stored schema version is damaged");
  if (version > LATEST)
    throw unfit(
      `the database has schema ${version}, and this latchkey knows up to ${LATEST}: install a newer @latchkey/postgres, or restore a backup from before the update`,
    );
  if (version < LATEST) return { version, missing: null };
  if (!tables && !functions) return { version, missing: null };
  // Another process may have updated them since: reading the version waits for that, and what is there was read before it.
  const [[, , , , , lacking, missing = null] = []] = await ask(examining);
  if (lacking)
    throw new LatchkeyError(
      "STORE_CORRUPT",
      `tables of latchkey, or their primary keys, are missing in the database: ${lacking}. Restore a backup, to its end`,
    );
  return { version, missing };
}

/**
 * Brings latchkey's tables up to date, in one statement and so in one transaction. Processes that open a database at the same time take
 * turns. If it is up to date, the schema is only read, so no right to create tables is needed.
 *
 * Functions that are missing are created again: a dump of tables alone (`pg_dump -t`) has none.
 *
 * @param deadline - `performance.now()` after which nobody waits for the result: then the server gives up its locks as well.
 */
export async function bringUpToDate(ask: Ask, schema: string, deadline: number): Promise<void> {
  const found = await examine(ask, schema);
  if (found.version === LATEST && found.missing === null) return;
  for (;;) {
    const waitMs = Math.max(1, Math.ceil(deadline - performance.now()));
    try {
      await ask({ sql: updateOf(schema, found, waitMs), values: [], isOnce: true });
      return;
    } catch (error) {
      const code = serverCode(error);
      if (code === "42501" && found.version > 0) throw unfit(outdated(found));
      if (code !== "55P03") throw error;
    }
    if (performance.now() + PAUSE_MS >= deadline) throw unavailable(LOCKED);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

function updateOf(schema: string, { missing }: Found, waitMs: number): string {
  const steps = MIGRATIONS.map(
    (sql, place) => `IF found < ${place + 1} THEN EXECUTE $migration$${sql}$migration$; END IF;`,
  );
  const sql = `DO $do$ DECLARE found integer; BEGIN
    PERFORM pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
    PERFORM set_config('lock_timeout', '${waitMs}ms', true);
    PERFORM pg_advisory_xact_lock(1818326891, 0);
    PERFORM set_config('lock_timeout', '${Math.min(waitMs, TABLE_LOCK_MS)}ms', true);
    -- Not to_regnamespace: it may still know from before the lock that there is none.
    IF NOT EXISTS (SELECT FROM pg_namespace WHERE nspname = '${schema}') THEN EXECUTE 'CREATE SCHEMA "${schema}"'; END IF;
    EXECUTE 'CREATE TABLE IF NOT EXISTS latchkey.schema_version (version integer NOT NULL CHECK (version >= 1))';
    EXECUTE 'SELECT coalesce(max(version), 0) FROM latchkey.schema_version' INTO found;
    ${missing === null ? "" : CREATE_AGAIN}
    ${steps.join("\n")}
    IF found < ${LATEST} THEN
      -- It has no primary key: without this, a publication of all tables would forbid deleting a row of it. A lock that even readers wait
      -- for, so only if it is needed.
      IF NOT EXISTS (SELECT FROM pg_class WHERE oid = 'latchkey.schema_version'::regclass AND relreplident = 'f') THEN
        EXECUTE 'ALTER TABLE latchkey.schema_version REPLICA IDENTITY FULL';
      END IF;
      EXECUTE 'DELETE FROM latchkey.schema_version';
      EXECUTE 'INSERT INTO latchkey.schema_version VALUES (${LATEST})';
    END IF;
  END $do$`;
  return inSchema(sql, schema);
}

/** @throws LatchkeyError `PRECONDITION_FAILED` if the tables are not those that this code reads and writes. */
export async function assertUpToDate(ask: Ask, schema: string): Promise<void> {
  const found = await examine(ask, schema);
  if (found.version !== LATEST || found.missing !== null) throw unfit(outdated(found));
}

function outdated({ version, missing }: Found): string {
  const names = missing?.split(", ") ?? [];
  const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
  if (names.length > 0)
    return `functions of latchkey are missing in the database: ${names.slice(0, 3).join(", ")}${more}. Call migrate of @latchkey/postgres as the user that owns the tables`;
  const who = version === 0 ? "a user that may create tables" : "the user that owns the tables";
  return `the database has schema ${version} of latchkey, and ${LATEST} is needed: call migrate of @latchkey/postgres as ${who}`;
}
