import type { EpochMs } from "@latchkey/core";
import type { Settings } from "../options.js";
import { isCluster, type RedisClient, type RedisClusterClient } from "./client.js";
import { firstWord, noAnswer, notAsked, translateError, unavailable } from "./errors.js";
import type { Script } from "./scripts.js";
import { ServerRequirements } from "./server-requirements.js";
import { withTimeout } from "./with-timeout.js";

/** How long {@link Connection.close} waits for calls that are under way, in ms. */
const CLOSING_MS = 500;

/** Sends commands to a client, each within a deadline, and never twice. */
export class Connection {
  readonly #client: RedisClient | RedisClusterClient;
  readonly #isOwned: boolean;
  readonly #waitReplicas: Settings["waitReplicas"];
  readonly #requirements: ServerRequirements;
  readonly #soonMs: number;
  readonly #laterMs: number;
  #isClosed = false;

  /** @param isOwned - Whether the client was opened for this connection, and is closed with it. */
  constructor(client: RedisClient | RedisClusterClient, isOwned: boolean, settings: Settings) {
    const waitMs = settings.waitReplicas?.timeoutMs ?? 0;
    this.#client = client;
    this.#isOwned = isOwned;
    this.#waitReplicas = settings.waitReplicas;
    this.#requirements = new ServerRequirements(client, settings);
    this.#soonMs = settings.commandTimeoutMs + waitMs;
    this.#laterMs = settings.configTimeoutMs + waitMs;
  }

  /**
   * Runs a script: one round trip, two where Redis does not hold it yet.
   *
   * @param read - Puts the answer into other words; what it throws is passed on.
   * @throws LatchkeyError as `translateError` says; nothing of the driver.
   */
  async run<Result>(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    const send = () => this.#evaluate(script, keys, args);
    return read(await this.#within(this.#laterMs, script.isWrite, send));
  }

  /** The same within the deadline of a verification. */
  verify(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#within(this.#soonMs, script.isWrite, () => this.#evaluate(script, keys, args));
  }

  /** The clock of the server. */
  async time(): Promise<EpochMs> {
    const send = () => this.#client.time();
    const [seconds, micros] = await this.#within(this.#laterMs, false, send);
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
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

  #within<Answer>(spanMs: number, isWrite: boolean, send: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) return Promise.reject(unavailable("the store was closed"));
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
    return this.#waitReplicas !== null && script.isWrite ? this.#replicate(answer) : answer;
  }

  /** WAIT speaks of what its own connection has written before: it follows the answer, on the same connection. */
  async #replicate(answer: Promise<unknown>): Promise<unknown> {
    const reply = await answer;
    if (this.#waitReplicas === null || isCluster(this.#client)) return reply;
    const { count, timeoutMs } = this.#waitReplicas;
    const reached = await this.#client.wait(count, timeoutMs).catch(notAsked);
    if (typeof reached === "number" && reached >= count) return reply;
    throw noAnswer(true, `Redis wrote, but not ${count} replicas within ${timeoutMs} ms`);
  }
}
