import {
  interceptStore,
  type KeyStore,
  LatchkeyError,
  type SpanMs,
  type StoreMethod,
} from "@latchkey/core";
import { refuseNoObject, refuseUnknownFields } from "./known-fields.js";

/** Which calls of the store fail, and how. */
export interface StoreFailure {
  /** How many: a whole number >= 0, or Infinity; 0 ends it. Default: 1. */
  readonly times?: number;
  /**
   * The outcome of the error. `not-applied` (default): the store did nothing. `unknown`: the store did everything, and its answer was lost,
   * which is the harder case.
   */
  readonly outcome?: "not-applied" | "unknown";
  /** Only calls of this method. Default: every call that an operation waits for, which excludes `addStatistics`, its reads, and `close`. */
  readonly method?: StoreMethod;
}

/** How slow the store is. */
export interface StoreDelay {
  /** Ms that each call takes from now on, with `setTimeout`: a whole number up to 2,147,483,647; 0 ends it. */
  readonly ms: SpanMs;
  /** As in {@link StoreFailure}. */
  readonly method?: StoreMethod;
}

/** A store that a test can make fail and make slow. */
export interface FaultyStore {
  readonly store: KeyStore;
  /** Makes the next calls reject with `STORE_UNAVAILABLE`. Replaces an earlier call. */
  failStore(failure?: StoreFailure): void;
  /** Makes every call slow. Replaces an earlier call. */
  slowStore(delay: StoreDelay): void;
}

/** Every method of a store. `beside`: it runs beside operations, at moments that no test knows. */
const METHODS: Readonly<Record<StoreMethod, "awaited" | "beside">> = {
  read: "awaited",
  page: "awaited",
  commit: "awaited",
  charge: "awaited",
  settle: "awaited",
  holds: "awaited",
  readStatistics: "awaited",
  pageStatistics: "awaited",
  nextStatisticsDay: "awaited",
  deleteStatistics: "awaited",
  forget: "awaited",
  scan: "awaited",
  scanWindows: "awaited",
  addStatistics: "beside",
  readClock: "beside",
  close: "beside",
};

const MAX_DELAY_MS = 2 ** 31 - 1;

/** Wraps a store. It works as before until a test says otherwise. */
export function createFaultyStore(sound: KeyStore): FaultyStore {
  let failing: StoreFailure = {};
  let failuresLeft = 0;
  let slow: StoreDelay = { ms: 0 };

  const store = interceptStore(sound, ({ method, isBeside }, run) => {
    if (isBeside && METHODS[method] === "awaited") return run();
    const isFailing = failuresLeft > 0 && isMeant(method, failing);
    if (isFailing) failuresLeft -= 1;
    const delayMs = isMeant(method, slow) ? slow.ms : 0;
    if (!isFailing && delayMs === 0) return run();
    return late(isFailing ? failed(failing, run) : run, delayMs);
  });
  return {
    store,
    failStore: (failure = {}) => {
      refuseNoObject(failure, "failure");
      refuseUnknownFields(failure, ["times", "outcome", "method"], "a field of failStore");
      const { times = 1, outcome = "not-applied", method } = failure;
      if (!(Number.isInteger(times) || times === Number.POSITIVE_INFINITY) || times < 0)
        throw new TypeError('"times" must be a whole number >= 0, or Infinity');
      if (outcome !== "not-applied" && outcome !== "unknown")
        throw new TypeError('"outcome" must be "not-applied" or "unknown"');
      refuseUnknownMethod(method);
      failing = failure;
      failuresLeft = times;
    },
    slowStore: (delay) => {
      refuseNoObject(delay, "delay");
      refuseUnknownFields(delay, ["ms", "method"], "a field of slowStore");
      if (!Number.isInteger(delay.ms) || delay.ms < 0 || delay.ms > MAX_DELAY_MS)
        throw new TypeError(`"ms" must be a whole number from 0 to ${MAX_DELAY_MS}`);
      refuseUnknownMethod(delay.method);
      slow = delay;
    },
  };
}

function refuseUnknownMethod(method: string | undefined): void {
  if (method === undefined || Object.hasOwn(METHODS, method)) return;
  throw new TypeError(`"method" must be one of ${Object.keys(METHODS).join(", ")}`);
}

function isMeant(
  method: StoreMethod,
  { method: only }: { readonly method?: StoreMethod },
): boolean {
  return only === undefined ? METHODS[method] === "awaited" : method === only;
}

/** A call that fails, before or after the store has executed it. */
function failed(
  { outcome = "not-applied" }: StoreFailure,
  run: () => unknown,
): () => Promise<never> {
  return async () => {
    if (outcome === "unknown") await run();
    throw new LatchkeyError("STORE_UNAVAILABLE", "the test made the store fail", { outcome });
  };
}

/** Makes a call after a delay. It looks up the timer with each call, because it may be a fake one. */
async function late(run: () => unknown, delayMs: SpanMs): Promise<unknown> {
  if (delayMs > 0) await new Promise<void>((resolve) => void setTimeout(resolve, delayMs));
  return run();
}
