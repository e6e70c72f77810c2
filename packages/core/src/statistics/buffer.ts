import type { LoadedKey } from "../records/key.js";
import type { LimitCharge } from "../store/charge.js";
import {
  COUNTED_CODES,
  type CountedCode,
  STATISTICS_SPAN_MS,
  type StatisticsBatch,
  type StatisticsSubject,
  type SubjectCount,
} from "../store/statistics.js";
import type { EpochMs, SpanMs } from "../time.js";

/** Most counters and latest uses in one batch: some milliseconds of work on every store. */
export const MAX_BATCH_SIZE = 500;

/** Most batches that wait for a store that stays away. */
export const MAX_RETURNED = 500;

/** A batch for the store, of one workspace. */
export interface WorkspaceBatch {
  readonly workspaceId: string;
  readonly batch: StatisticsBatch;
}

/** Verifications of one key in one hour. */
interface KeyTally {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly apiId: string;
  readonly identityId: string | null;
  readonly hourAt: EpochMs;
  /** It goes on as long as this is the one that the tally is in. */
  readonly generation: object;
  /** Verdicts `VALID`, apart from the others: on the hot path one object is written to, and no more. */
  valid: number;
  /** Ms from the start of the hour to the latest of them. Small, which an instant is not: numbers beyond 2^31 are objects. */
  usedAfterMs: SpanMs;
  /** The other verdicts, in the order of `COUNTED_CODES`; null while there are none. */
  refusals: number[] | null;
}

/** A loaded key with a place for what is being counted of it, which spares its next verification the look-up. */
export interface CountedKey extends LoadedKey {
  /** The limits that a verification takes from when it names none: they follow from the rest, and are worked out once. */
  readonly standing: readonly LimitCharge[];
  tally: KeyTally | null;
}

/** A loaded key of which nothing is being counted yet. What every verification reads comes first, so that it lies together. */
export function countedKey(loaded: LoadedKey, standing: readonly LimitCharge[]): CountedKey {
  return {
    key: loaded.key,
    identity: loaded.identity,
    workspace: loaded.workspace,
    api: loaded.api,
    handle: loaded.handle,
    standing,
    tally: null,
    roles: loaded.roles,
    permissions: loaded.permissions,
    usage: loaded.usage,
    identityUsage: loaded.identityUsage,
    direct: loaded.direct,
    lastUsedAt: loaded.lastUsedAt,
  };
}

/** What one process counted and no store was told of yet. */
export interface VerificationTally {
  /**
   * Counts one verification, for the key, its API and its identity. Where `maxKeys` are held already, one of a further key
   * is not counted.
   *
   * @param now - Unix epoch ms. A verification that was answered late, and lies before the hour that goes on, counts in it.
   * @returns Whether a key more may be held now: false for all but the first of a key in its hour.
   */
  count(key: CountedKey, code: CountedCode, now: EpochMs): boolean;
  /** How many keys, hour by hour, are held. */
  readonly heldKeys: number;
  /**
   * Hands out all that is held, and holds nothing afterwards. The batches are put together as they are asked for, some
   * milliseconds of work each, and can be gone through once.
   */
  take(): Iterable<WorkspaceBatch>;
  /** Holds again what was handed out and not added. Of a store that stays away, the latest {@link MAX_RETURNED} are held. */
  giveBack(batch: WorkspaceBatch): void;
}

const INDEX_BY_CODE = Object.fromEntries(
  COUNTED_CODES.map((code, index) => [code, index]),
) as Record<CountedCode, number>;

/**
 * Makes an empty tally. Nothing is counted twice and nothing is lost between `count`, `take` and `giveBack`, up to `maxKeys`.
 *
 * @param maxKeys - Most keys, hour by hour, that are held: a whole number >= 1.
 * @see packages/core/decisions/0015-usage-is-counted-beside-the-charge.md
 */
