import {
  type CommitResult,
  type CounterChange,
  changeUsage,
  LatchkeyError,
  type Usage,
} from "@latchkey/core";
import type { SqliteStatement } from "./engine/database.js";
import { prepare, prepareQuery, type Row, type SqliteDatabase } from "./engine/database.js";
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

/** What a change makes of counters, by their number, and the usage after each of its steps. */
export interface CounterMoves {
  readonly kind: "judged";
  readonly usages: readonly Usage[];
  readonly after: ReadonlyMap<number, StoredCounters>;
}

/** Counters of records, as commits change them. */
export class Counters {
  readonly #run: { readonly [Name in keyof typeof COUNTERS_SQL]: SqliteStatement };

  constructor(database: SqliteDatabase) {
    const statements = Object.entries(COUNTERS_SQL).map(([name, sql]) => {
      const isQuery = sql.startsWith("SELECT");
      return [name, isQuery ? prepareQuery(database, sql) : prepare(database, sql)];
    });
    this.#run = Object.fromEntries(statements);
  }

  /**
   * Decides counter changes, each on what those before it left.
   *
   * @param owners - The number of the counters of each change.
   */
  judge(
    changes: readonly CounterChange[],
    owners: readonly (number | null)[],
  ): CounterMoves | Extract<CommitResult, { kind: "refused" }> {
    const after = new Map<number, StoredCounters>();
    const usages: Usage[] = [];
    for (const [index, change] of changes.entries()) {
      const seq = owners[index] ?? null;
      const before = seq === null ? null : (after.get(seq) ?? this.#find(seq));
      if (seq === null || before === null) {
        throw new LatchkeyError(
          "INTERNAL_SERVER_ERROR",
          "a change names counters that do not exist",
        );
      }
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

  write({ after }: CounterMoves): void {
    for (const [seq, counters] of after) this.move(seq, counters);
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

  #find(seq: number): StoredCounters | null {
    const row = this.#run.find.get(seq) as Row | undefined;
    if (row === undefined) return null;
    return { usage: readUsage(row[0], row[1], row[2]), windows: readWindows(row[3]) };
  }
}

function isKept(name: string, { keepWindows, dropWindows }: CounterChange): boolean {
  if (keepWindows !== undefined && !keepWindows.includes(name)) return false;
  return dropWindows === undefined || !dropWindows.includes(name);
}
