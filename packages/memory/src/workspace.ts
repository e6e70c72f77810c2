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
import { deepFrozen } from "./frozen.js";
import { Lists } from "./lists.js";
import { StatisticsSums } from "./statistics.js";

/** Counters of one record, or of several that share them: each of these holds the same object. */
export class Counters {
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

/** A record, and what is kept beside it. Plans keep rows: one whose record was deleted is never used again. */
export class Row {
  /** Null once it is deleted. */
  version: number | null = null;
  link: string | null = null;
  body: StoredRecord["body"] = null;
  counters: Counters | null = null;
  usedAt: EpochMs | null = null;

  constructor(
    readonly kind: RecordKind,
    readonly id: string,
  ) {}
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
  readonly #names = new Map<RecordKind, Map<string, Map<string, string>>>();

  row(kind: RecordKind, id: string): Row | undefined {
    return this.#rows.get(kind)?.get(id);
  }

  /** Writes a record, whether or not it is there, and answers its row. */
  put({ kind, id, version, link, body }: StoredRecord): Row {
    const row = entryOf(mapIn(this.#rows, kind), id, () => new Row(kind, id));
    return Object.assign(row, { version, link, body: deepFrozen(body) });
  }

  delete(kind: RecordKind, id: string): void {
    const row = this.row(kind, id);
    this.#rows.get(kind)?.delete(id);
    if (row !== undefined) row.version = null;
  }

  /** Names of a sort, each with the id of the record that has it. Where that record is gone, the name is free. */
  names({ kind, index }: Claim): Map<string, string> {
    return mapIn(mapIn(this.#names, kind), index);
  }
}

/** All workspaces of a store, by id. */
export type Workspaces = Map<string, Workspace>;
