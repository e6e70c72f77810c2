import { type CommitResult, type CounterChange, changeUsage, type Usage } from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import {
  readUsage,
  readWindows,
  type StoredCounters,
  writeWindows,
} from "./engine/stored-counters.js";

/** What counter changes come to: the usage after each of them, and the counters afterwards by their number. */
interface CounterMoves {
  readonly kind: "judged";
  readonly usages: readonly Usage[];
  readonly after: ReadonlyMap<number, StoredCounters>;
}

/** Decides changes, each on what those before it left. @param seqOf - Answers the number of the counters of a change. */
export function judgeCounters(
  connection: Connection,
  changes: readonly CounterChange[],
  seqOf: (change: CounterChange) => number | null,
): CounterMoves | Extract<CommitResult, { kind: "refused" }> {
  const after = new Map<number, StoredCounters>();
  const usages: Usage[] = [];
  for (const [index, change] of changes.entries()) {
    const seq = seqOf(change);
    if (seq === null) throw new TypeError(`"counters" names a ${change.kind} that has none`);
    const before = after.get(seq) ?? findCounters(connection, seq);
    let { usage } = before;
    if (change.usage !== undefined) {
      const changed = changeUsage(usage, change.usage);
      if (changed.kind !== "changed") return { kind: "refused", index, reason: changed };
      usage = changed.usage;
    }
    usages.push(usage);
    after.set(seq, { usage, windows: before.windows.filter(({ name }) => isKept(name, change)) });
  }
  return { kind: "judged", usages, after };
}

/** Writes counters that are there. */
export function moveCounters({ run }: Connection, seq: number, counters: StoredCounters): void {
  const { remaining, refilledAt, lastRefillAt } = counters.usage;
  const windows = writeWindows(counters.windows);
  run.moveCounters.run(remaining, refilledAt, lastRefillAt, windows, seq);
}

/** Writes new counters. @returns Their number. */
export function addCounters({ run }: Connection, usage: Usage): number {
  const { remaining, refilledAt, lastRefillAt } = usage;
  return Number(run.addCounters.run(remaining, refilledAt, lastRefillAt).lastInsertRowid);
}

/** One record less has them; they go with the last one. */
export function leaveCounters({ run }: Connection, seq: number): void {
  if (run.leaveCounters.run(seq).changes === 0) run.deleteCounters.run(seq);
}

/** @throws LatchkeyError `STORE_CORRUPT` when they cannot be what was written, or are gone. */
function findCounters({ run }: Connection, seq: number): StoredCounters {
  const [remaining, refilledAt, lastRefillAt, windows] = run.counters.get(seq) ?? [];
  return { usage: readUsage(remaining, refilledAt, lastRefillAt), windows: readWindows(windows) };
}

function isKept(name: string, { keepWindows, dropWindows }: CounterChange): boolean {
  return keepWindows?.includes(name) !== false && dropWindows?.includes(name) !== true;
}
