import { unavailable } from "@latchkey/core";
import { noAnswer, notConnected } from "./errors.js";

/** One row, all of it text or null: nothing in it is trusted before it was checked. */
export type Row = readonly (string | null)[];

/** The part of a client of node-postgres that this store uses. */
export interface PostgresClient {
  query(query: {
    readonly text: string;
    readonly values: readonly (string | null)[];
    readonly name?: string;
    readonly rowMode: "array";
  }): Promise<{ readonly rows: unknown[] }>;
  release(isBroken?: boolean): void;
  on(event: "error", listener: () => void): unknown;
  removeListener(event: "error", listener: () => void): unknown;
}

/** The part of a `Pool` of node-postgres that this store uses. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The part of PGlite that this store uses. */
export interface PgliteDatabase {
  readonly waitReady: Promise<void>;
  query(
    sql: string,
    parameters: unknown[],
    options: { readonly rowMode: "array" },
  ): Promise<{ rows: unknown[] }>;
  close(): Promise<void>;
}

/** How a statement is run. */
export interface QueryOptions {
  /** Whether it may change something: then nobody knows what a lost answer means. */
  readonly isWrite?: boolean;
  /** Whether it runs so seldom that it is not worth being prepared. */
  readonly isOnce?: boolean;
  /** How long all of it may take, in ms. */
  readonly timeoutMs?: number;
}

/** Runs statements, each a transaction of its own. */
export interface Database {
  /** Whether a statement is planned once on each connection, and not each time. */
  readonly isPreparing: boolean;
  /**
   * Every value that it asks for is text.
   *
   * @throws LatchkeyError as `translateError` says; nothing of the driver.
   */
  query(
    sql: string,
    values: readonly (string | null)[],
    options?: QueryOptions,
  ): Promise<readonly Row[]>;
  /** Closes what was opened for it. */
  close(): Promise<void>;
}

/** Runs statements on connections of a pool. @param nameOf - The name to prepare a statement under; null to prepare none. */
export function poolDatabase(
  pool: PostgresPool,
  isOwned: boolean,
  nameOf: ((sql: string) => string) | null,
): Database {
  /** A connection, or an error when there is none in time: whatever comes later goes back. */
  const connect = async (timeoutMs: number) => {
    try {
      return await within(
        timeoutMs,
        pool.connect(),
        () => unavailable("PostgreSQL did not answer in time"),
        (late) => late.release(),
      );
    } catch (error) {
      throw notConnected(error);
    }
  };

  return {
    isPreparing: nameOf !== null,
    async query(text, values, { isWrite = false, isOnce = false, timeoutMs = 60_000 } = {}) {
      const deadline = performance.now() + timeoutMs;
      const client = await connect(timeoutMs);
      const name = isOnce ? undefined : nameOf?.(text);
      let isBroken = true;
      // The pool listens to connections that nobody uses; what one says while it is used would end the process. The call is told.
      client.on("error", ignore);
      try {
        const { rows } = await within(
          deadline - performance.now(),
          client.query({ text, values, rowMode: "array", ...(name !== undefined && { name }) }),
          () => noAnswer(isWrite, "PostgreSQL did not answer in time"),
        );
        isBroken = false;
        return rows as Row[];
      } catch (error) {
        isBroken = (error as { severity?: unknown }).severity !== "ERROR";
        throw error;
      } finally {
        client.removeListener("error", ignore);
        // One that still waits for an answer is not used again.
        client.release(isBroken);
      }
    },
    close: async () => {
      if (isOwned) await pool.end();
    },
  };
}

function ignore(): void {}

/** Runs statements in this process. They take turns. */
export function pgliteDatabase(pglite: PgliteDatabase): Database {
  return {
    isPreparing: false,
    async query(sql, values) {
      const { rows } = await pglite.query(sql, [...values], { rowMode: "array" });
      return rows as Row[];
    },
    close: async () => undefined,
  };
}

/**
 * The answer, or an error when it does not come in time. What came while this process was busy came in time: answers are read
 * before it is decided that there is none.
 *
 * @param onLate - Gets an answer that comes after all.
 */
function within<Answer>(
  timeoutMs: number,
  work: Promise<Answer>,
  late: () => Error,
  onLate: (answer: Answer) => void = () => undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      reject(late());
    };
    const timer = setTimeout(() => setImmediate(giveUp), Math.max(0, timeoutMs));
    work.then(
      (answer) => {
        clearTimeout(timer);
        if (isLate) onLate(answer);
        else resolve(answer);
      },
      (error) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
