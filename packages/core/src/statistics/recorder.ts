import { LatchkeyError } from "../errors.js";
import { type ErrorListener, report } from "../lib/error-listener.js";
import { unref, yieldToEventLoop } from "../lib/event-loop.js";
import type { KeyStore } from "../store/key-store.js";
import type { EpochMs, SpanMs } from "../time.js";
import type { CachedKey } from "../verification/key-cache.js";
import type { VerifyOutcome } from "../verification/verdict.js";
import { createStatisticsBuffer, type WorkspaceBatch } from "./buffer.js";

/** How long counts wait for the store by default. */
export const DEFAULT_FLUSH_MS: SpanMs = 5_000;

/** How long counts wait at most. */
export const MAX_FLUSH_MS: SpanMs = 3_600_000;

/** Keys, hour by hour, at which counts are handed over early, and above which further ones are not counted. */
const EARLY_FLUSH_KEYS = 50_000;
const MAX_HELD_KEYS = 100_000;

/** Calls back once after `delayMs`, without keeping a process alive for it; answers how to call that off. */
export type Schedule = (callback: () => void, delayMs: SpanMs) => () => void;

/** Counts verifications in memory and writes the counts to the store in batches. */
export interface StatisticsRecorder {
  /** Counts one verdict on a key. Nothing waits for it, and a key that was counted before costs no look-up. */
  count(key: CachedKey, code: VerifyOutcome["code"] | "SHADOW_LIMITED", now: EpochMs): void;
  /** Resolves when all that was counted before the call was written, or could not be. Never rejects. */
  flush(): Promise<void>;
}

/**
 * Makes a recorder over a store.
 *
 * Counts are written `flushMs` after the first that the store does not have, and at once when very many keys are held: a
 * crash loses at most what was counted in the last `flushMs`. A batch that the store has not added is kept and written with the
 * next; one that may have been added is dropped, so that nothing is counted twice. Both are reported to `onError`.
 *
 * @param writeOthers - Writes what else this process saw; with every flush.
 */
export function createStatisticsRecorder(
  store: Pick<KeyStore, "addStatistics">,
  flushMs: SpanMs,
  onError: ErrorListener | null,
  schedule: Schedule = scheduleOnHost,
  writeOthers: () => Promise<void> = async () => undefined,
): StatisticsRecorder {
  const buffer = createStatisticsBuffer(MAX_HELD_KEYS);
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
    flushed = flushed.then(writeAll);
    return flushed;
  }

  async function writeAll(): Promise<void> {
    let isFirst = true;
    let isAway = false;
    for (const batch of buffer.take()) {
      // Also while the store is away: to put a batch together takes its time, too.
      if (!isFirst) await yieldToEventLoop();
      isFirst = false;
      isAway ||= !(await isDone(store, batch, onError));
      if (isAway) buffer.giveBack(batch);
    }
    await writeOthers().catch((error: unknown) => report(onError, error));
  }

  return {
    count(key, code, now) {
      if (code === "NOT_FOUND") return;
      // A flush is due from the first count of a key on: those that follow change nothing about that.
      if (!buffer.count(key, code, now)) return;
      if (callOff === null) flushIn(flushMs);
      else if (!isEarly && buffer.heldKeys >= EARLY_FLUSH_KEYS) {
        isEarly = true;
        flushIn(0);
      }
    },
    flush,
  };
}

/** Whether a batch was added, or may have been. A failure is reported: nobody waits for it. */
async function isDone(
  store: Pick<KeyStore, "addStatistics">,
  { workspaceId, batch }: WorkspaceBatch,
  onError: ErrorListener | null,
): Promise<boolean> {
  try {
    await store.addStatistics(workspaceId, batch);
    return true;
  } catch (error) {
    report(onError, error);
    return !(error instanceof LatchkeyError && error.outcome === "not-applied");
  }
}

function scheduleOnHost(callback: () => void, delayMs: SpanMs): () => void {
  const timer: unknown = setTimeout(callback, delayMs);
  unref(timer);
  return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
}
