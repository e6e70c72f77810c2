/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * What the names of all Redis keys begin with: 1 to 64 of `A-Z a-z 0-9 _ - . :`. Default: `lk`.
   */
  readonly keyPrefix?: string | undefined;
  /**
   * How long a verification waits for Redis to answer, in ms: a whole number from 1 to 600,000. Default: 500. When it
   * is over, a charge is answered with `STORE_UNAVAILABLE` and the outcome `unknown`.
   */
  readonly commandTimeoutMs?: number | undefined;
  /** The same for every other call. Default: 2,000. */
  readonly configTimeoutMs?: number | undefined;
  /** How long the first call waits for the first connection, in ms. Default: 2,000. */
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
export interface Settings {
  readonly keyPrefix: string;
  readonly commandTimeoutMs: number;
  readonly configTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly waitReplicas: { readonly count: number; readonly timeoutMs: number } | null;
  readonly allowEviction: boolean;
  readonly allowNoPersistence: boolean;
}

const KNOWN: ReadonlySet<string> = new Set([
  "keyPrefix",
  "commandTimeoutMs",
  "configTimeoutMs",
  "connectTimeoutMs",
  "waitReplicas",
  "allowEviction",
  "allowNoPersistence",
]);
const MAX_TIMEOUT_MS = 600_000;

/** @throws TypeError naming the option that is wrong. */
export function parseOptions(options: RedisStoreOptions): Settings {
  if (typeof options !== "object" || options === null) {
    throw new TypeError('"options" must be an object');
  }
  const unknown = Object.keys(options).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) throw new TypeError(`"${unknown}" is not an option of redisStore`);
  const { keyPrefix = "lk", waitReplicas } = options;
  if (typeof keyPrefix !== "string" || !/^[A-Za-z0-9_.:-]{1,64}$/.test(keyPrefix)) {
    throw new TypeError('"keyPrefix" must be 1 to 64 characters of A-Z a-z 0-9 _ - . :');
  }
  return {
    keyPrefix,
    commandTimeoutMs: timeout("commandTimeoutMs", options.commandTimeoutMs ?? 500),
    configTimeoutMs: timeout("configTimeoutMs", options.configTimeoutMs ?? 2_000),
    connectTimeoutMs: timeout("connectTimeoutMs", options.connectTimeoutMs ?? 2_000),
    waitReplicas: waitReplicas === undefined ? null : parseWait(waitReplicas),
    allowEviction: flag("allowEviction", options.allowEviction ?? false),
    allowNoPersistence: flag("allowNoPersistence", options.allowNoPersistence ?? false),
  };
}

function parseWait(wait: { readonly count: number; readonly timeoutMs: number }) {
  if (typeof wait !== "object" || wait === null) {
    throw new TypeError('"waitReplicas" must be { count, timeoutMs }');
  }
  return {
    count: whole("waitReplicas.count", wait.count, 100),
    timeoutMs: timeout("waitReplicas.timeoutMs", wait.timeoutMs),
  };
}

function timeout(name: string, value: unknown): number {
  return whole(name, value, MAX_TIMEOUT_MS);
}

function whole(name: string, value: unknown, max: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max) {
    return value as number;
  }
  throw new TypeError(`"${name}" must be a whole number from 1 to ${max}`);
}

function flag(name: string, value: unknown): boolean {
  if (typeof value === "boolean") return value;
  throw new TypeError(`"${name}" must be true or false`);
}