export function createVerificationTally(maxKeys: number): VerificationTally {
  /** By key: what is being counted in the hour that goes on. */
  let current = new Map<string, KeyTally>();
  /** What was counted before, in an hour that is over or for an identity that the key has left. */
  let closed: KeyTally[] = [];
  let returned: WorkspaceBatch[] = [];
  /** Another one with every hour and whenever all is handed out; no other tally's, wherever a key was counted before. */
  let generation: object = {};
  let hourAt: EpochMs = 0;
  let hourEndAt: EpochMs = 0;

  function openHour(now: EpochMs): void {
    for (const tally of current.values()) closed.push(tally);
    current = new Map();
    generation = {};
    hourAt = now - (now % STATISTICS_SPAN_MS);
    hourEndAt = hourAt + STATISTICS_SPAN_MS;
  }

  function tallyOf(counted: CountedKey): KeyTally | null {
    const { key, identity } = counted;
    const identityId = identity === null ? null : identity.id;
    const known = current.get(key.id);
    if (known !== undefined && known.identityId === identityId) return known;
    if (current.size + closed.length >= maxKeys) return null;
    if (known !== undefined) closed.push(known);
    const { workspaceId, id: keyId, apiId } = key;
    // Field by field, for to spread one object into another makes the engine slow with both ever after; and what every
    // verification touches first, so that it lies together.
    const tally: KeyTally = {
      generation,
      valid: 0,
      usedAfterMs: 0,
      refusals: null,
      workspaceId,
      keyId,
      apiId,
      identityId,
      hourAt,
    };
    current.set(keyId, tally);
    return tally;
  }

  return {
    count(counted, code, now) {
      if (now >= hourEndAt) openHour(now);
      let tally = counted.tally;
      const isFirst = tally === null || tally.generation !== generation;
      if (isFirst) {
        tally = tallyOf(counted);
        counted.tally = tally;
      }
      if (tally === null) return false;
      if (code === "VALID") {
        tally.valid += 1;
        if (now - hourAt > tally.usedAfterMs) tally.usedAfterMs = now - hourAt;
        return isFirst;
      }
      tally.refusals ??= COUNTED_CODES.map(() => 0);
      const index = INDEX_BY_CODE[code];
      tally.refusals[index] = (tally.refusals[index] as number) + 1;
      return isFirst;
    },
    get heldKeys() {
      return current.size + closed.length;
    },
    take() {
      const batches = handedOut([...closed, ...current.values()], returned);
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

/** What is to be added in one workspace: each subject, hour and code once, each key once. */
interface Sums {
  readonly counts: Map<string, SubjectCount>;
  readonly lastUsed: Map<string, EpochMs>;
}

/** So many tallies, each of a key of its own, and their API fill a batch. */
const TALLIES_AT_ONCE = MAX_BATCH_SIZE - 1;

/** Puts what came back together with the rest, all of it at once: else it would be more with every time. */
function* handedOut(
  tallies: readonly KeyTally[],
  returned: readonly WorkspaceBatch[],
): Generator<WorkspaceBatch> {
  const atOnce = returned.length > 0 ? tallies.length : TALLIES_AT_ONCE;
  if (tallies.length === 0) yield* batchesOf([], returned);
  for (let from = 0; from < tallies.length; from += atOnce)
    yield* batchesOf(tallies.slice(from, from + atOnce), returned);
}

function batchesOf(
  tallies: readonly KeyTally[],
  returned: readonly WorkspaceBatch[],
): readonly WorkspaceBatch[] {
  const byWorkspace = new Map<string, Sums>();
  for (const { workspaceId, batch } of returned) {
    const sums = sumsOf(byWorkspace, workspaceId);
    for (const count of batch.counts) addCount(sums, count);
    for (const { keyId, usedAt } of batch.lastUsed) addUse(sums, keyId, usedAt);
  }
  for (const tally of tallies) addTally(sumsOf(byWorkspace, tally.workspaceId), tally);
  return [...byWorkspace].flatMap(([workspaceId, sums]) =>
    inBatches(sums).map((batch) => ({ workspaceId, batch })),
  );
}

function addTally(sums: Sums, tally: KeyTally): void {
  const { keyId, apiId, identityId, hourAt } = tally;
  const subjects: StatisticsSubject[] = [
    { kind: "key", id: keyId },
    { kind: "api", id: apiId },
    ...(identityId === null ? [] : [{ kind: "identity", id: identityId } as const]),
  ];
  const counts = tally.refusals ?? [];
  for (const [index, code] of COUNTED_CODES.entries()) {
    const count = code === "VALID" ? tally.valid : (counts[index] ?? 0);
    if (count === 0) continue;
    for (const subject of subjects) addCount(sums, { subject, hourAt, code, count });
  }
  if (tally.valid > 0) addUse(sums, keyId, hourAt + tally.usedAfterMs);
}

function addCount({ counts }: Sums, added: SubjectCount): void {
  const { subject, hourAt, code } = added;
  const name = `${subject.kind} ${subject.id} ${hourAt} ${code}`;
  const before = counts.get(name)?.count ?? 0;
  counts.set(name, { ...added, count: before + added.count });
}

function addUse({ lastUsed }: Sums, keyId: string, usedAt: EpochMs): void {
  lastUsed.set(keyId, Math.max(usedAt, lastUsed.get(keyId) ?? 0));
}

function sumsOf(byWorkspace: Map<string, Sums>, workspaceId: string): Sums {
  const known = byWorkspace.get(workspaceId);
  if (known !== undefined) return known;
  const sums: Sums = { counts: new Map(), lastUsed: new Map() };
  byWorkspace.set(workspaceId, sums);
  return sums;
}

function inBatches({ counts, lastUsed }: Sums): StatisticsBatch[] {
  const allCounts = [...counts.values()];
  const allUses = [...lastUsed].map(([keyId, usedAt]) => ({ keyId, usedAt }));
  const batches: StatisticsBatch[] = [];
  for (let from = 0; from < Math.max(allCounts.length, allUses.length); from += MAX_BATCH_SIZE) {
    const to = from + MAX_BATCH_SIZE;
    batches.push({ counts: allCounts.slice(from, to), lastUsed: allUses.slice(from, to) });
  }
  return batches;
}
