import { type EpochMs, noAnswer, unavailable, withTimeout } from "@latchkey/core";
import type { Settings } from "../options.js";
import type { RedisClient } from "./client.js";
import { firstWord, isCutShort, isQueued, queued, redisRefusal, translateError } from "./errors.js";
import { HeldWindows } from "./held-windows.js";
import type { Script } from "./scripts.js";
import { ServerRequirements } from "./server-requirements.js";
import { asList, whole } from "./stored-values.js";

/** How long {@link Connection.close} waits for pending calls, in ms. */
const CLOSING_MS = 500;

/** Sends commands to a client, each within a deadline, and never twice. */
export class Connection {
  /** What is known of holds that were made through this connection. */
  readonly held = new HeldWindows();
  readonly #client: RedisClient;
  readonly #isOwned: boolean;
  readonly #settings: Settings;
  readonly #requirements: ServerRequirements;
  #isClosed = false;

  /** `isOwned`: whether the client was opened for this connection. Such a client is closed with it. */
  constructor(client: RedisClient, isOwned: boolean, settings: Settings) {
    this.#client = client;
    this.#isOwned = isOwned;
    this.#settings = settings;
    this.#requirements = new ServerRequirements(client, settings);
  }

  /**
   * Runs a script: one round trip, or two if Redis does not know it yet.
   *
   * @param spanMs - How long all of it may take, in ms, including the first connection and its examination.
   * @throws LatchkeyError as from `translateError`; never an error of the driver.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    spanMs = this.chargeSpanMs,
  ): Promise<unknown> {
    return this.#within(() => this.#evaluate(script, keys, args), script.isWrite, spanMs);
  }

  /** The clock of the server, in Unix epoch ms. */
  async time(): Promise<EpochMs> {
    const answer = asList(await this.ask((client) => client.time(), this.otherSpanMs), "clock");
    const [seconds, micros] = [whole(answer[0], "clock"), whole(answer[1], "clock")];
    return whole(seconds * 1_000 + Math.floor(micros / 1_000), "clock");
  }

  /** How long a verification may take, in ms. A command sent behind a WAIT waits with it. */
  get chargeSpanMs(): number {
    return this.#settings.commandTimeoutMs + this.#settings.waitReplicas.timeoutMs;
  }

  /** How long any other call may take, in ms. */
  get otherSpanMs(): number {
    return this.#settings.configTimeoutMs + this.#settings.waitReplicas.timeoutMs;
  }

  /** Sends a command that changes nothing. */
  ask<Answer>(send: (client: RedisClient) => Promise<Answer>, spanMs: number): Promise<Answer> {
    const asked = async () => {
      const answer = await send(this.#client);
      if (isQueued(answer)) throw queued(false);
      return answer;
    };
    return this.#within(asked, false, spanMs);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#requirements.stop();
    if (!this.#isOwned) return;
    if (this.#client.status === "ready") {
      await withTimeout(CLOSING_MS, this.#client.quit()).catch(() => undefined);
    }
    this.#client.disconnect();
  }

  #within<Answer>(send: () => Promise<Answer>, isWrite: boolean, spanMs: number): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(unavailable("the store was closed"));
    const requirements = this.#requirements;
    const late = () => noAnswer(isWrite, "Redis did not answer in time");
    const translate = (error: unknown) => {
      if (firstWord(error) === "READONLY" || isCutShort(error)) requirements.doubt();
      return translateError(error, isWrite);
    };
    if (requirements.areMet) return withTimeout(spanMs, send(), late, translate);
    const deadline = performance.now() + spanMs;
    let [isSent, isOver] = [false, false];
    const answered = requirements.ensure().then(() => {
      // The caller was already told that nothing happened, or is about to be: this process may have stood still.
      if (isOver || performance.now() >= deadline) throw requirements.notConnected();
      isSent = true;
      return send();
    });
    const giveUp = () => {
      isOver = true;
      return isSent ? late() : requirements.notConnected();
    };
    return withTimeout(spanMs, answered, giveUp, translate);
  }

  #evaluate(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    // ioredis takes an array wherever it takes an argument, though its types do not say so. Spread arguments would all lie on the stack.
    const words = [keys, args] as unknown as string[];
    const ran = (reply: unknown) => {
      if (isQueued(reply)) throw queued(script.isWrite);
      return reply;
    };
    const answer = this.#client
      .evalsha(script.sha1, keys.length, ...words)
      .then(ran, async (error) => {
        // Redis ran nothing of a script that it does not know: sending the text itself is not a repeat.
        if (firstWord(error) !== "NOSCRIPT") throw error;
        return ran(await this.#client.eval(script.text, keys.length, ...words));
      });
    return this.#settings.waitReplicas.count > 0 && script.isWrite
      ? this.#replicate(answer)
      : answer;
  }

  /** WAIT is about earlier writes of its own connection, so it follows the reply on the same connection. */
  async #replicate(answer: Promise<unknown>): Promise<unknown> {
    const reply = await answer;
    const { count, timeoutMs } = this.#settings.waitReplicas;
    // An error of WAIT does not take the write back.
    const reached = await this.#client
      .wait(count, timeoutMs)
      .catch(
        (error) =>
          redisRefusal(firstWord(error)) ?? "it did not say how many replicas have the write",
      );
    if (Number(reached) >= count) return reply;
    const few = `fewer than ${count} replicas did so within ${timeoutMs} ms`;
    const why = typeof reached === "string" ? reached : few;
    throw unavailable(`Redis wrote, but ${why}`, "unknown");
  }
}
