import {
  type Change,
  type CounterChange,
  DIRECTORY_ID,
  type Expectation,
  type KeyStore,
  LatchkeyError,
  type LimitState,
  type Put,
  type RecordAddress,
  type RecordLayout,
  type StatisticsBatch,
} from "@latchkey/core";
import { notOwnTarget } from "../own-target.js";
import { piecesOf } from "../pieces.js";
import { aChange, setUsage } from "./changes.js";
import type { CopiedRecord, Difference } from "./copied-record.js";
import type { SharedCounters } from "./shared-counters.js";
import { subjectOf } from "./subject.js";
import { readWindows, windowLimitsOf, writeWindows } from "./windows.js";
import { type SumsDifference, writeSums } from "./write-sums.js";

/** Where differences are written. */
export interface Target {
  /** Writes to it fail once another copy has taken over. */
  readonly store: KeyStore;
  readonly workspaceId: string;
  /** What each change expects: that this copy may still write to the target. */
  readonly expects: readonly Expectation[];
  readonly shared: SharedCounters;
}

/** Latest uses in one batch of statistics. */
const MOST_USES = 500;

/**
 * Makes the records of the target as they should be. It can be interrupted anywhere and repeated: existing records are compared
 * and completed.
 */
export async function writeDifferences(
  target: Target,
  differences: readonly Difference[],
): Promise<void> {
  const gone = differences.filter(({ wanted }) => wanted === null);
  // First, because a name may still belong to a record that is deleted.
  if (gone.length > 0) await commit(target, deletionOf(target, gone));
  // Before their records: a repeat compares only those, and a pointer that leads nowhere is harmless.
  await writePointers(target, differences);
  let left = differences.filter(({ wanted }) => wanted !== null);
  while (left.length > 0) {
    const later: Difference[] = [];
    const now = left.filter((each) => {
      const isReady = target.shared.isReady(each);
      if (!isReady) later.push(each);
      return isReady;
    });
    if (now.length === 0)
      throw new LatchkeyError("STORE_CORRUPT", "keys share counters that none of them has");
    await commit(target, changeOf(target, now));
    left = later;
  }
  const isShared = ({ wanted }: Difference) => (wanted?.layout.sharedCountersId ?? null) !== null;
  // Beside a hold that has expired by the instant of a window, a charge takes nothing.
  for (const each of differences) await dropHolds(target, each);
  const own = differences.filter((each) => !isShared(each)).flatMap(missingWindows);
  await writeWindows(target.store, target.workspaceId, own);
  // Keys that share a window would each write it, so they go one after the other, each on the current state.
  for (const each of differences.filter(isShared)) await writeSharedWindows(target, each);
  // Last, because setting uses and dropping windows stops units from being returned to them.
  for (const each of differences) await restoreHolds(target, each);
  await writeStatistics(target, differences);
}

async function dropHolds({ store, workspaceId }: Target, { wanted, present }: Difference) {
  if (wanted === null || present?.usage?.holds === undefined) return;
  const step = { kind: "restore", of: addressOf(wanted.record), sums: null, holds: [] } as const;
  await store.settle(workspaceId, step, { now: 0, revision: null });
}

async function restoreHolds({ store, workspaceId }: Target, { wanted, present }: Difference) {
  const sums = wanted?.usage?.holds ?? null;
  if (wanted === null || (sums === null && present?.usage?.holds === undefined)) return;
  const { record, holds } = wanted;
  const step = { kind: "restore", of: addressOf(record), sums, holds } as const;
  await store.settle(workspaceId, step, { now: 0, revision: null });
}

/** Writes a change, if the target is still this copy's. @throws LatchkeyError `PRECONDITION_FAILED`, `CONFLICT`. */
export async function commit(
  { store, workspaceId, expects }: Target,
  change: Change,
): Promise<void> {
  const result = await store.commit(workspaceId, { ...change, expects });
  if (result.kind === "committed") return;
  if (result.kind === "stale") throw notOwnTarget();
  throw new LatchkeyError(
    "CONFLICT",
    `the target refused a change (${result.kind}): the source changed while it was copied, so copy it again`,
  );
}

function deletionOf({ shared }: Target, differences: readonly Difference[]): Change {
  const records = differences.flatMap(({ present }) => present ?? []);
  for (const record of records) shared.forget(record);
  return aChange({
    deletes: records.map(({ record }) => addressOf(record)),
    releases: records.flatMap(({ record, layout }) => claimsOf(record, layout)),
    leaves: records.flatMap(({ record, layout }) => entriesOf(record, layout.lists)),
  });
}

