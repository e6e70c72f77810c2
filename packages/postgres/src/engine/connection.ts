import { unavailable } from "@latchkey/core";
import type { Settings } from "../options.js";
import type { Database, Row } from "./database.js";
import { isRolledBack, translateError } from "./errors.js";
import { assertUpToDate, bringUpToDate } from "./migrations/index.js";
import { createStatements, type Statements } from "./statements.js";

/** Attempts of a statement that the server rolled back because of others. */
const MAX_ATTEMPTS = 10;

/** A statement with its parameters. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly (string | null)[];
}

/** Runs the statements of a store, once its tables are known to be right. */
export class Connection {
  readonly sql: Statements;
  readonly #database: Database;
  readonly #settings: Settings;
  #isReady = false;
  #opening: Promise<void> | null = null;
  #closing: Promise<void> | null = null;

  constructor(database: Database, settings: Settings) {
    this.sql = createStatements(settings.schema);
    this.#database = database;
    this.#settings = settings;
  }

  /** Runs a statement that changes nothing. */
  read(sql: string, values: readonly (string | null)[]): Promise<readonly Row[]> {
    return this.#run(sql, values, false, this.timeoutMs);
  }

  /** Runs a statement that may change something. */
  write(sql: string, values: readonly (string | null)[]): Promise<readonly Row[]> {
    return this.#run(sql, values, true, this.timeoutMs);
  }

  /** How long a call that is no verification waits for its answer. */
  get timeoutMs(): number {
    return this.#settings.timeoutMs;
  }

  /** How long a verification waits for its answer. */
  get chargeTimeoutMs(): number {
    return this.#settings.chargeTimeoutMs;
  }

  /** Whether statements are planned once, and not each time. */
  get isPreparing(): boolean {
    return this.#database.isPreparing;
  }

  /** Runs a statement of a verification. */
  charge({ sql, values }: Statement, isWrite: boolean, timeoutMs: number): Promise<readonly Row[]> {
    return this.#run(sql, values, isWrite, timeoutMs);
  }

  /** Calls that are under way are answered first. */
  close(): Promise<void> {
    this.#closing ??= this.#database.close().catch(() => undefined);
    return this.#closing;
  }

  async #run(
    sql: string,
    values: readonly (string | null)[],
    isWrite: boolean,
    timeoutMs: number,
  ): Promise<readonly Row[]> {
    if (this.#closing !== null) throw unavailable("the store was closed");
    if (!this.#isReady) await this.#open();
    const deadline = performance.now() + timeoutMs;
    for (let attempt = 1; ; attempt += 1) {
      try {
        const left = deadline - performance.now();
        return await this.#database.query(sql, values, { isWrite, timeoutMs: left });
      } catch (error) {
        const isLast = attempt === MAX_ATTEMPTS || performance.now() >= deadline;
        if (!isRolledBack(error) || isLast) throw translateError(error, isWrite);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 2 ** attempt));
      }
    }
  }

  /** Calls that arrive meanwhile share it; where it fails, the next one tries again. */
  #open(): Promise<void> {
    const { migrate, schema } = this.#settings;
    const prepare = migrate ? bringUpToDate : assertUpToDate;
    this.#opening ??= prepare(this.#database, schema)
      .then(
        () => {
          this.#isReady = true;
        },
        (error: unknown) => {
          throw translateError(error, false);
        },
      )
      .finally(() => {
        this.#opening = null;
      });
    return this.#opening;
  }
}
