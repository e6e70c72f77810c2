import { LatchkeyError } from "@latchkey/core";
import type { Settings } from "../options.js";
import {
  isCluster,
  type RedisClient,
  type RedisClusterClient,
  type RedisConnection,
} from "./client.js";
import { CLOSED_UNANSWERED, reasonOf } from "./disconnection.js";
import { translateError, unavailable } from "./errors.js";
import { withTimeout } from "./with-timeout.js";

/**
 * What keeps a server from being trusted with keys, by what it answers to INFO; null where nothing does.
 *
 * INFO rather than CONFIG GET: users and managed services are rarely granted the latter.
 */
export function requirementProblem(
  info: string,
  { allowEviction, allowNoPersistence }: Pick<Settings, "allowEviction" | "allowNoPersistence">,
): LatchkeyError | null {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1];
  if (Number.parseInt(field("redis_version") ?? "", 10) >= 7 !== true)
    return unavailable("Redis is too old: latchkey needs 7.0 or later");
  if (field("role") !== "master")
    return unavailable("the Redis server is a replica (role): connect to the primary");
  if (field("maxmemory_policy") !== "noeviction" && !allowEviction)
    return unavailable(
      'Redis deletes keys when its memory is full (maxmemory-policy): set "maxmemory-policy noeviction", or pass allowEviction: true to lose keys and revocations then',
    );
  if (field("aof_enabled") !== "1" && !allowNoPersistence)
    return unavailable(
      'Redis forgets its latest writes when it stops (appendonly): set "appendonly yes", or pass allowNoPersistence: true to lose keys and revocations then',
    );
  return null;
}

/**
 * Finds out once for every connection whether it leads to a server that may be trusted with keys: before the first
 * call, and again after each reconnect.
 */
export class ServerRequirements {
  readonly #client: RedisClient | RedisClusterClient;
  readonly #settings: Settings;
  readonly #examined = new WeakSet<RedisConnection>();
  readonly #watched = new WeakSet<RedisConnection>();
  readonly #listeners: (() => void)[] = [];
  readonly #database: number;
  #areMet = false;
  #hasBeenReady = false;
  #checking: Promise<void> | undefined;
  /** Why the client could not connect, the last time that it said so. */
  #reason: string | null = null;

  constructor(client: RedisClient | RedisClusterClient, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
    this.#database = isCluster(client) ? 0 : databaseOf(client);
    this.#listen(client, "close", () => this.doubt());
    this.#rememberReasons(client);
    if (isCluster(client)) {
      this.#listen(client, "+node", () => this.doubt());
      this.#listen(client, "refresh", () => this.#lookForPromoted(client));
    }
  }

  /**
   * Whether every connection in use was examined and meets the requirements. Asked before each call. In a cluster calls do not
   * wait for one node's examination: it may be that of a dead one, which no other slot is held up by.
   */
  get areMet(): boolean {
    return this.#areMet && (this.#checking === undefined || isCluster(this.#client));
  }

