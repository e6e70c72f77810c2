import { LatchkeyError } from "../errors.js";
import { nextTurn } from "../lib/yield.js";
import type { KeyStore } from "../store/wide-store.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { VerifyOutcome } from "../verification/verdict.js";
import { type CountedKey, createVerificationTally, type WorkspaceBatch } from "./buffer.js";

/** How long counts wait for the store unless told otherwise. */
export const DEFAULT_FLUSH_MS: SpanMs = 5_000;

/** How long counts wait at most. */
export const MAX_FLUSH_MS: SpanMs = 3_600_000;

/** Keys, hour by hour, at which counts are handed over early, and above which further ones are not counted. */
const EARLY_FLUSH_KEYS = 50_000;
const MAX_HELD_KEYS = 100_000;

/** Calls back once after `delayMs`, without keeping a process alive for it; answers how to call that off. */
export type Schedule = (callback: () => void, delayMs: SpanMs) => () => void;

/** Counts verifications in memory and tells the store of them in batches. */
export interface VerificationCounter {
  /** Counts one verdict on a key. Nothing waits for it, and a key that was counted before costs no look-up. */
  count(key: CountedKey, code: VerifyOutcome["code"], now: EpochMs): void;
  /** Resolves when the store was told of all that was counted before the call. Never rejects. */
  flush(): Promise<void>;
}

/**
 * Makes a counter over a store.
 *
 * The store is told `flushMs` after the first count that it does not know of, and at once when very many keys are held: what
 * a crash loses is at most what was counted in the last `flushMs`. A batch that the store has not added is kept and told
 * with the next; one of which it is not known whether it was added is dropped, so that nothing is counted twice.
 */
export function createVerificationCounter(
  store: Pick<KeyStore, "addVerifications">,
  flushMs: SpanMs,
  schedule: Schedule = scheduleOnHost,
): VerificationCounter {
  const tally = createVerificationTally(MAX_HELD_KEYS);
  let callOff: (() => void) | null = null;
  let isEarly = false;
  let flushed: Promise<void> = Promise.resolve();

  function flushIn(delayMs: SpanMs): void {
    callOff?.();
    callOff = schedule(() => void flush(), delayMs);
  }

  function flush(): Promise<void> {
    callOff?.();
    callOff = null;
    isEarly = false;
    flushed = flushed.then(tellStore);
    return flushed;
  }

  async function tellStore(): Promise<void> {
    let isFirst = true;
    let isAway = false;
    for (const batch of tally.take()) {
      // Also while the store is away: to put a batch together takes its time, too.
      if (!isFirst) await nextTurn();
      isFirst = false;
      isAway ||= !(await isSettled(store, batch));
      if (isAway) tally.giveBack(batch);
    }
  }

  return {
    count(key, code, now) {
      if (code === "NOT_FOUND") return;
      // The store is to be told of a key from its first count on: those that follow change nothing about that.
      if (!tally.count(key, code, now)) return;
      if (callOff === null) flushIn(flushMs);
      else if (!isEarly && tally.heldKeys >= EARLY_FLUSH_KEYS) {
        isEarly = true;
        flushIn(0);
      }
    },
    flush,
  };
}

/** Whether a batch needs no more thought: it was added, or may have been. */
async function isSettled(
  store: Pick<KeyStore, "addVerifications">,
  { workspaceId, batch }: WorkspaceBatch,
): Promise<boolean> {
  try {
    await store.addVerifications(workspaceId, batch);
    return true;
  } catch (error) {
    return !(error instanceof LatchkeyError && error.outcome === "not-applied");
  }
}

function scheduleOnHost(callback: () => void, delayMs: SpanMs): () => void {
  const timer: unknown = setTimeout(callback, delayMs);
  // Node keeps a process alive for a timer unless told not to; other hosts answer a plain number.
  if (typeof timer === "object" && timer !== null && "unref" in timer) {
    (timer as { unref(): void }).unref();
  }
  return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
}
