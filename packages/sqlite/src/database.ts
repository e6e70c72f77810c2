/** What better-sqlite3 answers to a statement that writes. */
export interface SqliteRunResult {
  readonly changes: number;
  readonly lastInsertRowid: number | bigint;
}

/** The part of a better-sqlite3 statement that this store uses. */
export interface SqliteStatement {
  run(...parameters: unknown[]): SqliteRunResult;
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  /** Rows as arrays: read about a third faster than objects. */
  raw(isOn?: boolean): SqliteStatement;
  /** Rows as the value of their first column. */
  pluck(isOn?: boolean): SqliteStatement;
  safeIntegers(isOn?: boolean): SqliteStatement;
}

/** The part of an open better-sqlite3 `Database` that this store uses. */
export interface SqliteDatabase {
  readonly open: boolean;
  readonly memory: boolean;
  readonly inTransaction: boolean;
  prepare(sql: string): SqliteStatement;
  exec(sql: string): unknown;
  pragma(source: string, options?: { readonly simple?: boolean }): unknown;
  close(): unknown;
}

/** One row as better-sqlite3 reads it: nothing in it is to be trusted before it was checked. */
export type RawRow = readonly unknown[];

/** A prepared statement whose rows are arrays, and whose integers are numbers whatever the connection's default. */
export class Query {
  readonly #statement: SqliteStatement;

  constructor(database: SqliteDatabase, sql: string) {
    this.#statement = database.prepare(sql).safeIntegers(false).raw(true);
  }

  first(...parameters: unknown[]): RawRow | undefined {
    return this.#statement.get(...parameters) as RawRow | undefined;
  }

  all(...parameters: unknown[]): RawRow[] {
    return this.#statement.all(...parameters) as RawRow[];
  }
}

/** A prepared statement that answers one value. */
export class ValueQuery {
  readonly #statement: SqliteStatement;

  constructor(database: SqliteDatabase, sql: string) {
    this.#statement = database.prepare(sql).safeIntegers(false).pluck(true);
  }

  value(): unknown {
    return this.#statement.get();
  }
}

/** A prepared statement that answers no rows. */
export class Command {
  readonly #statement: SqliteStatement;

  constructor(database: SqliteDatabase, sql: string) {
    this.#statement = database.prepare(sql).safeIntegers(false);
  }

  /** @returns How many rows were written. */
  run(...parameters: unknown[]): number {
    return this.#statement.run(...parameters).changes;
  }

  /** @returns The row number of the row that was added. */
  insert(...parameters: unknown[]): number {
    return Number(this.#statement.run(...parameters).lastInsertRowid);
  }
}
