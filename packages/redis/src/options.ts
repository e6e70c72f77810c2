import {
  assertOption,
  assertSwitch,
  assertWholeOption,
  readOptions,
  type SettingsOf,
} from "@latchkey/core";

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** The start of the names of all Redis keys: 1 to 64 of `A-Z a-z 0-9 _ - . :`. Default: `lk`. */
  readonly keyPrefix?: string | undefined;
  /**
   * How long a verification may take, in ms, including the first connection: a whole number from 1 to 600,000. Default: 500. After that,
   * it fails with `STORE_UNAVAILABLE`, with the outcome `unknown` if it was sent.
   */
  readonly commandTimeoutMs?: number | undefined;
  /** How long any other call may take, in ms, and reading a key that this process has not verified before. Default: 2,000. */
  readonly configTimeoutMs?: number | undefined;
  /** How long connecting may take, in ms. A call waits for the first connection, within its own timeout. Default: 2,000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Writes resolve only when this many replicas have them. If they do not confirm in time, the write stays, and the call fails with
   * `STORE_UNAVAILABLE` and the outcome `unknown`. A failover loses nothing only if `count` is the number of all replicas. Not for Redis
   * Cluster. Default: no replicas.
   */
  readonly waitReplicas?: { readonly count: number; readonly timeoutMs: number } | undefined;
  /** Accepts a server that evicts keys when its memory is full. Default: false. */
  readonly allowEviction?: boolean | undefined;
  /** Accepts a server that loses its data when it stops. Default: false. */
  readonly allowNoPersistence?: boolean | undefined;
}

/** Options with their defaults. */
export type Settings = SettingsOf<RedisStoreOptions>;

const DEFAULTS: Settings = {
  keyPrefix: "lk",
  commandTimeoutMs: 500,
  configTimeoutMs: 2_000,
  connectTimeoutMs: 2_000,
  waitReplicas: { count: 0, timeoutMs: 0 },
  allowEviction: false,
  allowNoPersistence: false,
};
const MAX_TIMEOUT_MS = 600_000;

/** @throws TypeError naming the wrong option. */
export function parseOptions(options: RedisStoreOptions): Settings {
  const settings = readOptions("redisStore", DEFAULTS, options);
  const isPrefix = /^[A-Za-z0-9_.:-]{1,64}$/.test(String(settings.keyPrefix));
  assertOption(isPrefix, '"keyPrefix" must be 1 to 64 characters of A-Z a-z 0-9 _ - . :');
  for (const name of ["commandTimeoutMs", "configTimeoutMs", "connectTimeoutMs"] as const)
    assertWholeOption(name, settings[name], 1, MAX_TIMEOUT_MS);
  for (const name of ["allowEviction", "allowNoPersistence"] as const)
    assertSwitch(name, settings[name]);
  const { waitReplicas } = settings;
  if (waitReplicas === DEFAULTS.waitReplicas) return settings;
  assertWholeOption("waitReplicas.count", waitReplicas?.count, 1, 100);
  assertWholeOption("waitReplicas.timeoutMs", waitReplicas.timeoutMs, 1, MAX_TIMEOUT_MS);
  return settings;
}
