import {
  assertOption,
  assertSwitch,
  assertWholeOption,
  readOptions,
  type SettingsOf,
} from "@latchkey/core";

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /** What the names of all Redis keys begin with: 1 to 64 of `A-Z a-z 0-9 _ - . :`. Default: `lk`. */
  readonly keyPrefix?: string | undefined;
  /**
   * How long a verification may take, in ms, from the call to its answer, the first connection with it: a whole number from 1 to
   * 600,000. Default: 500. When it is over, a charge that was sent is answered with `STORE_UNAVAILABLE` and the outcome `unknown`.
   */
  readonly commandTimeoutMs?: number | undefined;
  /** The same for every other call. Default: 2,000. */
  readonly configTimeoutMs?: number | undefined;
  /** How long a connection may take to come about, in ms. No call waits longer for the first one than for its answer. Default: 2,000. */
  readonly connectTimeoutMs?: number | undefined;
  /**
   * Lets a write be answered only when this many replicas hold it. Where they do not in time, the write stays and is
   * answered with `STORE_UNAVAILABLE` and the outcome `unknown`. Not for Redis Cluster. Default: none.
   */
  readonly waitReplicas?: { readonly count: number; readonly timeoutMs: number } | undefined;
  /** Accepts a server that deletes keys when its memory is full. Default: false. */
  readonly allowEviction?: boolean | undefined;
  /** Accepts a server that forgets everything when it stops. Default: false. */
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

/** @throws TypeError naming the option that is wrong. */
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
