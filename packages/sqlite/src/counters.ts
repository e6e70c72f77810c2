import { type CommitResult, type CounterChange, changeUsage, type Usage } from "@latchkey/core";
import { prepareAll, type SqliteDatabase } from "./engine/database.js";
import {
  readUsage,
  readWindows,
  type StoredCounters,
  writeWindows,
} from "./engine/stored-counters.js";

export const COUNTERS_SQL = {
  find: "SELECT remaining, refilled_at, last_refill_at, windows FROM latchkey_counters WHERE seq = ?",
  add: `INSERT INTO latchkey_counters (holders, remaining, refilled_at, last_refill_at, windows)
    VALUES (1, ?, ?, ?, '')`,
  move: `UPDATE latchkey_counters SET remaining = ?, refilled_at = ?, last_refill_at = ?, windows = ?
    WHERE seq = ?`,
  share: "UPDATE latchkey_counters SET holders = holders + 1 WHERE seq = ?",
  release: "UPDATE latchkey_counters SET holders = holders - 1 WHERE seq = ? AND holders > 1",
  delete: "DELETE FROM latchkey_counters WHERE seq = ?",
} as const;

/** What counter changes come to: the usage after each of them, and the counters afterwards by their number. */
export interface CounterMoves {
  readonly kind: "judged";
  readonly usages: readonly Usage[];
  readonly after: ReadonlyMap<number, StoredCounters>;
}

/** Writes counters. */
export class Counters {
  readonly #run;

  constructor(database: SqliteDatabase) {
    this.#run = prepareAll(database, COUNTERS_SQL);
  }

  /** Decides changes, each on what those before it left. @param seqOf - Answers the number of the counters of a change. */
  judge(
    changes: readonly CounterChange[],
    seqOf: (change: CounterChange) => number | null,
  ): CounterMoves | Extract<CommitResult, { kind: "refused" }> {
    const after = new Map<number, StoredCounters>();
    const usages: Usage[] = [];
    for (const [index, change] of changes.entries()) {
      const seq = seqOf(change);
      if (seq === null) throw new TypeError(`"counters" names a ${change.kind} that has none`);
      let { usage, windows } = after.get(seq) ?? this.#find(seq);
      if (change.usage !== undefined) {
        const changed = changeUsage(usage, change.usage);
        if (changed.kind !== "changed") return { kind: "refused", index, reason: changed };
        usage = changed.usage;
      }
      windows = windows.filter(({ name }) => isKept(name, change));
      usages.push(usage);
      after.set(seq, { usage, windows });
    }
    return { kind: "judged", usages, after };
  }

  move(seq: number, { usage, windows }: StoredCounters): void {
    const { remaining, refilledAt, lastRefillAt } = usage;
    this.#run.move.run(remaining, refilledAt, lastRefillAt, writeWindows(windows), seq);
  }

  /** @returns The number of new counters, with one holder. */
  add({ remaining, refilledAt, lastRefillAt }: Usage): number {
    return Number(this.#run.add.run(remaining, refilledAt, lastRefillAt).lastInsertRowid);
  }

  /** One more record holds them. */
  share(seq: number): void {
    this.#run.share.run(seq);
  }

  /** One record less holds them; they go with the last one. */
  release(seq: number): void {
    if (this.#run.release.run(seq).changes === 0) this.#run.delete.run(seq);
  }

  /** @throws LatchkeyError `STORE_CORRUPT` when they cannot be what was written, or are gone. */
  #find(seq: number): StoredCounters {
    const [remaining, refilledAt, lastRefillAt, windows] = this.#run.find.get(seq) ?? [];
    return {
      usage: readUsage(remaining, refilledAt, lastRefillAt),
      windows: readWindows(windows),
    };
  }
}

function isKept(name: string, { keepWindows, dropWindows }: CounterChange): boolean {
  return keepWindows?.includes(name) !== false && dropWindows?.includes(name) !== true;
}
