import { isCluster, type RedisClient, type RedisClusterClient } from "./client.js";
import { isNoScript, isReadOnly, noAnswer, translateError, unavailable } from "./errors.js";
import { Fitness } from "./fitness.js";
import type { Settings } from "./options.js";
import type { Script } from "./scripts.js";
import { TimedOut, within } from "./within.js";

/** How long {@link Connection.close} waits for calls that are under way, in ms. */
const CLOSING_MS = 500;

/** Runs scripts on a client, each within a deadline, and never twice. */
export class Connection {
  readonly #client: RedisClient | RedisClusterClient;
  readonly #isOwned: boolean;
  readonly #settings: Settings;
  readonly #fitness: Fitness;
  #isClosed = false;

  /** @param isOwned - Whether the client was opened for this connection, and is closed with it. */
  constructor(client: RedisClient | RedisClusterClient, isOwned: boolean, settings: Settings) {
    this.#client = client;
    this.#isOwned = isOwned;
    this.#settings = settings;
    this.#fitness = new Fitness(client, settings);
  }

  /**
   * Runs a script: one round trip, two where Redis does not hold it yet.
   *
   * @throws LatchkeyError as {@link translateError} says; nothing of the driver.
   */
  async run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#run(script, keys, args, this.#settings.configTimeoutMs);
  }

  /** The same within the deadline of a verification. */
  async verify(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.#run(script, keys, args, this.#settings.commandTimeoutMs);
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

  async #run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
    timeoutMs: number,
  ): Promise<unknown> {
    if (this.#isClosed) throw unavailable("the store was closed");
    if (!this.#fitness.isSure) await this.#fitness.ensure();
    try {
      return await within(timeoutMs, this.#send(script, keys, args));
    } catch (error) {
      if (error instanceof TimedOut) {
        throw noAnswer(script.isWrite, `Redis did not answer within ${timeoutMs} ms`);
      }
      if (isReadOnly(error)) this.#fitness.doubt();
      throw translateError(error, script.isWrite);
    }
  }

  async #send(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const { waitReplicas } = this.#settings;
    if (waitReplicas === null || !script.isWrite) return this.#evaluate(script, keys, args);
    return this.#replicate(this.#evaluate(script, keys, args), waitReplicas);
  }

  /** NOSCRIPT means that nothing was run, so that this is no repeat. */
  #evaluate(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    const client = this.#client;
    return client.evalsha(script.sha1, keys.length, ...keys, ...args).catch((error: unknown) => {
      if (!isNoScript(error)) throw error;
      return client.eval(script.text, keys.length, ...keys, ...args);
    });
  }

  /** WAIT speaks of what its own connection has written before, so that it follows the answer, on the same one. */
  async #replicate(
    answer: Promise<unknown>,
    { count, timeoutMs }: NonNullable<Settings["waitReplicas"]>,
  ): Promise<unknown> {
    const reply = await answer;
    const client = this.#client;
    if (isCluster(client)) return reply;
    const reached = await client.wait(count, timeoutMs);
    if (typeof reached === "number" && reached >= count) return reply;
    throw noAnswer(true, `Redis wrote, but not ${count} replicas within ${timeoutMs} ms`);
  }
}
