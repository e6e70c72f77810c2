/** The part of an `ioredis` client that this store uses: a `Redis`, with one server or with Sentinel. */
export interface RedisClient {
  readonly status: string;
  readonly options: object;
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  info(): Promise<string>;
  client(subcommand: "INFO"): Promise<unknown>;
  time(): Promise<readonly unknown[]>;
  scan(
    cursor: string,
    match: "MATCH",
    pattern: string,
    count: "COUNT",
    size: number,
  ): Promise<readonly [string, readonly string[]]>;
  mget(keys: string[]): Promise<readonly (string | null)[]>;
  wait(replicas: number, timeoutMs: number): Promise<unknown>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  connect(): Promise<unknown>;
  quit(): Promise<unknown>;
  disconnect(): void;
}

/** A `Cluster` of `ioredis`. */
export interface RedisClusterClient extends RedisClient {
  readonly isCluster: boolean;
  nodes(role: "master" | "slave"): readonly RedisClient[];
  /** The nodes of each slot, its primary first. */
  readonly slots: readonly (readonly string[])[];
}

/** Whether a client is a cluster client. */
export function isCluster(client: RedisClient): client is RedisClusterClient {
  return "isCluster" in client && client.isCluster === true && "nodes" in client;
}

/** The servers that take writes. */
export function primariesOf(client: RedisClient): readonly RedisClient[] {
  return isCluster(client) ? client.nodes("master") : [client];
}

type Options = Readonly<Record<string, unknown>>;
type Requirement = readonly [option: string, wanted: unknown, reason: string];

const TWICE = "a write whose answer was lost would be sent again";
const PREFIX = 'redisStore has its own option "keyPrefix"';
const ALWAYS: readonly Requirement[] = [
  ["enableOfflineQueue", false, "commands would wait and run after their caller gave up"],
  ["enableAutoPipelining", undefined, "it slows down each command and obscures which one failed"],
  ["keyPrefix", undefined, PREFIX],
];
const OF_SERVER: readonly Requirement[] = [...ALWAYS, ["maxRetriesPerRequest", 0, TWICE]];
const OF_CLUSTER: readonly Requirement[] = [
  ["retryDelayOnFailover", 0, TWICE],
  ["scaleReads", "master", "a replica may return outdated data"],
  ["redisOptions.maxRetriesPerRequest", 0, TWICE],
  ["redisOptions.keyPrefix", undefined, PREFIX],
  ...ALWAYS,
];

/**
 * Refuses anything that is not a client, and a client that would resend a command after losing its reply, because that charges twice.
 *
 * @throws TypeError naming the option, its value and the value it must have.
 */
export function assertClient(client: RedisClient): void {
  if (typeof client?.evalsha !== "function")
    throw new TypeError(
      '"server" must be a text such as redis://host:6379/0, or a client of ioredis (new Redis or new Cluster)',
    );
  for (const [option, wanted, reason] of isCluster(client) ? OF_CLUSTER : OF_SERVER) {
    const found = option
      .split(".")
      .reduce<unknown>((options, name) => (options as Options | undefined)?.[name], client.options);
    if (found === wanted || (wanted === undefined && !found)) continue;
    const must = wanted === undefined ? "left out" : JSON.stringify(wanted);
    throw new TypeError(
      `"client" has the option ${option}: ${shown(found)}; it must be ${must}, since ${reason}`,
    );
  }
}

/** Only numbers, booleans, and the words and prefixes of ioredis get here: nothing secret. */
function shown(value: unknown): string {
  return typeof value === "function" ? "a function" : (JSON.stringify(value) ?? "undefined");
}
