import {
  applyHoldStep,
  type Claim,
  countedBySettle,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  type LimitState,
  type LogPlace,
  type RecordAddress,
  type RecordKind,
  type RememberedCharge,
  type StatisticsBatch,
  type StoredRecord,
} from "@latchkey/core";
import type { Counters } from "./counters.js";
import { mapIn } from "./entry-of.js";
import { ExpiringMap } from "./expiring-map.js";
import { Holds } from "./holds.js";
import { Lists, SortedIds } from "./lists.js";
import { Row } from "./row.js";
import { StatisticsSums } from "./statistics.js";

/** All data of one workspace. */
export class Workspace {
  revision = 0;
  /** Whether it was forgotten: then nothing that knows it may use it any more. */
  isForgotten = false;
  readonly lists = new Lists();
  /** Entries of the audit log, ordered by {@link placeOf}. */
  readonly log = new SortedIds([]);
  /** The highest version that an entry ever had; 1 before the first entry. */
  lastEntry = 1;
  readonly statistics = new StatisticsSums();
  /** Windows of limits without an owner. */
  readonly windows = new ExpiringMap<LimitState>(Date.now);
  readonly holds = new Holds(this);
  readonly requests = new ExpiringMap<RememberedCharge>(Date.now);
  readonly #rows = new Map<RecordKind, Map<string, Row>>();
  readonly #names = new Map<RecordKind, Map<string, Map<string, string>>>();

  row(kind: RecordKind, id: string): Row | undefined {
    return this.#rows.get(kind)?.get(id);
  }

  rows(kind: RecordKind): Map<string, Row> {
    return mapIn(this.#rows, kind);
  }

  /** Applies a step to the holds. */
  settle(step: HoldStep, moment: HoldMoment): HoldResult {
    const { now, revision } = moment;
    if (revision !== null && revision !== this.revision) return { kind: "stale" };
    const result = applyHoldStep(this.holds.at(now), step, now);
    const counted = countedBySettle(moment, result);
    if (counted !== null) this.addStatistics(counted);
    return result;
  }

  /** Adds a batch to the sums, and raises `usedAt` of the records that exist. */
  addStatistics({ counts, uses }: StatisticsBatch): void {
    for (const count of counts) this.statistics.add(count);
    for (const { kind, id, usedAt } of uses) this.row(kind, id)?.used(usedAt);
  }

  /** The counters of a record; null for none. */
  counters({ kind, id }: RecordAddress): Counters | null {
    return this.row(kind, id)?.counters ?? null;
  }

  /** Writes a record, whether or not it exists. `counters`: undefined to keep those it has. */
  put(record: StoredRecord, counters?: Counters | null): Row {
    const rows = this.rows(record.kind);
    const before = rows.get(record.id);
    const isEntry = record.kind === "auditEntry";
    const version = isEntry ? record.version || (before?.version ?? this.lastEntry + 1) : undefined;
    const row = new Row(record, counters, before, version);
    if (isEntry) {
      if (before !== undefined) this.log.delete(placeOf(before));
      this.log.set(placeOf(row), row);
      this.lastEntry = Math.max(this.lastEntry, row.version);
    }
    if (counters !== undefined && before?.counters !== counters) this.#leave(before);
    rows.set(row.id, row);
    return row;
  }

  delete(kind: RecordKind, id: string): void {
    const row = this.row(kind, id);
    row?.retire();
    if (row !== undefined && kind === "auditEntry") this.log.delete(placeOf(row));
    this.#leave(row);
    this.#rows.get(kind)?.delete(id);
  }

  /** Detaches a record from its counters. When the last record is gone, the counters leave their holds. */
  #leave(row: Row | undefined): void {
    const counters = row?.counters;
    if (!counters) return;
    counters.holders -= 1;
    if (counters.holders === 0 && counters.beside !== null) this.holds.forget(counters);
  }

  /** Names of one index, each with the id of the record that has it. If that record is gone, the name is free. */
  names({ kind, index }: Claim): Map<string, string> {
    return mapIn(mapIn(this.#names, kind), index);
  }
}

/** Sort key of an entry: orders by version, and then by id. */
export function placeOf({ version, id }: LogPlace): string {
  return `${String(version).padStart(16, "0")} ${id}`;
}

/** All workspaces of a store, by id. */
export type Workspaces = Map<string, Workspace>;
