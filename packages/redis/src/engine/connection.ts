import type { EpochMs } from "@latchkey/core";
import type { Settings } from "../options.js";
import { isCluster, type RedisClient, type RedisClusterClient } from "./client.js";
import { Deadlines } from "./deadlines.js";
import { firstWord, noAnswer, notAsked, translateError, unavailable } from "./errors.js";
import type { Script } from "./scripts.js";
import { ServerRequirements } from "./server-requirements.js";
import { withTimeout } from "./with-timeout.js";

const CLOSED = "the store was closed";

/** How long {@link Connection.close} waits for calls that are under way, in ms. */
const CLOSING_MS = 500;

/** Sends commands to a client, each within a deadline, and never twice. */
export class Connection {
  readonly #client: RedisClient | RedisClusterClient;
  readonly #isOwned: boolean;
  readonly #waitReplicas: Settings["waitReplicas"];
  readonly #requirements: ServerRequirements;
  readonly #soon: Deadlines;
  readonly #later: Deadlines;
  #isClosed = false;

  /** @param isOwned - Whether the client was opened for this connection, and is closed with it. */
  constructor(client: RedisClient | RedisClusterClient, isOwned: boolean, settings: Settings) {
    const waitMs = settings.waitReplicas?.timeoutMs ?? 0;
    this.#client = client;
    this.#isOwned = isOwned;
    this.#waitReplicas = settings.waitReplicas;
    this.#requirements = new ServerRequirements(client, settings);
    this.#soon = new Deadlines(settings.commandTimeoutMs + waitMs);
    this.#later = new Deadlines(settings.configTimeoutMs + waitMs);
  }

  /**
   * Runs a script: one round trip, two where Redis does not hold it yet.
   *
   * @param read - Puts the answer into other words; what it throws is passed on.
   * @throws LatchkeyError as `translateError` says; nothing of the driver.
   */
  run<Result>(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    return this.#run(script, keys, args, this.#later, read);
  }

  /** The same within the deadline of a verification. */
  verify<Result>(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    return this.#run(script, keys, args, this.#soon, read);
  }

  /** The clock of the server. */
  async time(): Promise<EpochMs> {
    if (this.#isClosed) throw unavailable(CLOSED);
    if (!this.#requirements.areMet) await this.#requirements.ensure();
    try {
      const [seconds, micros] = await withTimeout(this.#later.spanMs, this.#client.time());
      return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
    } catch (error) {
      throw translateError(error, false);
    }
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

  #run<Result>(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    deadlines: Deadlines,
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    if (this.#isClosed) return Promise.reject(unavailable(CLOSED));
    if (this.#requirements.areMet) return this.#send(script, keys, args, deadlines, read);
    return this.#requirements.ensure().then(() => this.#send(script, keys, args, deadlines, read));
  }

  /** One promise around that of ioredis: each further one is felt in every verification. */
  #send<Result>(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    deadlines: Deadlines,
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      // ioredis takes a list wherever it takes an argument, though its types do not say so. Spread out, each lies on the stack.
      const words = [keys, args] as unknown as string[];
      let isOver = false;
      const deadline = deadlines.start(() => {
        isOver = true;
        reject(noAnswer(script.isWrite, `Redis did not answer within ${deadlines.spanMs} ms`));
      });
      const succeed = (answer: unknown) => {
        if (isOver) return;
        deadlines.meet(deadline);
        try {
          resolve(read(answer));
        } catch (error) {
          reject(error);
        }
      };
      const fail = (error: unknown) => {
        if (firstWord(error) === "READONLY") this.#requirements.doubt();
        if (isOver) return;
        deadlines.meet(deadline);
        reject(translateError(error, script.isWrite));
      };
      // Nothing was run of a script that Redis does not hold: sending the text itself is no repeat.
      const orEvaluate = (error: unknown) => {
        if (firstWord(error) !== "NOSCRIPT") throw error;
        return this.#client.eval(script.text, keys.length, ...words);
      };
      const answer = this.#client.evalsha(script.sha1, keys.length, ...words);
      if (this.#waitReplicas !== null && script.isWrite)
        this.#replicate(answer.catch(orEvaluate)).then(succeed, fail);
      else
        answer.then(succeed, (error: unknown) => {
          if (firstWord(error) === "NOSCRIPT") orEvaluate(error).then(succeed, fail);
          else fail(error);
        });
    });
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
