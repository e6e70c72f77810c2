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

/** Most counters and latest uses that wait for a store that cannot be reached. */
export const MAX_RETURNED_SIZE = 500 * MAX_BATCH_SIZE;

/**
 * How long after its end an hour is still written to. Counts that wait longer, for example because the store was away, are added to a later
 * hour: the sums of this one may have been exported. A slow write, and a clock that is a minute behind, must fit into the time until then.
 */
const LATE_MS: SpanMs = 30_000;

export interface WorkspaceBatch {
  readonly workspaceId: string;
  readonly batch: StatisticsBatch;
}

/** What one workspace has counted. */
interface Held {
  /** By key: counts of the current hour. */
  readonly current: Map<string, KeyCounts>;
  /** Earlier counts: of an hour that is over, or for an identity or tags that the key no longer has. */
  readonly closed: KeyCounts[];
}

/** The generation of counts that were taken out: further verifications of their keys are counted anew. */
const TAKEN = {};

const MAX_SUM = Number.MAX_SAFE_INTEGER;

const INDEX_BY_CODE = Object.fromEntries(SUM_CODES.map((code, index) => [code, index])) as Record<
  SumCode,
  number
>;

/**
 * Makes an empty buffer for the counts of one process that the store does not have yet. Nothing is counted twice and nothing is lost between
 * `count`, `take` and `giveBack`, up to `maxKeys`.
 *
 * @param maxKeys - Most keys that are held, counted per hour: a whole number >= 1.
 * @param isOfUses - Whether batches contain only the latest uses, because the store already has the sums.
 * @see packages/core/decisions/0015-usage-is-counted-beside-the-charge.md
 */
