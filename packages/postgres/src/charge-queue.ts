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
  readonly lane: string | null;
  readonly mates: ReturnType<PreparedCharge["matesAt"]>;
  readonly answer: (text: string) => void;
  /** How often it found its counters locked. */
  attempts: number;
}

/**
 * Sends the charges of one turn of the event loop as one statement. Each is decided on its own, and what is wrong with one harms
 * no other: where the counters of one are locked by somebody else, the others go on, and it is sent again to wait.
 *
 * While charges of some counters are under way, others of the same counters wait here, in their lane, and then go together. In the
 * server they would only wait for the same lock, each holding a connection that charges of other keys need.
 */
export class ChargeQueue {
  readonly #connection: Connection;
  #ready: WaitingCharge[] = [];
  /** By what charges that are under way have locked, those that wait for it. */
  readonly #lanes = new Map<string, WaitingCharge[]>();

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
    const { lane } = prepared;
    const mates = prepared.matesAt(moment);
    return new Promise((answer, reject) => {
      this.#ready.push({ prepared, moment, lane, mates, deadline, answer, reject, attempts: 0 });
    });
  }

  #sendReady(): void {
    const ready = this.#ready;
    this.#ready = [];
    let batch: WaitingCharge[] = [];
    for (const waiting of ready) {
      const { lane, mates } = waiting;
      const others = lane === null ? undefined : this.#lanes.get(lane);
      if (others !== undefined) others.push(waiting);
      else if (mates !== "all") void this.#send([waiting]);
      else batch.push(waiting);
      if (batch.length < MOST_AT_ONCE) continue;
      void this.#send(batch);
      batch = [];
    }
    if (batch.length > 0) void this.#send(batch);
  }

  async #send(batch: readonly WaitingCharge[]): Promise<void> {
    const lanes = new Set<string>();
    for (const { lane } of batch) if (lane !== null) lanes.add(lane);
    for (const lane of lanes) if (!this.#lanes.has(lane)) this.#lanes.set(lane, []);
    await this.#ask(batch, lanes.size <= 1);
    for (const lane of lanes) this.#sendNext(lane);
  }

  /** What has waited in a lane. */
  #sendNext(lane: string): void {
    const waiting = this.#lanes.get(lane) ?? [];
    rejectOverdue(waiting, "others of the same key or window took too long");
    const alone = waiting.findIndex(({ mates }) => mates === "none");
    const most = alone === -1 ? MOST_AT_ONCE : Math.min(Math.max(1, alone), MOST_AT_ONCE);
    if (waiting.length > 0) void this.#send(waiting.splice(0, most));
    else this.#lanes.delete(lane);
  }

  /** @param isPatient - Whether to wait for the locks of the first. */
  async #ask(batch: readonly WaitingCharge[], isPatient: boolean): Promise<void> {
    let answers: readonly string[];
    try {
      answers = await this.#answers(batch, isPatient);
    } catch (error) {
      if (batch.length > 1 && isOfOne(error))
        for (const waiting of batch) await this.#ask([waiting], true);
      else for (const { reject } of batch) reject(error);
      return;
    }
    for (const [place, waiting] of batch.entries()) {
      const { lane, answer } = waiting;
      const text = answers[place] ?? "";
      if (text !== "busy" || lane === null) answer(text);
      else if (waiting.attempts === MOST_ATTEMPTS) answer("corrupt");
      else {
        waiting.attempts += 1;
        this.#lanes.get(lane)?.push(waiting);
      }
    }
  }

  /** One that is alone is a plain statement where it can be. What that has no answer to is asked of the function. */
  async #answers(batch: readonly WaitingCharge[], isPatient: boolean): Promise<readonly string[]> {
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
    const values = [plans, `${isPatient}`];
    const text = await ask({ sql: sql.charge, values }, until - performance.now());
    return String(text).split("\x01");
  }
}

/** Whether nothing has happened because of what one charge found or brought. */
function isOfOne(error: unknown): boolean {
  return error instanceof LatchkeyError && error.code === "STORE_CORRUPT";
}
