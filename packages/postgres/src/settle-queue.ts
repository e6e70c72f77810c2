import { isCorruptRecord, unavailable } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import type { Statement } from "./engine/database.js";
import type { countedAt } from "./statistics.js";
import { askFor, resultOf, type WaitingCall } from "./waiting-call.js";

/** Most steps in one statement. */
const MOST_AT_ONCE = 32;

/** Most statements of a workspace in flight: steps that come meanwhile are then sent together. */
const MOST_UNDER_WAY = 4;

/** One of this many ends is sent to the function, the others as plain statements. */
const FUNCTION_EVERY = 128;

/** How often counters may be locked, or holds changed, by others before a step is given up. */
const MOST_ATTEMPTS = 10;

/** A step that waits to be sent, or for its result. */
interface WaitingStep extends WaitingCall {
  /** The step in the form of the function `settle`. */
  readonly row: string;
  /** What the step counts; null for nothing. */
  readonly counted: ReturnType<typeof countedAt> | null;
  /** Parameters of a plain statement that does the same; null if only the function will do. */
  readonly plain: Statement["values"] | null;
}

/** Steps of one workspace: how many statements are in flight, and which steps wait. */
interface Turns {
  underWay: number;
  waiting: WaitingStep[];
}

/**
 * Sends steps that change holds. Steps of one workspace that come in one turn of the event loop, or while the limit of statements is in
 * flight, share one statement. Each is applied separately: if another connection has locked the counters of a step, it is sent again, to
 * wait, when the others have their results.
 */
export class SettleQueue {
  readonly #connection: Connection;
  readonly #workspaces = new Map<string, Turns>();
  #plainEnds = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The result of a step. `deadline`: `performance.now()` by which there is a result or an error. */
  add(
    workspaceId: string,
    step: Pick<WaitingStep, "row" | "plain" | "counted">,
    deadline: number,
  ): Promise<string> {
    let turns = this.#workspaces.get(workspaceId);
    if (turns === undefined) {
      turns = { underWay: 0, waiting: [] };
      this.#workspaces.set(workspaceId, turns);
    }
    const { waiting } = turns;
    if (waiting.length === 0) process.nextTick(() => this.#sendWaiting(workspaceId));
    return resultOf(deadline, true, (call) => {
      waiting.push({ ...call, ...step });
    });
  }

  #sendWaiting(workspaceId: string): void {
    const turns = this.#workspaces.get(workspaceId);
    while (turns !== undefined && turns.waiting.length > 0 && turns.underWay < MOST_UNDER_WAY) {
      const batch = turns.waiting.splice(0, MOST_AT_ONCE).filter(({ state }) => !state.isOver);
      turns.underWay += 1;
      void this.#send(workspaceId, batch).finally(() => {
        turns.underWay -= 1;
        this.#sendWaiting(workspaceId);
      });
    }
    if (turns?.underWay === 0) this.#workspaces.delete(workspaceId);
  }

  /**
   * Settles each step. A step whose counters are locked is sent again, to wait for them.
   *
   * @param isPatient - Whether to wait for locks.
   */
  async #send(
    workspaceId: string,
    batch: readonly WaitingStep[],
    isPatient = batch.length === 1,
  ): Promise<void> {
    if (batch.length === 0) return;
    for (const { state } of batch) state.attempts += 1;
    let answers: readonly string[];
    try {
      answers = await this.#ask(workspaceId, batch, isPatient);
    } catch (error) {
      if (batch.length > 1 && isCorruptRecord(error))
        for (const step of batch) await this.#send(workspaceId, [step]);
      else for (const { reject } of batch) reject(error);
      return;
    }
    const busy: WaitingStep[] = [];
    for (const [index, step] of batch.entries()) {
      const text = answers[index] ?? "";
      step.state.isSent = false;
      if (text !== "busy") step.answer(text);
      else if (step.state.attempts < MOST_ATTEMPTS) busy.push(step);
      else step.reject(unavailable("others kept changing the reservation"));
    }
    await this.#send(workspaceId, busy, true);
  }

  /** Null if the function is needed, which is also called now and then because it deletes expired rows. */
  #plainOf(batch: readonly WaitingStep[]): WaitingStep["plain"] {
    const [alone, ...others] = batch;
    if (!this.#connection.isPreparing || others.length > 0 || !alone?.plain) return null;
    if (alone.state.attempts > 1) return null;
    this.#plainEnds += 1;
    return this.#plainEnds % FUNCTION_EVERY === 0 ? null : alone.plain;
  }

  async #ask(
    workspaceId: string,
    batch: readonly WaitingStep[],
    isPatient: boolean,
  ): Promise<readonly string[]> {
    const { sql } = this.#connection;
    const steps = `{${batch.map(({ row }) => row).join(",")}}`;
    const values = [workspaceId, steps, String(isPatient)];
    const ask = (statement: Statement) => askFor(batch, this.#connection, statement, true);
    const plain = this.#plainOf(batch);
    const answer = plain && (await ask({ sql: sql.plainEnd, values: [workspaceId, ...plain] }));
    if (answer) return [answer];
    const isCounted = batch.some(({ counted }) => counted !== null);
    if (isCounted) values.push(JSON.stringify(batch.map(({ counted }) => counted)));
    const statement = isCounted ? sql.settleCounted : sql.settle;
    return String(await ask({ sql: statement, values })).split("\x01");
  }
}
