import { LatchkeyError } from "../errors.js";
import { type ErrorListener, report } from "../lib/error-listener.js";
import { assertOption, assertSwitch, nestedOptions } from "../lib/options.js";
import { unref, yieldToEventLoop } from "../lib/promises.js";
import { durationMs } from "../rules/duration.js";
import type { KeyStore } from "../store/key-store.js";
import { STATISTICS_SPAN_MS, type SumCode } from "../store/statistics.js";
import type { Clock, EpochMs, SpanMs, Timer } from "../time.js";
import type { CountedKey } from "../verification/key-cache.js";
import type { VerifyOutcome } from "../verification/verdict.js";
import {
  countsAt,
  createStatisticsBuffer,
  MAX_BATCH_SIZE,
  sizeOf,
  type WorkspaceBatch,
} from "./buffer.js";

const DEFAULT_FLUSH_MS: SpanMs = 5_000;

const MAX_FLUSH_MS: SpanMs = 3_600_000;

/** Number of keys, counted per hour, at which counts are written early, and above which further keys are not counted. */
const EARLY_FLUSH_KEYS = 50_000;
const MAX_HELD_KEYS = 100_000;

/** Longest time that counts wait after the end of their hour. */
const EDGE_MS: SpanMs = 5_000;

/** Most batches that are written at the same time. More of them are hardly faster, and hold verifications up: in PostgreSQL by 14 ms with 20. */
const MOST_AT_ONCE = 4;

/** How long {@link StatisticsRecorder.close} waits for running calls. */
const CLOSING_MS: SpanMs = 2_000;

/** Calls back once after `delayMs`, without keeping the process alive; returns a function that cancels it. */
export type Schedule = (callback: () => void, delayMs: SpanMs) => () => void;

export interface RecorderSettings {
  readonly flushMs: SpanMs;
  /** Whether verifications are counted in the step that charges: then a crash loses no count. */
  readonly isDurable: boolean;
}

/** Reads the option `usage`, unless it is false. @throws TypeError naming what is wrong. */
export function readRecorderSettings(usage: unknown): RecorderSettings {
  const known = ["flushMs", "durable"];
  const options = nestedOptions("usage", usage, known, "false or { flushMs, durable }");
  const { flushMs: given = DEFAULT_FLUSH_MS, durable: isDurable = false } = options;
  assertSwitch("usage.durable", isDurable);
  const flushMs = durationMs(given);
  assertOption(
    flushMs !== null && flushMs <= MAX_FLUSH_MS,
    `"usage.flushMs" must be a whole number from 1 to ${MAX_FLUSH_MS}, or a text such as "5s"`,
  );
  return { flushMs, isDurable };
}

/** Clocks that tell a recorder how late it is: late counts are added to the hour in which they are written. */
export interface RecorderClocks {
  /** A monotonic clock, in ms. */
  readonly steady: Timer;
  /** The machine's clock, which also runs while the machine sleeps; null for a custom clock, which may have been moved. */
  readonly machineNow: Clock | null;
}

export type StatisticsRecorder = ReturnType<typeof createStatisticsRecorder>;

/**
 * Makes a recorder, which counts verifications in memory and writes the counts to a store in batches.
 *
 * Counts are written `flushMs` after the first one that the store does not have, and at once if very many keys are held: a crash loses at
 * most the counts of the last `flushMs`. A batch that the store did not add is written with the next one, a few seconds later; one that may
 * have been added is dropped, so that nothing is counted twice. Both are reported to `onError`.
 *
 * @param writeOthers - Writes whatever else this process saw in the workspace, or in all, with every flush.
 */
