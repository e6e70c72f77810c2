import {
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  SUM_CODES,
  type SubjectCount,
  type SumCode,
} from "../store/statistics.js";
import type { EpochMs, SpanMs } from "../time.js";
import { countedFor, subjectsOf } from "../verification/counted-subjects.js";
import type { CountedKey, KeyCounts } from "../verification/key-cache.js";

/** Most counters and latest uses in one batch: some milliseconds of work on every store. */
export const MAX_BATCH_SIZE = 500;

/** Most batches that wait for a store that cannot be reached. */
export const MAX_RETURNED = 500;

/**
 * How long after its end an hour is still written to. Counts that wait longer, for example because the store was away, are added to a later
 * hour: the sums of this one may have been exported.
 */
const LATE_MS: SpanMs = 60_000;

/** A batch for the store, of one workspace. */
export interface WorkspaceBatch {
  readonly workspaceId: string;
  readonly batch: StatisticsBatch;
}

/** Counts of one process that the store does not have yet. */
export interface StatisticsBuffer {
  /**
   * Counts one verification under one code, for the key, its API and its identity. Beyond `maxKeys` keys, it is not counted.
   *
   * @param by - How many, for a code other than `VALID`: a whole number >= 1.
   * @param now - Unix epoch ms. A late verification of an earlier hour counts in the current hour.
   * @returns Whether this was the first verification of a key in its hour.
   */
  count(key: CountedKey, code: SumCode, now: EpochMs, by?: number): boolean;
  /** Number of keys held, counted per hour. */
  readonly heldKeys: number;
  /** Takes out all counts, in batches that are built lazily. Counts that are {@link LATE_MS} late go to the hour of `now`. */
  take(now: EpochMs): Iterable<WorkspaceBatch>;
  /** Takes back batches that were not added. For a store that stays away, the latest {@link MAX_RETURNED} are held. */
  giveBack(batch: WorkspaceBatch): void;
}

const MAX_SUM = Number.MAX_SAFE_INTEGER;

const INDEX_BY_CODE = Object.fromEntries(SUM_CODES.map((code, index) => [code, index])) as Record<
  SumCode,
  number
>;

/**
 * Makes an empty buffer. Nothing is counted twice and nothing is lost between `count`, `take` and `giveBack`, up to `maxKeys`.
 *
 * @param maxKeys - Most keys that are held, counted per hour: a whole number >= 1.
 * @param isOfUses - Whether batches contain only the latest uses, because the store already has the sums.
 * @see packages/core/decisions/0015-usage-is-counted-beside-the-charge.md
 */
export function createStatisticsBuffer(
  maxKeys: number,
  isOfUses: boolean = false,
): StatisticsBuffer {
  /** By key: counts of the current hour. */
  let current = new Map<string, KeyCounts>();
  /** Earlier counts: of an hour that is over, or for an identity or tags that the key no longer has. */
  let closed: KeyCounts[] = [];
  let returned: WorkspaceBatch[] = [];
  /** Replaced with every hour and `take`. No two buffers share one, so counts that a key brings from another buffer are not used. */
  let generation: object = {};
  let hourAt: EpochMs = 0;
  let hourEndAt: EpochMs = 0;

  function openHour(now: EpochMs): void {
    for (const counts of current.values()) closed.push(counts);
    current = new Map();
    generation = {};
    hourAt = now - (now % STATISTICS_SPAN_MS);
    hourEndAt = hourAt + STATISTICS_SPAN_MS;
  }

  function countsOf(counted: CountedKey): KeyCounts | null {
    const subject = countedFor(counted);
    const { keyId, identityId, tags } = subject;
    const known = current.get(keyId);
    const isSame = known?.identityId === identityId && known.tags.join() === tags.join();
    if (known !== undefined && isSame) return known;
    if (current.size + closed.length >= maxKeys) return null;
    if (known !== undefined) closed.push(known);
    const counts: KeyCounts = {
      generation,
      valid: 0,
      usedAfterMs: 0,
      refusals: null,
      workspaceId: counted.key.workspaceId,
      ...subject,
      hourAt,
    };
    current.set(keyId, counts);
    return counts;
  }

  return {
    count(counted, code, now, by = 1) {
      if (now >= hourEndAt) openHour(now);
      let counts = counted.counts;
      const isFirst = counts === null || counts.generation !== generation;
      if (isFirst) {
        counts = countsOf(counted);
        counted.counts = counts;
      }
      if (counts === null) return false;
      if (code === "VALID") {
        counts.valid += 1;
        if (now - hourAt > counts.usedAfterMs) counts.usedAfterMs = now - hourAt;
        return isFirst;
      }
      counts.refusals ??= SUM_CODES.map(() => 0);
      const index = INDEX_BY_CODE[code];
      counts.refusals[index] = Math.min(MAX_SUM, (counts.refusals[index] as number) + by);
      return isFirst;
    },
    get heldKeys() {
      return current.size + closed.length;
    },
    take(now) {
      const held = [...closed, ...current.values()];
      const batches = batchesIn(held, returned, now, isOfUses);
      current = new Map();
      closed = [];
      returned = [];
      generation = {};
      return batches;
    },
    giveBack(batch) {
      returned.push(batch);
      if (returned.length > MAX_RETURNED) returned.shift();
    },
  };
}

