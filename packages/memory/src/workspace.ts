import type {
  Claim,
  CounterChange,
  EpochMs,
  RateWindow,
  RecordKind,
  RememberedCharge,
  StoredRecord,
  Usage,
} from "@latchkey/core";
import { entryOf, mapIn } from "./entry-of.js";
import { ExpiringMap } from "./expiring-map.js";
import { Lists } from "./lists.js";
import { StatisticsSums } from "./statistics.js";

/** Where windows of limits are kept: with a record, or with the workspace. */
export interface WindowHolder {
  get(name: string): RateWindow | null;
  /** `until`: for how long a holder that does not keep it for good keeps it. */
  set(name: string, window: RateWindow, until: EpochMs, now: EpochMs): void;
}

/** Counters of one record, or of several that share them: each of these holds the same object. */
export class Counters implements WindowHolder {
  /** Made for the first window: most keys have no rate limit. */
  #windows: Map<string, RateWindow> | null = null;

  constructor(public usage: Usage) {}

  get(name: string): RateWindow | null {
    return this.#windows?.get(name) ?? null;
  }

  set(name: string, window: RateWindow): void {
    this.#windows ??= new Map();
    this.#windows.set(name, window);
  }

  forgetWindows({ keepWindows, dropWindows = [] }: CounterChange): void {
    for (const name of this.#windows?.keys() ?? [])
      if (dropWindows.includes(name) || keepWindows?.includes(name) === false)
        this.#windows?.delete(name);
  }
}

/** Versions are whole numbers >= 0. */
const NO_VERSION = -1;

/** Where a record is, and what is kept beside it. Plans keep rows: one whose record was deleted is never used again. */
export class Row {
  /** Null once it is deleted. */
  record: StoredRecord | null = null;
  /** That of the record, for charges, which need no more of it; {@link NO_VERSION} without one. */
  version = NO_VERSION;
  counters: Counters | null = null;
  usedAt: EpochMs | null = null;
}

/** Everything of one workspace. */
export class Workspace {
  revision = 0;
  readonly lists = new Lists();
  readonly statistics = new StatisticsSums();
  /** Windows of limits without an owner. */
  readonly windows = new ExpiringMap<RateWindow>();
  readonly requests = new ExpiringMap<RememberedCharge>();
  readonly #rows = new Map<RecordKind, Map<string, Row>>();
  readonly #claims = new Map<RecordKind, Map<string, Map<string, string>>>();

  row(kind: RecordKind, id: string): Row | undefined {
    return this.#rows.get(kind)?.get(id);
  }

  /** Writes a record, whether or not it is there, and answers its row. */
  put(record: StoredRecord): Row {
    const row = entryOf(mapIn(this.#rows, record.kind), record.id, () => new Row());
    row.record = record;
    row.version = record.version;
    return row;
  }

  delete(kind: RecordKind, id: string): void {
    const row = this.row(kind, id);
    this.#rows.get(kind)?.delete(id);
    if (row === undefined) return;
    row.record = null;
    row.version = NO_VERSION;
  }

  /** Id of the record that has a name. Where that is gone, the name is free. */
  holderOf({ kind, index, value }: Claim): string | undefined {
    return this.#claims.get(kind)?.get(index)?.get(value);
  }

  claim({ kind, index, value }: Claim, id: string): void {
    mapIn(mapIn(this.#claims, kind), index).set(value, id);
  }

  release(claim: Claim, id: string): void {
    if (this.holderOf(claim) === id)
      this.#claims.get(claim.kind)?.get(claim.index)?.delete(claim.value);
  }
}

/** All workspaces of a store, by id. */
export type Workspaces = Map<string, Workspace>;

export const newWorkspace = (): Workspace => new Workspace();
