import { noAnswer, unavailable, withTimeout } from "@latchkey/core";
import { isWithoutEffect, notConnected, translateError } from "./errors.js";

/** One row of texts and nulls. Its values are not trusted until they are checked. */
export type Row = readonly (string | null)[];

/** A statement with its parameters. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | null)[];
  /** Whether it runs so seldom that preparing it does not pay. */
  readonly isOnce?: boolean;
  /** Called when it is sent: until then nothing has happened. */
  readonly onSend?: () => void;
}

/** Runs a statement on one connection. */
export type Ask = (statement: Statement) => Promise<readonly Row[]>;

/** The part of a client of node-postgres that this store uses. */
export interface PostgresClient {
  query(query: {
    readonly text: string;
    readonly values: readonly (string | null)[];
    readonly name?: string;
    readonly rowMode: "array";
    readonly types: typeof AS_TEXT;
  }): Promise<{ readonly rows: unknown[] }>;
  release(isBroken?: boolean): void;
  /** `T` or `E` inside a transaction. Older versions of node-postgres do not have it. */
  getTransactionStatus?(): string | null;
  on(event: "error", listener: () => void): unknown;
  on(event: "notice", listener: (notice: unknown) => void): unknown;
  removeListener(event: "error" | "notice", listener: (notice: unknown) => void): unknown;
}

/** The part of a `Pool` of node-postgres that this store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  connect(callback: (error: Error | undefined, client?: PostgresClient) => void): void;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The part of PGlite that this store uses. */
export interface PgliteDatabase {
  readonly waitReady: Promise<void>;
  query(
    sql: string,
    parameters: unknown[],
    options: {
      readonly rowMode: "array";
      readonly parsers: Record<number, (text: string) => string>;
      readonly serializers: Record<number, (text: string) => string>;
    },
  ): Promise<{ rows: unknown[] }>;
  /** Older versions do not have it. */
  isInTransaction?(): boolean;
  close(): Promise<void>;
}

/** Runs statements, each in its own transaction. */
export type Database = ReturnType<typeof poolDatabase>;

/** How long a connection counts as examined, in ms: a newer version may update the tables while it is open. */
const EXAMINED_MS = 60_000;

const LATE = "PostgreSQL did not answer in time";
const NO_CONNECTION =
  "no connection was available in time: PostgreSQL did not answer, or all connections of the pool are in use";
const TOO_LATE = "the time of the call was over before it could be sent: this process stood still";
const OPEN_TRANSACTION =
  "the pool gave a connection inside a transaction that its owner began: end it before you release the connection";

const TRANSACTION_OF_PGLITE =
  "the PGlite is inside a transaction that its owner began: end it first, or use transaction() of PGlite, which makes others wait";

const NOT_REPLICATED =
  "the wait for a synchronous standby was cancelled, so the write may be lost if a standby is promoted";

/** Errors after which the next statements on the connection would fail as well: an aborted transaction, missing prepared statements. */
const STAYING = ["25P02", "26000"];

/** Overrides parsers that the owner may have set, for the process or for the pool. */
const AS_TEXT = { getTypeParser: () => (value: string) => value };

/**
 * Runs statements on connections of a pool.
 *
 * @param nameOf - The name under which a statement is prepared; null to prepare none.
 * @param examine - Rejects if a connection does not lead to tables that this code reads and writes.
 */
