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
import { mapIn } from "./entry-of.js";
import { ExpiringMap } from "./expiring-map.js";
import { deepFrozen } from "./frozen.js";
import { Lists } from "./lists.js";
import { StatisticsSums } from "./statistics.js";

/** A window among counters, and the next of them. Written to in place: a charge makes nothing that stays. */
export class Window implements RateWindow {
  constructor(
    readonly name: string,
    public startedAt: EpochMs,
    public used: number,
    readonly next: Window | null,
  ) {}
}

/** Counters of one record, or of several that share them: each of these holds the same object. */
export class Counters implements Usage {
  remaining: number | null;
  refilledAt: EpochMs;
  lastRefillAt: EpochMs | null;
  /** The first of them. In no order, and few: most keys have no rate limit, and most others have one. */
  #windows: Window | null = null;

  constructor({ remaining, refilledAt, lastRefillAt }: Usage) {
    this.remaining = remaining;
    this.refilledAt = refilledAt;
    this.lastRefillAt = lastRefillAt;
  }

  /** Writes what is different: an instant is an object to the engine, and a new one in an old place is work for its collector. */
  setUsage({ remaining, refilledAt, lastRefillAt }: Usage): void {
    this.remaining = remaining;
    if (this.refilledAt !== refilledAt) this.refilledAt = refilledAt;
    if (this.lastRefillAt !== lastRefillAt) this.lastRefillAt = lastRefillAt;
  }

  window(name: string): Window | null {
    let window = this.#windows;
    while (window !== null && window.name !== name) window = window.next;
    return window;
  }

  setWindow(name: string, { startedAt, used }: RateWindow): void {
    const known = this.window(name);
    if (known === null) this.#windows = new Window(name, startedAt, used, this.#windows);
    else {
      if (known.startedAt !== startedAt) known.startedAt = startedAt;
      known.used = used;
    }
  }

  forgetWindows({ keepWindows, dropWindows = [] }: CounterChange): void {
    let window = this.#windows;
    this.#windows = null;
    for (; window !== null; window = window.next)
      if (!dropWindows.includes(window.name) && keepWindows?.includes(window.name) !== false)
        this.setWindow(window.name, window);
  }
}

/** A record, and what is kept beside it. Plans keep rows and their counters: other counters make another row. */
export class Row {
  /** Null once the record is deleted or has another row: this one is never used again. */
  version: number | null = null;
  link: string | null = null;
  body: StoredRecord["body"] = null;
  usedAt: EpochMs | null = null;

  constructor(
    readonly kind: RecordKind,
    readonly id: string,
    readonly counters: Counters | null,
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

  /** Writes a record, whether or not it is there. @param counters - Undefined: as they were. */
  put({ kind, id, version, link, body }: StoredRecord, counters?: Counters | null): void {
    const known = this.row(kind, id);
    const row =
      known !== undefined && counters === undefined ? known : new Row(kind, id, counters ?? null);
    if (row !== known) {
      row.usedAt = known?.usedAt ?? null;
      this.delete(kind, id);
      mapIn(this.#rows, kind).set(id, row);
    }
    row.version = version;
    row.link = link;
    row.body = deepFrozen(body);
  }

  delete(kind: RecordKind, id: string): void {
    const rows = this.#rows.get(kind);
    const row = rows?.get(id);
    if (row === undefined) return;
    rows?.delete(id);
    row.version = null;
  }

  /** Names of a sort, each with the id of the record that has it. Where that record is gone, the name is free. */
  names({ kind, index }: Claim): Map<string, string> {
    return mapIn(mapIn(this.#names, kind), index);
  }
}

/** All workspaces of a store, by id. */
export type Workspaces = Map<string, Workspace>;