/** The sums that one workspace adds: each subject, hour and code once, each key once. */
interface Sums {
  readonly now: EpochMs;
  readonly counts: Map<string, SubjectCount>;
  readonly lastUsed: Map<string, EpochMs>;
}

/** This many keys and their API fill a batch. */
const KEYS_AT_ONCE = MAX_BATCH_SIZE - 1;

/** Merges all returned batches with the rest in one step, so that they do not grow each time. */
function* batchesIn(
  held: readonly KeyCounts[],
  returned: readonly WorkspaceBatch[],
  now: EpochMs,
  isOfUses: boolean,
): Generator<WorkspaceBatch> {
  const atOnce = returned.length > 0 ? held.length : KEYS_AT_ONCE;
  if (held.length === 0) yield* batchesOf([], returned, now, isOfUses);
  for (let from = 0; from < held.length; from += atOnce)
    yield* batchesOf(held.slice(from, from + atOnce), returned, now, isOfUses);
}

function batchesOf(
  held: readonly KeyCounts[],
  returned: readonly WorkspaceBatch[],
  now: EpochMs,
  isOfUses: boolean,
): readonly WorkspaceBatch[] {
  const byWorkspace = new Map<string, Sums>();
  for (const { workspaceId, batch } of returned) {
    const sums = sumsOf(byWorkspace, workspaceId, now);
    for (const count of batch.counts) addCount(sums, count);
    for (const { id, usedAt } of batch.uses) addUse(sums, id, usedAt);
  }
  for (const counts of held) {
    const sums = sumsOf(byWorkspace, counts.workspaceId, now);
    if (!isOfUses) addCounts(sums, counts);
    if (counts.valid > 0) addUse(sums, counts.keyId, counts.hourAt + counts.usedAfterMs);
  }
  return [...byWorkspace].flatMap(([workspaceId, sums]) =>
    inBatches(sums).map((batch) => ({ workspaceId, batch })),
  );
}

function addCounts(sums: Sums, counts: KeyCounts): void {
  const { hourAt } = counts;
  const subjects = subjectsOf(counts);
  const refusals = counts.refusals ?? [];
  for (const [index, code] of SUM_CODES.entries()) {
    const count = code === "VALID" ? counts.valid : (refusals[index] ?? 0);
    if (count === 0) continue;
    for (const subject of subjects) addCount(sums, { subject, hourAt, code, count });
  }
}

function addCount({ counts, now }: Sums, added: SubjectCount): void {
  const { subject, code } = added;
  const isLate = added.hourAt + STATISTICS_SPAN_MS + LATE_MS <= now;
  const hourAt = isLate ? now - (now % STATISTICS_SPAN_MS) : added.hourAt;
  const name = `${subject.kind} ${subject.id} ${hourAt} ${code}`;
  const before = counts.get(name)?.count ?? 0;
  counts.set(name, { subject, hourAt, code, count: Math.min(MAX_SUM, before + added.count) });
}

function addUse({ lastUsed }: Sums, keyId: string, usedAt: EpochMs): void {
  lastUsed.set(keyId, Math.max(usedAt, lastUsed.get(keyId) ?? 0));
}

function sumsOf(byWorkspace: Map<string, Sums>, workspaceId: string, now: EpochMs): Sums {
  const known = byWorkspace.get(workspaceId);
  if (known !== undefined) return known;
  const sums: Sums = { now, counts: new Map(), lastUsed: new Map() };
  byWorkspace.set(workspaceId, sums);
  return sums;
}

function inBatches({ counts, lastUsed }: Sums): StatisticsBatch[] {
  const allCounts = [...counts.values()];
  const allUses = [...lastUsed].map(([id, usedAt]) => ({ kind: "key", id, usedAt }) as const);
  const batches: StatisticsBatch[] = [];
  for (let from = 0; from < Math.max(allCounts.length, allUses.length); from += MAX_BATCH_SIZE) {
    const to = from + MAX_BATCH_SIZE;
    batches.push({ counts: allCounts.slice(from, to), uses: allUses.slice(from, to) });
  }
  return batches;
}
