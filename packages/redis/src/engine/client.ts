/** The few things that latchkey uses of a client of `ioredis`. */
export interface RedisConnection {
  readonly status: string;
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  info(): Promise<string>;
  time(): Promise<readonly unknown[]>;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  connect(): Promise<unknown>;
  quit(): Promise<unknown>;
  disconnect(): void;
}

/** A `Redis` of `ioredis`: one server, or a primary found through Sentinel. */
export interface RedisClient extends RedisConnection {
  readonly options: object;
  client(subcommand: "INFO"): Promise<unknown>;
  wait(replicas: number, timeoutMs: number): Promise<unknown>;
}

/** A `Cluster` of `ioredis`. */
export interface RedisClusterClient extends RedisConnection {
  readonly options: object;
  readonly isCluster: boolean;
  nodes(role: "master" | "slave"): readonly RedisConnection[];
}

/** Whether a client is that of a cluster. */
export function isCluster(client: RedisClient | RedisClusterClient): client is RedisClusterClient {
  return "isCluster" in client && client.isCluster === true && "nodes" in client;
}

type Options = Readonly<Record<string, unknown>>;
type Requirement = readonly [name: string, wanted: unknown, reason: string];

const LATE = "commands would wait and run after their caller gave up";
const MIXED = "it makes each command slower and mixes up what failed";
const TWICE = "a write whose answer was lost would be sent again";
const OLD = "a replica answers with what was true a moment ago";
const ALWAYS: readonly Requirement[] = [
  ["enableOfflineQueue", false, LATE],
  ["enableAutoPipelining", false, MIXED],
];
const NO_RETRIES: Requirement = ["maxRetriesPerRequest", 0, TWICE];
const OF_CLUSTER: readonly Requirement[] = [
  ["retryDelayOnFailover", 0, TWICE],
  ["scaleReads", "master", OLD],
];

/**
 * Refuses a client that would send a command again whose answer it lost: that charges twice.
 *
 * @throws TypeError naming the option, what it is and what it has to be.
 */
export function assertNeverResends(client: RedisClient | RedisClusterClient): void {
  const options = client.options as Options;
  if (!isCluster(client)) {
    requireOptions(options, [...ALWAYS, NO_RETRIES], "");
    return;
  }
  requireOptions((options.redisOptions ?? {}) as Options, [NO_RETRIES], "redisOptions.");
  requireOptions(options, [...ALWAYS, ...OF_CLUSTER], "");
}

function requireOptions(options: Options, wanted: readonly Requirement[], path: string): void {
  for (const [name, value, reason] of wanted) {
    const found = options[name];
    if (found === value) continue;
    if (found === undefined && name === "enableAutoPipelining") continue;
    throw new TypeError(
      `"client" has the option ${path}${name}: ${shown(found)}; it must be ${shown(value)}, since ${reason}`,
    );
  }
  if (!options.keyPrefix) return;
  throw new TypeError(
    `"client" has the option ${path}keyPrefix; it must be left out: set "keyPrefix" of redisStore instead`,
  );
}

/** Numbers, booleans and the words of ioredis. Nothing else of a client's options is repeated. */
function shown(value: unknown): string {
  if (typeof value === "function") return "a function";
  return value === undefined ? "undefined" : JSON.stringify(value);
}
