import { LatchkeyError, unavailable, unfit, withTimeout } from "@latchkey/core";
import type { Settings } from "../options.js";
import { isCluster, primariesOf, type RedisClient } from "./client.js";
import { CLOSED_UNANSWERED, LOST, reasonOf, SILENT } from "./disconnection.js";
import {
  firstWord,
  isOfUnknownCommand,
  isQueued,
  lacksCommands,
  queued,
  translateError,
} from "./errors.js";
import { layoutKey } from "./names.js";
import { SCRIPT_COMMANDS, SCRIPTS } from "./scripts.js";
import { asList } from "./stored-values.js";

/** The layout of records that this code uses. @see packages/core/decisions/0012-redis-one-slot-per-workspace.md */
const LAYOUT = 1;

/** How long a layout counts as known, in ms: a later version may change it while connections are open. */
const LAYOUT_KNOWN_MS = 60_000;

type Allowance = "allowEviction" | "allowNoPersistence";

/** Fields of INFO. CONFIG GET is not used, since users and managed services rarely allow it. */
const REQUIREMENTS: readonly (readonly [line: RegExp, otherwise: string, unless?: Allowance])[] = [
  [/^redis_version:([7-9]|\d\d)/m, "Redis is too old: latchkey needs 7.0 or later"],
  [/^role:master\r?$/m, "the Redis server is a replica (role): connect to the primary"],
  [
    /^maxmemory_policy:noeviction\r?$/m,
    'Redis deletes keys when its memory is full (maxmemory-policy): set "maxmemory-policy noeviction", or pass allowEviction: true to lose keys and revocations then',
    "allowEviction",
  ],
  [
    /^aof_enabled:1\r?$/m,
    'Redis forgets its latest writes when it stops (appendonly): set "appendonly yes", or pass allowNoPersistence: true to lose keys and revocations then',
    "allowNoPersistence",
  ],
];

/** Why a server cannot be trusted with keys, according to its INFO; null if it can. */
export function requirementProblem(info: string, settings: Pick<Settings, Allowance>) {
  const missed = REQUIREMENTS.find(
    ([line, , unless]) => !line.test(info) && !(unless !== undefined && settings[unless]),
  );
  return missed?.[1] ?? null;
}

/** Examines every connection once: whether its server can be trusted with keys. Before the first call, and again after each reconnect. */
export class ServerRequirements {
  readonly #client: RedisClient;
  readonly #settings: Settings;
  readonly #examined = new WeakSet<RedisClient>();
  readonly #watched = new WeakSet<RedisClient>();
  readonly #listeners: (() => void)[] = [];
  readonly #database: number;
  /** The database that the client selected last. */
  #selected: number;
  readonly #firstConnection: Promise<unknown>;
  /** Ends the wait for the first connection. */
  #stopWaiting: () => void = () => undefined;
  #isStopped = false;
  #areMet = false;
  /** Whether calls go on while the servers are examined again. */
  #goesOn = false;
  /** Time of the last examination, as in `performance.now()`. */
  #checkedAt = 0;
  #checking: Promise<void> | undefined;
  /** Why there is no connection, as far as the client reports it. */
  #reason: string | null;