  /** Has the servers examined again before the next call. */
  doubt(): void {
    this.#areMet = false;
    if (!isCluster(this.#client)) this.#examined.delete(this.#client);
  }

  /** @throws LatchkeyError `STORE_UNAVAILABLE` while a server cannot be reached or cannot be trusted. */
  ensure(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Takes all listeners off the client. */
  stop(): void {
    for (const remove of this.#listeners.splice(0)) remove();
  }

  async #check(): Promise<void> {
    await this.#connected();
    // Set first, so that whatever happens to a connection from here on is not overlooked.
    this.#areMet = true;
    try {
      const client = this.#client;
      if (isCluster(client))
        await Promise.all(client.nodes("master").map((node) => this.#examineNode(node)));
      else await this.#examineServer(client);
    } catch (error) {
      this.#areMet = false;
      throw translateError(error, false);
    }
  }

  /** Waits for the first connection only. Later on a call fails at once while there is none. */
  async #connected(): Promise<void> {
    const client = this.#client;
    if (client.status === "wait") client.connect().catch(() => undefined);
    if (client.status !== "ready" && !this.#hasBeenReady && client.status !== "end") {
      await withTimeout(this.#settings.connectTimeoutMs, untilReady(client)).catch(() => undefined);
    }
    if (client.status !== "ready") throw this.#notConnected();
    this.#hasBeenReady = true;
  }

  #rememberReasons(client: RedisClient | RedisClusterClient): void {
    let isUnanswered = false;
    this.#listen(client, "connect", () => {
      isUnanswered = !isCluster(client);
    });
    this.#listen(client, "ready", () => {
      isUnanswered = false;
      this.#reason = null;
    });
    this.#listen(client, "error", (error) => {
      isUnanswered = false;
      this.#reason = reasonOf(error) ?? this.#reason;
    });
    this.#listen(client, "close", () => {
      if (isUnanswered) this.#reason = CLOSED_UNANSWERED;
      isUnanswered = false;
    });
  }

  #notConnected(): LatchkeyError {
    const isWaiting = this.#client.status === "connecting" || this.#client.status === "connect";
    const reason = this.#reason ?? (isWaiting ? "it has not answered yet" : null);
    return unavailable(`Redis is not connected${reason === null ? "" : `: ${reason}`}`);
  }

  /** Both questions go out at once, and so on one connection. */
  async #examineServer(client: RedisClient): Promise<void> {
    const placed = databaseProblem(client, this.#database);
    const [, problem] = await Promise.all([
      this.#examine(client),
      withTimeout(this.#settings.commandTimeoutMs, placed),
    ]);
    if (problem !== null) throw problem;
  }

  /** A node that does not answer holds up its own slots, and no other's. It is examined when it connects again. */
  async #examineNode(node: RedisConnection): Promise<void> {
    this.#watch(node);
    if (["close", "reconnecting", "end"].includes(node.status)) return;
    try {
      await this.#examine(node);
    } catch (error) {
      if (error instanceof LatchkeyError) throw error;
    }
  }

  /** A replica that takes over is no new node, and may never have lost its connection. */
  #lookForPromoted(client: RedisClusterClient): void {
    for (const node of client.nodes("slave")) this.#examined.delete(node);
    if (client.nodes("master").some((node) => !this.#examined.has(node))) this.doubt();
  }

  async #examine(node: RedisConnection): Promise<void> {
    if (this.#examined.has(node)) return;
    const info = await withTimeout(this.#settings.commandTimeoutMs, node.info());
    const problem = requirementProblem(info, this.#settings);
    if (problem !== null) throw problem;
    this.#examined.add(node);
  }

  #watch(node: RedisConnection): void {
    if (this.#watched.has(node)) return;
    this.#watched.add(node);
    this.#listen(node, "close", () => this.#examined.delete(node));
    this.#listen(node, "ready", () => this.doubt());
  }

  #listen(emitter: RedisConnection, event: string, listener: (...args: unknown[]) => void): void {
    emitter.on(event, listener);
    this.#listeners.push(() => emitter.off(event, listener));
  }
}

function untilReady(client: RedisConnection): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      client.off("ready", finish);
      client.off("end", finish);
      resolve();
    };
    client.on("ready", finish);
    client.on("end", finish);
  });
}

/**
 * The number of the database that a client was made for, 0 where it says nothing.
 *
 * @throws TypeError when that is no whole number >= 0.
 */
function databaseOf(client: RedisClient): number {
  const { db = null } = client.options as { readonly db?: unknown };
  if (db === null) return 0;
  if (Number.isInteger(db) && (db as number) >= 0) return db as number;
  throw new TypeError('"client" has the option db; it must be a whole number >= 0');
}

/**
 * What is wrong with the database that the connection of a client is in; null where nothing is.
 *
 * ioredis goes on in database 0 when its SELECT was refused, and keys would be written there. Database 0 itself is where
 * every connection begins, and is not asked for.
 */
async function databaseProblem(
  client: RedisClient,
  database: number,
): Promise<LatchkeyError | null> {
  if (database === 0) return null;
  const info = String(await client.client("INFO"));
  if (/(?:^| )db=(\d+)/.exec(info)?.[1] === String(database)) return null;
  return unavailable(
    'Redis did not SELECT the database number of the URL (option "db" of a client): it must be below the setting "databases" of the server, and the user may need the right to SELECT',
  );
}
