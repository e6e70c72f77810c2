import { unavailable, withTimeout } from "@latchkey/core";
import type { Settings } from "../options.js";
import type { Database, Row, Statement } from "./database.js";
import { isWithoutEffect, translateError } from "./errors.js";
import { createStatements, type Statements } from "./statements.js";

/** Most attempts of a statement that had no effect because of other transactions, or of a connection that had ended. */
const MAX_ATTEMPTS = 10;

/** Runs the statements of a store. */
export class Connection {
  readonly sql: Statements;
  /** Whether statements are planned once, instead of each time. */
  readonly isPreparing: boolean;
  readonly #database: Database;
  readonly #settings: Settings;
  #closing: Promise<void> | null = null;
  #underWay = 0;
  /** Called when no call is in flight any more. */
  #onIdle: () => void = () => undefined;

  constructor(database: Database, settings: Settings) {
    this.sql = createStatements(settings.schema);
    this.isPreparing = database.isPreparing;
    this.#database = database;
    this.#settings = settings;
  }

  /** Runs the only statement of a call. `isWrite`: whether it may change something. */
  ask(sql: string, values: Statement["values"], isWrite = false): Promise<readonly Row[]> {
    return this.run({ sql, values }, isWrite, this.deadline());
  }

  /** The deadline of a call that starts now, in `performance.now()` time. */
  deadline(of: "charge" | "other" = "other"): number {
    const { chargeTimeoutMs, timeoutMs } = this.#settings;
    return performance.now() + (of === "charge" ? chargeTimeoutMs : timeoutMs);
  }

  /** Lets calls in flight finish first. */
  close(): Promise<void> {
    const { timeoutMs } = this.#settings;
    this.#closing ??= withTimeout(timeoutMs, this.#finish()).catch(() => undefined);
    return this.#closing;
  }

  /** A pool that ends forgets the callers that wait for a connection, so it must not end before them. */
  async #finish(): Promise<void> {
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    await this.#database.close();
  }

  /** `deadline`: of the call, from {@link deadline}. It includes what came before the statement. */
  async run(statement: Statement, isWrite: boolean, deadline: number): Promise<readonly Row[]> {
    if (this.#closing !== null) throw unavailable("the store was closed");
    this.#underWay += 1;
    try {
      return await this.#attempt(statement, isWrite, deadline);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#onIdle();
    }
  }

  async #attempt(
    statement: Statement,
    isWrite: boolean,
    deadline: number,
  ): Promise<readonly Row[]> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#database.query(statement, isWrite, deadline);
      } catch (error) {
        const pauseMs = Math.random() * 2 ** attempt;
        const isLast = attempt === MAX_ATTEMPTS || performance.now() + pauseMs >= deadline;
        if (!isWithoutEffect(error) || isLast) throw translateError(error, isWrite);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }
}