function changeOf({ shared }: Target, differences: readonly Difference[]): Change {
  const puts: Put[] = [];
  const counters: CounterChange[] = [];
  const claims: ReturnType<typeof claimsOf> = [];
  const releases: ReturnType<typeof claimsOf> = [];
  const enters: ReturnType<typeof entriesOf> = [];
  const leaves: ReturnType<typeof entriesOf> = [];
  for (const { wanted, present } of differences) {
    if (wanted === null) continue;
    const { record, usage, layout } = wanted;
    const others = present?.layout;
    claims.push(...without(claimsOf(record, layout), others && claimsOf(record, others)));
    enters.push(
      ...without(entriesOf(record, layout.lists), others && entriesOf(record, others.lists)),
    );
    if (others !== undefined) {
      releases.push(...without(claimsOf(record, others), claimsOf(record, layout)));
      leaves.push(...without(entriesOf(record, others.lists), entriesOf(record, layout.lists)));
    }
    if (present === null || (present.usage === null) !== (usage === null)) {
      puts.push({ record, counters: shared.countersOf(wanted) });
    } else {
      if (!isSame(plain(record), plain(present.record))) puts.push({ record });
      const usages = usage && present.usage ? setUsage(present.usage, usage) : [];
      const address = addressOf(record);
      counters.push(...usages.slice(0, -1).map((each) => ({ ...address, usage: each })));
      const isOwn = layout.sharedCountersId === null;
      const dropWindows = isOwn ? staleWindows(wanted, present.windows) : [];
      const last = usages.at(-1);
      if (last !== undefined || dropWindows.length > 0)
        counters.push({ ...address, ...(last && { usage: last }), dropWindows });
    }
  }
  return aChange({ puts, counters, claims, releases, enters, leaves });
}

/** A window that must change is deleted first, because a window never goes back and only rises. */
function staleWindows({ windows }: CopiedRecord, present: CopiedRecord["windows"]) {
  const names = Object.keys(present);
  return names.filter((name) => !isSame(windows[name], present[name]));
}

async function writeSharedWindows(target: Target, { wanted, present }: Difference): Promise<void> {
  if (wanted === null) return;
  const { store, workspaceId } = target;
  const asked = windowLimitsOf(wanted.layout).map((limit) => ({ ...limit, owner: wanted.record }));
  const stored = await readWindows(store, workspaceId, asked);
  const windows = Object.fromEntries(stored.map(({ window, found }) => [window, found]));
  const dropWindows = staleWindows(wanted, windows);
  if (dropWindows.length > 0)
    await commit(target, aChange({ counters: [{ ...addressOf(wanted.record), dropWindows }] }));
  const missing = missingWindows({ wanted, present: { ...(present ?? wanted), windows } });
  await writeWindows(store, workspaceId, missing);
}

function missingWindows({ wanted, present }: Difference) {
  if (wanted === null) return [];
  const { windows, layout, record } = wanted;
  return windowLimitsOf(layout).flatMap((limit) => {
    const found: LimitState | undefined = windows[limit.window];
    const isThere = found !== undefined && isSame(found, present?.windows[limit.window]);
    return found === undefined || isThere ? [] : [{ ...limit, found, owner: record }];
  });
}

async function writePointers({ store }: Target, differences: readonly Difference[]): Promise<void> {
  const pointers = differences.flatMap(({ wanted }) => wanted?.layout.pointer ?? []);
  const puts = pointers.map((record) => ({ record }));
  if (puts.length > 0) await store.commit(DIRECTORY_ID, aChange({ puts }));
}

async function writeStatistics(
  { store, workspaceId }: Target,
  differences: readonly Difference[],
): Promise<void> {
  const sums: SumsDifference[] = [];
  const uses: StatisticsBatch["uses"][number][] = [];
  for (const { wanted, present } of differences) {
    if (wanted === null) continue;
    const { usedAt, record } = wanted;
    const subject = subjectOf(record);
    if (subject !== null) sums.push({ subject, wanted: wanted.sums, present: present?.sums ?? [] });
    if (usedAt !== null && usedAt !== present?.usedAt) uses.push({ ...addressOf(record), usedAt });
  }
  await writeSums(store, workspaceId, sums);
  for (const some of piecesOf(uses, MOST_USES))
    await store.addStatistics(workspaceId, { counts: [], uses: some });
}

function addressOf({ kind, id }: RecordAddress): RecordAddress {
  return { kind, id };
}

function plain({ kind, id, version, link, body }: CopiedRecord["record"]) {
  return { kind, id, version, link, body };
}

function claimsOf({ kind, id }: RecordAddress, { claims }: RecordLayout) {
  return claims.map(({ index, value }) => ({ kind, index, value, id }));
}

function entriesOf({ id }: RecordAddress, lists: RecordLayout["lists"]) {
  return lists.map(({ list, of }) => ({ list, id, ...(of !== undefined && { of }) }));
}

function without<Item>(items: readonly Item[], others: readonly Item[] = []): readonly Item[] {
  return items.filter((item) => !others.some((other) => isSame(item, other)));
}

/** Whether two values have the same text. Everything compared here has its members in the same order. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