export function createStatisticsRecorder(
  store: Pick<KeyStore, "addStatistics">,
  { flushMs, isDurable }: RecorderSettings,
  onError: ErrorListener | null,
  { steady, machineNow }: RecorderClocks,
  writeOthers: (workspaceId: string | null) => Promise<void> = async () => undefined,
  schedule: Schedule = scheduleOnHost,
) {
  const buffer = createStatisticsBuffer(MAX_HELD_KEYS, isDurable);
  let callOff: (() => void) | null = null;
  let isEarly = false;
  /** When the first count was made that the store does not have, and the steady clock at that time. */
  let [firstAt, firstMs] = [0, 0];
  let flushed: Promise<void> = Promise.resolve();
  // A number, not a set of calls: a set would cost a verification a tenth of its time in this process.
  let underWay = 0;
  let whenLastEnds: (() => void) | null = null;
  /** Resolves once no call is running, or after a while; null until closing. */
  let ended: Promise<void> | null = null;

  function end(): void {
    underWay -= 1;
    if (underWay === 0) whenLastEnds?.();
  }

  function waitForCalls(): Promise<void> {
    return new Promise<void>((resolve) => {
      const callOffWait = schedule(resolve, CLOSING_MS);
      whenLastEnds = () => {
        callOffWait();
        resolve();
      };
    });
  }

  function flushIn(delayMs: SpanMs): void {
    callOff?.();
    callOff = schedule(() => void flush(), delayMs);
  }

  function flush(workspaceId: string | null = null): Promise<void> {
    if (workspaceId === null) {
      callOff?.();
      callOff = null;
      isEarly = false;
    }
    flushed = flushed.then(() => write(workspaceId));
    return flushed;
  }

  async function write(workspaceId: string | null): Promise<void> {
    let isFirst = true;
    let isAway = false;
    for (const group of groupsOf(buffer.take(workspaceId))) {
      // Even while the store is away: building batches takes time too.
      if (!isFirst) await yieldToEventLoop();
      isFirst = false;
      const areLeft = await Promise.all(group.map((batch) => isAway || canBeAddedLater(batch)));
      const left: readonly WorkspaceBatch[] = group.filter((_, index) => areLeft[index]);
      for (const batch of left) buffer.giveBack(batch);
      isAway ||= left.length > 0;
    }
    // Nothing may be counted for hours, and what was kept must not wait for that.
    if (isAway && callOff === null && ended === null) flushIn(Math.min(flushMs, DEFAULT_FLUSH_MS));
    await writeOthers(workspaceId).catch((error: unknown) => report(onError, error));
  }

  /** Adds a batch. @returns Whether the store did not add it, and can add it later. */
  async function canBeAddedLater({
    workspaceId,
    batch: { counts, uses },
  }: WorkspaceBatch): Promise<boolean> {
    // Anew for each: a slow store may take minutes for all of them.
    const passedAt = firstAt + Math.floor(steady() - firstMs);
    const now = Math.max(passedAt, machineNow?.() ?? 0);
    try {
      await store.addStatistics(workspaceId, { counts: countsAt(now, counts), uses });
      return false;
    } catch (error) {
      report(onError, error ?? new Error("the store rejected with nothing"));
      return error instanceof LatchkeyError && error.outcome === "not-applied";
    }
  }

  return {
    /** Counts one verdict on a key. Nothing waits for it. */
    count(key: CountedKey, code: VerifyOutcome["code"] | SumCode, now: EpochMs, by?: number): void {
      if (code === "NOT_FOUND") return;
      // The first count of a key schedules a flush; later ones change nothing about that.
      if (!buffer.count(key, code, now, by)) return;
      if (callOff === null) {
        [firstAt, firstMs] = [now, steady()];
        const leftMs = STATISTICS_SPAN_MS - (now % STATISTICS_SPAN_MS) + EDGE_MS;
        flushIn(Math.min(flushMs, leftMs));
      } else if (!isEarly && buffer.heldKeys >= EARLY_FLUSH_KEYS) {
        isEarly = true;
        flushIn(0);
      }
    },
    /**
     * Resolves when everything that was counted before the call is written, or could not be. Never rejects.
     *
     * @param workspaceId - Writes only what was counted in this workspace; the rest waits for its time.
     */
    flush,
    /** Returns the call. It may count something before it ends, so `close` waits for it. */
    track<Call extends Promise<unknown>>(call: Call): Call {
      // Calls that begin while closing are not waited for: that could go on forever.
      if (ended !== null) return call;
      underWay += 1;
      call.then(end, end);
      return call;
    },
    /** Flushes once the running calls have ended, or after a while. Never rejects. */
    async close(): Promise<void> {
      ended ??= underWay === 0 ? Promise.resolve() : waitForCalls();
      await ended;
      await flush();
    },
    /** Whether the step of a charge counts: then only the latest uses of keys are written later. */
    isDurable,
  };
}

/**
 * Batches that are written together: each takes round trips, and a process with many workspaces has a small one for each. Together they
 * are no more work for the store than one full batch. The first is alone: it shows whether the store answers.
 */
function* groupsOf(batches: Iterable<WorkspaceBatch>): Generator<readonly WorkspaceBatch[]> {
  let group: WorkspaceBatch[] = [];
  let size = 0;
  let most = 1;
  for (const batch of batches) {
    if (group.length === most || size + sizeOf(batch) > MAX_BATCH_SIZE) {
      if (group.length > 0) yield group;
      [group, size, most] = [[], 0, MOST_AT_ONCE];
    }
    group.push(batch);
    size += sizeOf(batch);
  }
  if (group.length > 0) yield group;
}

function scheduleOnHost(callback: () => void, delayMs: SpanMs): () => void {
  const timer: unknown = setTimeout(callback, delayMs);
  unref(timer);
  return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0]);
}
