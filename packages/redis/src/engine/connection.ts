import { type EpochMs, unavailable, withTimeout } from "@latchkey/core";
import type { Settings } from "../options.js";
import { primariesOf, type RedisClient } from "./client.js";
import { firstWord, noAnswer, redisRefusal, translateError } from "./errors.js";
import { SCRIPTS, type Script } from "./scripts.js";
import { ServerRequirements } from "./server-requirements.js";

/** How long {@link Connection.close} waits for calls that are under way, in ms. */
const CLOSING_MS = 500;

/** Sends commands to a client, each within a deadline, and never twice. */
export class Connection {
  readonly #client: RedisClient;
  readonly #isOwned: boolean;
  readonly #settings: Settings;
  readonly #requirements: ServerRequirements;
  #isClosed = false;

  /** @param isOwned - Whether the client was opened for this connection, and is closed with it. */
  constructor(client: RedisClient, isOwned: boolean, settings: Settings) {
    this.#client = client;
    this.#isOwned = isOwned;
    this.#settings = settings;
    this.#requirements = new ServerRequirements(client, settings);
  }

  /**
   * Runs a script: one round trip, two where Redis does not hold it yet.
   *
   * @throws LatchkeyError as `translateError` says; nothing of the driver.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const { commandTimeoutMs, configTimeoutMs } = this.#settings;
    const spanMs = script === SCRIPTS.charge ? commandTimeoutMs : configTimeoutMs;
    return this.#within(() => this.#evaluate(script, keys, args), script.isWrite, spanMs);
  }

  /** The clock of the server. */
  async time(): Promise<EpochMs> {
    const [seconds, micros] = await this.ask(() => this.#client.time());
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  get primaries(): readonly RedisClient[] {
    return primariesOf(this.#client);
  }

  /** Asks a client what changes nothing. */
  ask<Answer>(send: () => Promise<Answer>): Promise<Answer> {
    return this.#within(send, false, this.#settings.configTimeoutMs);
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

  #within<Answer>(send: () => Promise<Answer>, isWrite: boolean, ownMs: number): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(unavailable("the store was closed"));
    // Whatever is sent behind a WAIT waits with it.
    const spanMs = ownMs + this.#settings.waitReplicas.timeoutMs;
    const late = () => noAnswer(isWrite, `Redis did not answer within ${spanMs} ms`);
    const translate = (error: unknown) => {
      if (firstWord(error) === "READONLY") this.#requirements.doubt();
      return translateError(error, isWrite);
    };
    if (this.#requirements.areMet) return withTimeout(spanMs, send(), late, translate);
    return this.#requirements.ensure().then(() => withTimeout(spanMs, send(), late, translate));
  }

  #evaluate(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    // ioredis takes a list wherever it takes an argument, though its types do not say so. Spread out, each lies on the stack.
    const words = [keys, args] as unknown as string[];
    const answer = this.#client.evalsha(script.sha1, keys.length, ...words).catch((error) => {
      // Nothing was run of a script that Redis does not hold: sending the text itself is no repeat.
      if (firstWord(error) !== "NOSCRIPT") throw error;
      return this.#client.eval(script.text, keys.length, ...words);
    });
    return this.#settings.waitReplicas.count > 0 && script.isWrite
      ? this.#replicate(answer)
      : answer;
  }

  /** WAIT speaks of what its own connection has written before: it follows the answer, on the same connection. */
  async #replicate(answer: Promise<unknown>): Promise<unknown> {
    const reply = await answer;
    const { count, timeoutMs } = this.#settings.waitReplicas;
    // Whatever WAIT is refused with does not take the write back.
    const reached = await this.#client
      .wait(count, timeoutMs)
      .catch(
        (error) => redisRefusal(firstWord(error)) ?? "it was not told which replicas hold that",
      );
    if (Number(reached) >= count) return reply;
    const few = `fewer than ${count} replicas did so within ${timeoutMs} ms`;
    const why = typeof reached === "string" ? reached : few;
    throw unavailable(`Redis wrote, but ${why}`, "unknown");
  }
}
