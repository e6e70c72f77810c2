import type { KeyRecord } from "./key.js";
import type { EpochMs } from "./time.js";
import {
  COUNTED_CODES,
  COUNTER_SPAN_MS,
  type CountedCode,
  type CountSubject,
  type SubjectCount,
  type VerificationBatch,
} from "./verification-count.js";

/** Most counters and latest uses in one batch: some milliseconds of work on every store. */
export const MAX_BATCH_SIZE = 500;

/** Most batches that wait for a store that stays away. */
export const MAX_RETURNED = 500;

/** A batch for the store, of one workspace. */
export interface WorkspaceBatch {
  readonly workspaceId: string;
  readonly batch: VerificationBatch;
}

/** What one process counted and no store was told of yet. */
export interface VerificationTally {
  /**
   * Counts one verification, for the key, its API and its identity. Where `maxKeys` are held already, one of a further key
   * is not counted.
   *
   * @param identityId - Of the identity that the key belongs to, or null.
   */
  count(key: KeyRecord, identityId: string | null, code: CountedCode, now: EpochMs): void;
  /** How many keys, hour by hour, are held. */
  readonly heldKeys: number;
  /** Hands out all that is held, and holds nothing afterwards. */
  take(): readonly WorkspaceBatch[];
  /** Holds again what was handed out and not added. Of a store that stays away, the latest {@link MAX_RETURNED} are held. */
  giveBack(batch: WorkspaceBatch): void;
}

/** Verifications of one key in one hour: on the hot path one look-up finds all that there is to count. */
interface KeyTally {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly apiId: string;
  readonly identityId: string | null;
  readonly hourAt: EpochMs;
  /** In the order of `COUNTED_CODES`. */
  readonly counts: number[];
  /** Latest `VALID` verification, or 0. */
  usedAt: EpochMs;
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

  function open(key: KeyRecord, identityId: string | null, hourAt: EpochMs): KeyTally | null {
    const before = current.get(key.id);
    if (current.size + closed.length >= maxKeys) return null;
    if (before !== undefined) closed.push(before);
    const { workspaceId, id: keyId, apiId } = key;
    const counts = COUNTED_CODES.map(() => 0);
    const tally = { workspaceId, keyId, apiId, identityId, hourAt, counts, usedAt: 0 };
    current.set(keyId, tally);
    return tally;
  }

  return {
    count(key, identityId, code, now) {
      const hourAt = now - (now % COUNTER_SPAN_MS);
      const held = current.get(key.id);
      const isSame = held !== undefined && held.hourAt === hourAt && held.identityId === identityId;
      const tally = isSame ? held : open(key, identityId, hourAt);
      if (tally === null) return;
      const index = INDEX_BY_CODE[code];
      tally.counts[index] = (tally.counts[index] as number) + 1;
      if (code === "VALID") tally.usedAt = now;
    },
    get heldKeys() {
      return current.size + closed.length;
    },
    take() {
      const batches = batchesOf([...closed, ...current.values()], returned);
      current = new Map();
      closed = [];
      returned = [];
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
  const { keyId, apiId, identityId, hourAt, usedAt } = tally;
  const subjects: CountSubject[] = [
    { kind: "key", id: keyId },
    { kind: "api", id: apiId },
    ...(identityId === null ? [] : [{ kind: "identity", id: identityId } as const]),
  ];
  for (const [index, count] of tally.counts.entries()) {
    const code = COUNTED_CODES[index] as CountedCode;
    if (count === 0) continue;
    for (const subject of subjects) addCount(sums, { subject, hourAt, code, count });
  }
  if (usedAt > 0) addUse(sums, keyId, usedAt);
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

function inBatches({ counts, lastUsed }: Sums): VerificationBatch[] {
  const allCounts = [...counts.values()];
  const allUses = [...lastUsed].map(([keyId, usedAt]) => ({ keyId, usedAt }));
  const batches: VerificationBatch[] = [];
  for (let from = 0; from < Math.max(allCounts.length, allUses.length); from += MAX_BATCH_SIZE) {
    const to = from + MAX_BATCH_SIZE;
    batches.push({ counts: allCounts.slice(from, to), lastUsed: allUses.slice(from, to) });
  }
  return batches;
}
