import { isCluster, type RedisClient, type RedisClusterClient } from "./client.js";
import { Deadlines } from "./deadlines.js";
import {
  isNoScript,
  isReadOnly,
  noAnswer,
  notAsked,
  translateError,
  unavailable,
} from "./errors.js";
import { Fitness } from "./fitness.js";
import type { Settings } from "./options.js";
import { asReply, type Reply } from "./replies.js";
import type { Script } from "./scripts.js";
import { within } from "./within.js";

/** How long {@link Connection.close} waits for calls that are under way, in ms. */
const CLOSING_MS = 500;

/** More arguments than this go to the client as one list, which it takes apart: spread out, each lies on the stack. */
const MAX_SPREAD = 10_000;

/** Runs scripts on a client, each within a deadline, and never twice. */
export class Connection {
  readonly #client: RedisClient | RedisClusterClient;
  readonly #isOwned: boolean;
  readonly #waitReplicas: Settings["waitReplicas"];
  readonly #fitness: Fitness;
  readonly #soon: Deadlines;
  readonly #later: Deadlines;
  #isClosed = false;

  /** @param isOwned - Whether the client was opened for this connection, and is closed with it. */
  constructor(client: RedisClient | RedisClusterClient, isOwned: boolean, settings: Settings) {
    const waitMs = settings.waitReplicas?.timeoutMs ?? 0;
    this.#client = client;
    this.#isOwned = isOwned;
    this.#waitReplicas = settings.waitReplicas;
    this.#fitness = new Fitness(client, settings);
    this.#soon = new Deadlines(settings.commandTimeoutMs + waitMs);
    this.#later = new Deadlines(settings.configTimeoutMs + waitMs);
  }

  /**
   * Runs a script that answers a list: one round trip, two where Redis does not hold the script yet.
   *
   * @throws LatchkeyError as `translateError` says; nothing of the driver.
   */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<Reply> {
    return this.#run(script, keys.length, [...keys, ...args], this.#later, asReply);
  }

  /**
   * Runs a script within the deadline of a verification.
   *
   * @param read - Puts the answer into other words; what it throws is passed on.
   */
  verify<Result>(
    script: Script,
    keyCount: number,
    keysAndArguments: readonly string[],
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    return this.#run(script, keyCount, keysAndArguments, this.#soon, read);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#fitness.stop();
    if (!this.#isOwned) return;
    if (this.#client.status === "ready") {
      await within(CLOSING_MS, this.#client.quit()).catch(() => undefined);
    }
    this.#client.disconnect();
  }

  #run<Result>(
    script: Script,
    keyCount: number,
    params: readonly string[],
    deadlines: Deadlines,
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    if (this.#isClosed) return Promise.reject(unavailable("the store was closed"));
    if (this.#fitness.isSure) return this.#send(script, keyCount, params, deadlines, read);
    return this.#fitness.ensure().then(() => this.#send(script, keyCount, params, deadlines, read));
  }

  /** One promise around that of ioredis: each further one is felt in every verification. */
  #send<Result>(
    script: Script,
    keyCount: number,
    params: readonly string[],
    deadlines: Deadlines,
    read: (answer: unknown) => Result,
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      const deadline = deadlines.start(() => {
        isOver = true;
        const message = `Redis did not answer within ${deadlines.spanMs} ms`;
        reject(noAnswer(script.isWrite, message));
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
        if (isReadOnly(error)) this.#fitness.doubt();
        if (isOver) return;
        deadlines.meet(deadline);
        reject(translateError(error, script.isWrite));
      };
      const answer = this.#client.evalsha(script.sha1, keyCount, ...spreadable(params));
      if (this.#waitReplicas !== null && script.isWrite) {
        this.#replicate(this.#orEvaluate(answer, script, keyCount, params)).then(succeed, fail);
        return;
      }
      answer.then(succeed, (error: unknown) => {
        if (isNoScript(error)) this.#evaluate(script, keyCount, params).then(succeed, fail);
        else fail(error);
      });
    });
  }

  #orEvaluate(
    answer: Promise<unknown>,
    script: Script,
    keyCount: number,
    params: readonly string[],
  ): Promise<unknown> {
    return answer.catch((error: unknown) => {
      if (isNoScript(error)) return this.#evaluate(script, keyCount, params);
      throw error;
    });
  }

  /** Sends the text itself. No repeat: NOSCRIPT means that nothing was run. */
  #evaluate(script: Script, keyCount: number, params: readonly string[]): Promise<unknown> {
    return this.#client.eval(script.text, keyCount, ...spreadable(params));
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

/** ioredis takes a list wherever it takes an argument, though its types do not say so. */
function spreadable(params: readonly string[]): readonly string[] {
  return params.length <= MAX_SPREAD ? params : [params as unknown as string];
}