export function poolDatabase(
  pool: PostgresPool,
  isOwned: boolean,
  nameOf: ((sql: string) => string) | null,
  examine: (ask: Ask, deadline: number) => Promise<void>,
) {
  const examinedAt = new WeakMap<PostgresClient, number>();
  /** A connection, or an error if there is none in time: one that comes later goes back to the pool. */
  const connect = async (deadline: number) => {
    try {
      return await withTimeout(
        deadline - performance.now(),
        take(pool),
        () => unavailable(NO_CONNECTION),
        undefined,
        (late) => giveBack(late),
      );
    } catch (error) {
      throw notConnected(error);
    }
  };

  return {
    /** Whether a statement is planned once on each connection, instead of each time. */
    isPreparing: nameOf !== null,
    /**
     * All values are text. A connection is examined before its first statement, and again after a while.
     *
     * @param isWrite - Whether it may change something: then a lost reply has the outcome `unknown`.
     * @param deadline - `performance.now()` by which there is a result or an error.
     * @throws LatchkeyError without a usable connection; errors of the driver for the statement itself.
     */
    async query(statement: Statement, isWrite: boolean, deadline: number): Promise<readonly Row[]> {
      const client = await connect(deadline);
      const ask = ({ sql: text, values, isOnce = false }: Statement, isUnknown: boolean) => {
        const name = isOnce ? undefined : nameOf?.(text);
        const query = {
          text,
          values,
          rowMode: "array",
          types: AS_TEXT,
          ...(name !== undefined && { name }),
        } as const;
        return withTimeout(deadline - performance.now(), client.query(query), () =>
          noAnswer(isUnknown, LATE),
        ).then((result) => readRows(result, isUnknown));
      };
      let isBroken = true;
      let isReplicated = true;
      const onNotice = (notice: unknown) => {
        if (saysNotReplicated(notice)) isReplicated = false;
      };
      client.on("notice", onNotice);
      try {
        if (["T", "E"].includes(client.getTransactionStatus?.() ?? ""))
          throw unavailable(OPEN_TRANSACTION);
        const at = examinedAt.get(client) ?? Number.NEGATIVE_INFINITY;
        if (performance.now() - at >= EXAMINED_MS) {
          await examine((examining) => ask(examining, false), deadline).catch((error) => {
            throw isWithoutEffect(error) ? error : translateError(error, false);
          });
          examinedAt.set(client, performance.now());
        }
        // The caller would get an unknown outcome, and lose what the statement takes.
        if (performance.now() >= deadline) {
          isBroken = false;
          throw unavailable(TOO_LATE);
        }
        statement.onSend?.();
        const rows = await ask(statement, isWrite);
        isBroken = false;
        if (!isReplicated) throw noAnswer(isWrite, NOT_REPLICATED);
        return rows;
      } catch (error) {
        const { severity, code } = error as { severity?: unknown; code?: unknown };
        isBroken &&= severity !== "ERROR" || STAYING.includes(String(code));
        throw error;
      } finally {
        client.removeListener("notice", onNotice);
        // A connection that still waits for a reply is not used again.
        giveBack(client, isBroken);
      }
    },
    /** Closes the pool, if it was opened for the store. */
    close: async () => {
      if (isOwned) await pool.end();
    },
  };
}

/**
 * A connection of the pool. The pool listens to idle connections; an error of one in use would end the process. The error may come in the
 * same step in which the pool hands the connection over, if the server ends it as it opens: so the pool gets a callback, and no promise
 * is awaited.
 */
function take(pool: PostgresPool): Promise<PostgresClient> {
  return new Promise((resolve, reject) => {
    let isTaken = false;
    const takeOne = (error: Error | undefined, client?: PostgresClient) => {
      if (client === undefined) return reject(error);
      if (!isTaken) client.on("error", ignore);
      isTaken = true;
      resolve(client);
    };
    // A wrapper of a pool may not know callbacks.
    const promised = pool.connect(takeOne) as unknown as Promise<PostgresClient> | undefined;
    promised?.then((client) => client && takeOne(undefined, client), reject);
  });
}

function giveBack(client: PostgresClient, isBroken = false): void {
  client.removeListener("error", ignore);
  client.release(isBroken);
}

/**
 * If somebody cancels a statement that waits for a synchronous standby (`pg_cancel_backend`), it succeeds with a warning, because it is
 * already committed here. The text of the warning depends on the language of the server, and its code is that of any warning.
 */
function saysNotReplicated(notice: unknown): boolean {
  return Object(notice).routine === "SyncRepWaitForLSN";
}

function readRows(result: unknown, isUnknown: boolean): readonly Row[] {
  const { rows } = Object(result) as { readonly rows?: unknown };
  if (Array.isArray(rows) && rows.every(isRow)) return rows;
  throw noAnswer(isUnknown, "PostgreSQL returned something other than rows");
}

function isRow(row: unknown): row is Row {
  return Array.isArray(row) && row.every((value) => value === null || typeof value === "string");
}

function ignore(): void {}

/** Number of the type of all parameters and columns. */
const TEXT = 25;

/**
 * A pool of the one connection to a PGlite, where statements take turns. A parameter is serialised when its statement has the turn,
 * before it runs: by then a transaction of `transaction()` is over, but one that the owner began with SQL is not.
 */
export function poolOf(pglite: PgliteDatabase): PostgresPool {
  const serialize = (text: string) => {
    if (pglite.isInTransaction?.()) throw unavailable(TRANSACTION_OF_PGLITE);
    return text;
  };
  const asText = { [TEXT]: (text: string) => text };
  const options = {
    rowMode: "array",
    parsers: asText,
    serializers: { [TEXT]: serialize },
  } as const;
  const client: PostgresClient = {
    query: ({ text, values }) => pglite.query(text, [...values], options),
    release: ignore,
    on: ignore,
    removeListener: ignore,
  };
  return { connect: () => Promise.resolve(client), end: async () => undefined, on: ignore };
}
