import { type ChargeMoment, LatchkeyError } from "@latchkey/core";
import type { Connection, Statement } from "./engine/connection.js";
import { rejectOverdue, type Waiting } from "./overdue.js";
import type { PreparedCharge } from "./prepared-charge.js";

/** Most charges in one statement: nobody waits longer than a few ms for those beside it. */
const MOST_AT_ONCE = 32;

/** How often counters may be locked by others, or gone, before they are taken for damaged. */
const MOST_ATTEMPTS = 10;

/** A charge that waits to be sent, or for its answer. */
interface WaitingCharge extends Waiting {
  readonly prepared: PreparedCharge;
  readonly moment: ChargeMoment;
  /** What it locks first; null for nothing. */
  readonly firstLock: string | null;
  readonly batchable: ReturnType<PreparedCharge["batchableAt"]>;
  readonly answer: (text: string) => void;
  /** How often it found its counters locked. */
  attempts: number;
}

/**
 * Sends the charges of one turn of the event loop as one statement. Each is decided on its own, and what is wrong with one harms
 * no other: where the counters of one are locked by somebody else, the others go on, and it is sent again to wait.
 *
 * While charges of some counters are under way, others of the same counters wait here, by that lock, and then go together. In the
 * server they would only wait for the same lock, each holding a connection that charges of other keys need.
 */
export class ChargeQueue {
  readonly #connection: Connection;
  #ready: WaitingCharge[] = [];
  /** By what charges that are under way have locked, those that wait for it. */
  readonly #waitingByLock = new Map<string, WaitingCharge[]>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * The answer of the database to a charge.
   *
   * @param deadline - `performance.now()` after which it is not sent any more.
   */
  add(prepared: PreparedCharge, moment: ChargeMoment, deadline: number): Promise<string> {
    if (this.#ready.length === 0) process.nextTick(() => this.#sendReady());
    const { firstLock } = prepared;
    const batchable = prepared.batchableAt(moment);
    return new Promise((answer, reject) => {
      this.#ready.push({
        prepared,
        moment,
        firstLock,
        batchable,
        deadline,
        answer,
        reject,
        attempts: 0,
      });
    });
  }

  #sendReady(): void {
    const ready = this.#ready;
    this.#ready = [];
    let batch: WaitingCharge[] = [];
    for (const waiting of ready) {
      const { firstLock, batchable } = waiting;
      const others = firstLock === null ? undefined : this.#waitingByLock.get(firstLock);
      if (others !== undefined) others.push(waiting);
      else if (batchable !== "all") void this.#send([waiting]);
      else batch.push(waiting);
      if (batch.length < MOST_AT_ONCE) continue;
      void this.#send(batch);
      batch = [];
    }
    if (batch.length > 0) void this.#send(batch);
  }

  async #send(batch: readonly WaitingCharge[]): Promise<void> {
    const locks = new Set<string>();
    for (const { firstLock } of batch) if (firstLock !== null) locks.add(firstLock);
    for (const firstLock of locks)
      if (!this.#waitingByLock.has(firstLock)) this.#waitingByLock.set(firstLock, []);
    await this.#ask(batch, locks.size <= 1);
    for (const firstLock of locks) this.#sendNext(firstLock);
  }

  /** What has waited for a lock. */
  #sendNext(firstLock: string): void {
    const waiting = this.#waitingByLock.get(firstLock) ?? [];
    rejectOverdue(waiting, "others of the same key or window took too long");
    const alone = waiting.findIndex(({ batchable }) => batchable === "none");
    const most = alone === -1 ? MOST_AT_ONCE : Math.min(Math.max(1, alone), MOST_AT_ONCE);
    if (waiting.length > 0) void this.#send(waiting.splice(0, most));
    else this.#waitingByLock.delete(firstLock);
  }

  /** @param waitsForLocks - Whether to wait for the locks of the first. */
  async #ask(batch: readonly WaitingCharge[], waitsForLocks: boolean): Promise<void> {
    let answers: readonly string[];
    try {
      answers = await this.#answers(batch, waitsForLocks);
    } catch (error) {
      if (batch.length > 1 && isOfOne(error))
        for (const waiting of batch) await this.#ask([waiting], true);
      else for (const { reject } of batch) reject(error);
      return;
    }
    for (const [index, waiting] of batch.entries()) {
      const { firstLock, answer } = waiting;
      const text = answers[index] ?? "";
      if (text !== "busy" || firstLock === null) answer(text);
      else if (waiting.attempts === MOST_ATTEMPTS) answer("corrupt");
      else {
        waiting.attempts += 1;
        this.#waitingByLock.get(firstLock)?.push(waiting);
      }
    }
  }

  /** One that is alone is a plain statement where it can be. What that has no answer to is asked of the function. */
  async #answers(
    batch: readonly WaitingCharge[],
    waitsForLocks: boolean,
  ): Promise<readonly string[]> {
    const { sql, chargeTimeoutMs } = this.#connection;
    const until = performance.now() + chargeTimeoutMs;
    const isWrite = batch.some(({ prepared }) => prepared.isWrite);
    const ask = async (asked: Statement, timeoutMs: number) =>
      (await this.#connection.charge(asked, isWrite, timeoutMs))[0]?.[0];
    const [alone, ...others] = batch;
    const plain = others.length === 0 ? alone?.prepared.plain : null;
    const statement = alone && plain?.at(alone.moment);
    if (statement) {
      const answer = await ask(statement, chargeTimeoutMs);
      if (answer) return [answer];
      plain?.leaveOut();
    }
    const plans = `{${batch.map(({ prepared, moment }) => prepared.at(moment)).join(",")}}`;
    const values = [plans, `${waitsForLocks}`];
    const text = await ask({ sql: sql.charge, values }, until - performance.now());
    return String(text).split("\x01");
  }
}

/** Whether nothing has happened because of what one charge found or brought. */
function isOfOne(error: unknown): boolean {
  return error instanceof LatchkeyError && error.code === "STORE_CORRUPT";
}