  constructor(client: RedisClient, settings: Settings) {
    this.#client = client;
    this.#settings = settings;
    this.#database = databaseOf(client);
    this.#selected = this.#database;
    this.#reason = client.status === "ready" ? LOST : null;
    this.#firstConnection = new Promise<unknown>((resolve) => {
      this.#stopWaiting = () => resolve(null);
      if (client.status === "ready" || client.status === "end") resolve(null);
      this.#listen(client, "ready", resolve);
      this.#listen(client, "end", resolve);
    });
    this.#listen(client, "close", () => this.doubt());
    this.#listen(client, "select", (database) => {
      this.#selected = Number(database);
      this.doubt();
    });
    this.#rememberReasons(client);
    if (!isCluster(client)) return;
    this.#listen(client, "+node", () => this.doubt());
    this.#listen(client, "refresh", () => {
      // A replica that takes over is not a new node, and may never have lost its connection.
      for (const node of client.nodes("slave")) this.#examined.delete(node);
      if (client.nodes("master").some((node) => !this.#examined.has(node))) this.doubt();
    });
  }

  /**
   * Whether every connection in use was examined and meets the requirements. Asked before each call. In a cluster, calls do not wait for
   * a running examination, except for the first: it may be that of a dead node, which must not hold up other slots. Before the first,
   * nothing is known of any node, and ioredis refuses commands to those that it is just connecting to.
   */
  get areMet(): boolean {
    if (performance.now() - this.#checkedAt > LAYOUT_KNOWN_MS) this.#areMet = false;
    return this.#areMet && (this.#checking === undefined || this.#goesOn);
  }

  /** Has the server examined again before the next call; in a cluster, the nodes that are new or were disconnected. */
  doubt(): void {
    this.#areMet = false;
    this.#examined.delete(this.#client);
  }

  /** @throws LatchkeyError `STORE_UNAVAILABLE` while a server cannot be reached or cannot be trusted. */
  ensure(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  /** Removes all listeners from the client. Calls that wait for the first connection fail now. */
  stop(): void {
    this.#isStopped = true;
    this.#stopWaiting();
    for (const remove of this.#listeners.splice(0)) remove();
  }

  async #check(): Promise<void> {
    await this.#connected();
    if (this.#selected !== this.#database)
      throw unavailable(
        `the application has selected database ${this.#selected} on the Redis client, and latchkey's is ${this.#database}: give latchkey a client of its own`,
      );
    // Set first: whatever happens to a connection from here on resets it.
    this.#areMet = true;
    this.#checkedAt = performance.now();
    try {
      const nodes = primariesOf(this.#client).map((node) => this.#examine(node));
      await Promise.all([...nodes, this.#assertLayout()]);
      this.#goesOn = isCluster(this.#client);
    } catch (error) {
      this.#areMet = false;
      throw translateError(error, false);
    }
  }

  /** Waits only for the first connection. Later, a call fails at once while there is none. */
  async #connected(): Promise<void> {
    const client = this.#client;
    if (client.status === "wait") client.connect().catch(() => undefined);
    if (client.status !== "ready")
      await withTimeout(this.#settings.connectTimeoutMs, this.#firstConnection).catch(() => null);
    if (client.status !== "ready" || this.#isStopped) throw this.notConnected();
  }

  /** The error of a call that was not sent, with the reason if it is known. */
  notConnected(): LatchkeyError {
    if (this.#isStopped) return unavailable("the store was closed");
    const { status } = this.#client;
    if (status === "ready") return unavailable("Redis did not answer in time");
    const isWaiting = status === "connecting" || status === "connect";
    const reason = this.#reason ?? (isWaiting ? `it has not answered yet: ${SILENT}` : "");
    return unavailable(`Redis is not connected${reason && `: ${reason}`}`);
  }

  #rememberReasons(client: RedisClient): void {
    const remember = (event: string, reasonAfter: (error: unknown) => string | null) =>
      this.#listen(client, event, (error) => {
        this.#reason = reasonAfter(error);
      });
    remember("ready", () => LOST);
    remember("error", (error) => reasonOf(error) ?? this.#reason ?? "the client does not say why");
    if (isCluster(client)) return;
    remember("connect", () => null);
    remember("close", () => this.#reason ?? CLOSED_UNANSWERED);
  }

  /** Sends all commands together, and so on one connection. */
  async #examine(node: RedisClient): Promise<void> {
    if (node !== this.#client) this.#watch(node);
    const isAway = ["close", "reconnecting", "end"].includes(node.status);
    if (isAway || this.#examined.has(node)) return;
    const settings = this.#settings;
    const database = this.#database;
    const answers = Promise.all([
      node.info(),
      database === 0 ? "" : node.client("INFO"),
      unusableCommands(node, settings.keyPrefix),
    ]);
    try {
      const [info, connection, unusable] = await withTimeout(settings.commandTimeoutMs, answers);
      if (isQueued(info)) throw queued(false);
      const problem =
        requirementProblem(info, settings) ??
        databaseProblem(String(connection), database) ??
        commandsProblem(unusable, settings.keyPrefix);
      if (problem !== null) throw unavailable(problem);
      this.#examined.add(node);
    } catch (error) {
      // A node that does not answer affects only its own slots. It is examined when it reconnects.
      if (!isCluster(this.#client) || error instanceof LatchkeyError) throw error;
    }
  }

  /** A version with another layout records it in a Redis key. This version then reads and writes nothing. */
  async #assertLayout(): Promise<void> {
    const { keyPrefix, commandTimeoutMs } = this.#settings;
    const asked = this.#client.mget([layoutKey(keyPrefix)]);
    const answer = await withTimeout(commandTimeoutMs, asked).catch((error) => {
      if (isCluster(this.#client)) return [];
      throw error;
    });
    if (isQueued(answer)) throw queued(false);
    const [layout] = answer;
    if (Number(layout ?? LAYOUT) <= LAYOUT) return;
    throw unfit(
      `the records in Redis are of layout ${layout}, and this latchkey knows up to ${LAYOUT}: install a newer @latchkey/redis, or restore a backup from before the update`,
    );
  }

  #watch(node: RedisClient): void {
    if (this.#watched.has(node)) return;
    this.#watched.add(node);
    this.#listen(node, "close", () => this.#examined.delete(node));
    this.#listen(node, "ready", () => this.doubt());
  }

  #listen(emitter: RedisClient, event: string, listener: (...args: unknown[]) => void): void {
    emitter.on(event, listener);
    this.#listeners.push(() => emitter.off(event, listener));
  }
}

/** The number of a client's database; default: 0. @throws TypeError for an invalid one. */
function databaseOf(client: RedisClient): number {
  const { db } = client.options as { readonly db?: number | null };
  const database = isCluster(client) ? 0 : (db ?? 0);
  if (Number.isInteger(database) && database >= 0) return database;
  throw new TypeError('"client" has the option db; it must be a whole number >= 0');
}

/**
 * What is wrong with the database of a connection, according to CLIENT INFO; null if nothing is. If SELECT is refused, ioredis continues
 * in database 0, and would write keys there. Database 0 itself is not checked, because every connection starts there.
 */
function databaseProblem(connection: string, database: number): string | null {
  if (database === 0 || /(?:^| )db=(\d+)/.exec(connection)?.[1] === String(database)) return null;
  return 'Redis did not SELECT the database number of the URL (option "db" of a client): it must be below the setting "databases" of the server, and the user may need the right to SELECT';
}

/** Commands of scripts that cannot be run. */
interface UnusableCommands {
  /** Those that the user of the connection may not run. */
  readonly refused: readonly string[];
  /** Those that the server does not have under their name. */
  readonly missing: readonly string[];
}

/** Finds out which commands of scripts cannot be run; none if the server cannot tell. */
async function unusableCommands(node: RedisClient, keyPrefix: string): Promise<UnusableCommands> {
  try {
    const args = [layoutKey(keyPrefix), ...SCRIPT_COMMANDS];
    const answer = await node.eval(SCRIPTS.refusedCommands.text, 0, ...args);
    const [refused = [], missing = []] = asList(answer, "commands").map((names) =>
      asList(names, "commands").map(String),
    );
    return { refused, missing };
  } catch (error) {
    // The server has no scripts, or is too old for this one: the other checks report it.
    if (firstWord(error) === "NOPERM" || isOfUnknownCommand(error)) throw error;
    return { refused: [], missing: [] };
  }
}

/** What is wrong with the commands of scripts; null if nothing is. Redis checks them only when a script reaches the command. */
function commandsProblem({ refused, missing }: UnusableCommands, keyPrefix: string): string | null {
  if (missing.length > 0) return lacksCommands(missing);
  if (refused.length === 0) return null;
  return `the Redis user may not run ${refused.join(", ")} on ${keyPrefix}:*: the README of @latchkey/redis lists the rights that latchkey needs`;
}
