import { createRequire } from "node:module";
import { type DriverManifest, refuseLaterDriver } from "@latchkey/core";

const require = createRequire(import.meta.url);

/** A row of a table, by column. */
export type DatabaseRow = Readonly<Record<string, unknown>>;

/** Rows per query. */
const PAGE = 500;

/** The part of a database client that an import uses: one statement at a time. */
interface Database {
  query(sql: string, parameters: readonly unknown[]): Promise<readonly DatabaseRow[]>;
  close(): Promise<void>;
}

/**
 * The rows of a table in the order of their `id`, a page at a time, so that nothing is locked during the import.
 *
 * @param url - `sqlite:./auth.db`, the path of such a file, or `postgres://user@host/database`.
 * @param table - Its name, optionally with a schema: `auth.apikey`.
 * @throws TypeError if the package for this database is not installed.
 * @throws LatchkeyError `PRECONDITION_FAILED` if the package requires a later Node.js.
 */
export async function* databaseRows(url: string, table: string): AsyncGenerator<DatabaseRow> {
  const from = table
    .split(".")
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join(".");
  const isPostgres = /^postgres(?:ql)?:/i.test(url);
  const database = isPostgres ? await openPostgres(url) : await openSqlite(url);
  const parameter = isPostgres ? "$1" : "?";
  try {
    let page = await database.query(`SELECT * FROM ${from} ORDER BY id LIMIT ${PAGE}`, []);
    while (page.length > 0) {
      yield* page;
      const last = page.at(-1)?.id;
      page = await database.query(
        `SELECT * FROM ${from} WHERE id > ${parameter} ORDER BY id LIMIT ${PAGE}`,
        [last],
      );
    }
  } finally {
    await database.close();
  }
}

async function openPostgres(url: string): Promise<Database> {
  const { default: pg } = await load("pg", () => import("pg"));
  const client = new pg.Client({ connectionString: url });
  // A broken connection fails the next query. Without a listener, it would end the process.
  client.on("error", () => undefined);
  await client.connect();
  return {
    query: async (sql, parameters) => (await client.query(sql, [...parameters])).rows,
    close: () => client.end(),
  };
}

async function openSqlite(url: string): Promise<Database> {
  const describe = () => require("better-sqlite3/package.json") as DriverManifest;
  refuseLaterDriver(describe, process.versions.node, "better-sqlite3@12");
  const { default: Sqlite } = await load("better-sqlite3", () => import("better-sqlite3"));
  const path = url.replace(/^sqlite:/i, "");
  const database = new Sqlite(path, { readonly: true, fileMustExist: true });
  return {
    query: async (sql, parameters) =>
      database.prepare(sql).all(...parameters) as readonly DatabaseRow[],
    close: async () => {
      database.close();
    },
  };
}

/** Imports from files need no database driver. */
async function load<Module>(name: string, from: () => Promise<Module>): Promise<Module> {
  try {
    return await from();
  } catch (cause) {
    throw new TypeError(`reading this database needs the package ${name}: npm install ${name}`, {
      cause,
    });
  }
}