export function createStatisticsBuffer(maxKeys: number, isOfUses: boolean = false) {
  /** By workspace, so that taking those of one does not look through all others. */
  const held = new Map<string, Held>();
  let heldKeys = 0;
  let returned: WorkspaceBatch[] = [];
  let returnedSize = 0;
  /** Replaced with every hour. No two buffers share one, so counts that a key brings from another buffer are not used. */
  let generation: object = {};
  let hourAt: EpochMs = 0;
  let hourEndAt: EpochMs = 0;

  function openHour(now: EpochMs): void {
    for (const { current, closed } of held.values()) {
      for (const counts of current.values()) closed.push(counts);
      current.clear();
    }
    generation = {};
    hourAt = now - (now % STATISTICS_SPAN_MS);
    hourEndAt = hourAt + STATISTICS_SPAN_MS;
  }

  function countsOf(counted: CountedKey): KeyCounts | null {
    const subject = countedFor(counted);
    const { keyId, identityId, tags } = subject;
    const { workspaceId } = counted.key;
    const own: Held = held.get(workspaceId) ?? { current: new Map(), closed: [] };
    const known = own.current.get(keyId);
    const isSame = known?.identityId === identityId && known.tags.join() === tags.join();
    if (known !== undefined && isSame) return known;
    if (heldKeys >= maxKeys) return null;
    if (known !== undefined) own.closed.push(known);
    const counts: KeyCounts = {
      generation,
      valid: 0,
      usedAfterMs: 0,
      refusals: null,
      workspaceId,
      ...subject,
      hourAt,
    };
    own.current.set(keyId, counts);
    held.set(workspaceId, own);
    heldKeys += 1;
    return counts;
  }

  return {
    /**
     * Counts one verification under one code, for the key, its API and its identity. Beyond `maxKeys` keys, it is not counted.
     *
     * @param by - How many, for a code other than `VALID`: a whole number >= 1.
     * @param now - Unix epoch ms. A late verification of an earlier hour counts in the current hour.
     * @returns Whether this was the first verification of a key in its hour.
     */
    count(counted: CountedKey, code: SumCode, now: EpochMs, by = 1): boolean {
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
    /** Number of keys held, counted per hour. */
    get heldKeys(): number {
      return heldKeys;
    },
    /** Takes out all counts, or those of one workspace, in batches that are built lazily. */
    take(workspaceId: string | null = null): Iterable<WorkspaceBatch> {
      const isTaken = (of: WorkspaceBatch) =>
        workspaceId === null || of.workspaceId === workspaceId;
      const taken = [...(workspaceId === null ? held.keys() : [workspaceId])].flatMap((id) => {
        const own = held.get(id);
        held.delete(id);
        return own === undefined ? [] : [...own.closed, ...own.current.values()];
      });
      heldKeys -= taken.length;
      const batches = batchesIn(taken, returned.filter(isTaken), isOfUses);
      for (const counts of taken) counts.generation = TAKEN;
      returned = returned.filter((batch) => !isTaken(batch));
      returnedSize = returned.reduce((size, batch) => size + sizeOf(batch), 0);
      return batches;
    },
    /** Takes back batches that were not added. For a store that stays away, the latest are held, up to {@link MAX_RETURNED_SIZE}. */
    giveBack(batch: WorkspaceBatch): void {
      returned.push(batch);
      returnedSize += sizeOf(batch);
      while (returnedSize > MAX_RETURNED_SIZE) returnedSize -= sizeOf(returned.shift() ?? batch);
    },
  };
}

/** Number of counters and latest uses in a batch. */
export function sizeOf({ batch: { counts, uses } }: WorkspaceBatch): number {
  return counts.length + uses.length;
}

/** The sums that one workspace adds: each subject, hour and code once, each key once. */
interface Sums {
  readonly counts: Map<string, SubjectCount>;
  readonly lastUsed: Map<string, EpochMs>;
}

/** This many keys and their API fill a batch. */
const KEYS_AT_ONCE = MAX_BATCH_SIZE - 1;

interface Share {
  readonly held: KeyCounts[];
  readonly returned: StatisticsBatch[];
}

/**
 * The batches of each workspace follow one another, so that its keys share them in whatever order they were used. All that was returned is
 * merged with the rest in one step, so that it does not grow each time.
 */
function* batchesIn(
  held: readonly KeyCounts[],
  returned: readonly WorkspaceBatch[],
  isOfUses: boolean,
): Generator<WorkspaceBatch> {
  const shares = new Map<string, Share>();
  for (const counts of held) shareOf(shares, counts.workspaceId).held.push(counts);
  for (const { workspaceId, batch } of returned) shareOf(shares, workspaceId).returned.push(batch);
  for (const [workspaceId, share] of shares) {
    const atOnce = share.returned.length > 0 ? share.held.length : KEYS_AT_ONCE;
    let from = 0;
    do {
      const some = share.held.slice(from, from + atOnce);
      for (const batch of inBatches(sumsOf(some, share.returned, isOfUses)))
        yield { workspaceId, batch };
      from += atOnce;
    } while (from < share.held.length);
  }
}

function shareOf(shares: Map<string, Share>, workspaceId: string): Share {
  const known = shares.get(workspaceId);
  if (known !== undefined) return known;
  const share: Share = { held: [], returned: [] };
  shares.set(workspaceId, share);
  return share;
}

function sumsOf(
  held: readonly KeyCounts[],
  returned: readonly StatisticsBatch[],
  isOfUses: boolean,
): Sums {
  const sums: Sums = { counts: new Map(), lastUsed: new Map() };
  for (const { counts, uses } of returned) {
    for (const count of counts) addCount(sums.counts, count);
    for (const { id, usedAt } of uses) addUse(sums, id, usedAt);
  }
  for (const counts of held) {
    if (!isOfUses) addCounts(sums, counts);
    if (counts.valid > 0) addUse(sums, counts.keyId, counts.hourAt + counts.usedAfterMs);
  }
  return sums;
}

function addCounts(sums: Sums, counts: KeyCounts): void {
  const { hourAt } = counts;
  const subjects = subjectsOf(counts);
  const refusals = counts.refusals ?? [];
  for (const [index, code] of SUM_CODES.entries()) {
    const count = code === "VALID" ? counts.valid : (refusals[index] ?? 0);
    if (count === 0) continue;
    for (const subject of subjects) addCount(sums.counts, { subject, hourAt, code, count });
  }
}

/** The counts that are written at `now`: those that are {@link LATE_MS} late are moved to its hour. */
export function countsAt(now: EpochMs, counts: readonly SubjectCount[]): readonly SubjectCount[] {
  const moved: Sums["counts"] = new Map();
  for (const count of counts) {
    const isLate = count.hourAt + STATISTICS_SPAN_MS + LATE_MS <= now;
    addCount(moved, isLate ? { ...count, hourAt: now - (now % STATISTICS_SPAN_MS) } : count);
  }
  return [...moved.values()];
}

function addCount(counts: Sums["counts"], added: SubjectCount): void {
  const { subject, hourAt, code } = added;
  const name = `${subject.kind} ${subject.id} ${hourAt} ${code}`;
  const before = counts.get(name)?.count ?? 0;
  counts.set(name, { ...added, count: Math.min(MAX_SUM, before + added.count) });
}

function addUse({ lastUsed }: Sums, keyId: string, usedAt: EpochMs): void {
  lastUsed.set(keyId, Math.max(usedAt, lastUsed.get(keyId) ?? 0));
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
