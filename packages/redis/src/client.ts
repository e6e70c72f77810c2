/** The few things that latchkey uses of a client of `ioredis`. */
export interface RedisConnection {
  readonly status: string;
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  info(): Promise<string>;
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

/**
 * Refuses a client that would send a command again whose answer it lost: that charges twice.
 *
 * @throws TypeError naming the option, what it is and what it has to be.
 */
export function assertNeverResends(client: RedisClient | RedisClusterClient): void {
  const options = client.options as Options;
  requireOption(
    options,
    "enableOfflineQueue",
    false,
    "commands would wait and run after their caller gave up",
  );
  requireOption(
    options,
    "enableAutoPipelining",
    false,
    "it makes each command slower and mixes up what failed",
  );
  if (isCluster(client)) {
    requireOption(
      options,
      "retryDelayOnFailover",
      0,
      "a write whose answer was lost would be sent again",
    );
    requireOption(
      options,
      "scaleReads",
      "master",
      "a replica answers with what was true a moment ago",
    );
    const node = (options.redisOptions ?? {}) as Options;
    requireOption(
      node,
      "maxRetriesPerRequest",
      0,
      "a write whose answer was lost would be sent again",
      "redisOptions.",
    );
    requireNoPrefix(node, "redisOptions.");
  } else {
    requireOption(
      options,
      "maxRetriesPerRequest",
      0,
      "a write whose answer was lost would be sent again",
    );
  }
  requireNoPrefix(options, "");
}

function requireOption(
  options: Options,
  name: string,
  wanted: unknown,
  reason: string,
  path = "",
): void {
  const value = options[name];
  if (
    value === wanted ||
    (value === undefined && wanted === false && name !== "enableOfflineQueue")
  )
    return;
  throw new TypeError(
    `"client" has the option ${path}${name}: ${shown(value)}; it must be ${shown(wanted)}, since ${reason}`,
  );
}

function requireNoPrefix(options: Options, path: string): void {
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
