import {
  type Claim,
  deepFrozen,
  type EpochMs,
  type LoadedRecord,
  type RateWindow,
  type RecordKind,
  type RememberedCharge,
  type StoredRecord,
  type StoredRecordState,
} from "@latchkey/core";
import type { Counters } from "./counters.js";
import { mapIn } from "./entry-of.js";
import { ExpiringMap } from "./expiring-map.js";
import { Lists } from "./lists.js";
import { StatisticsSums } from "./statistics.js";

/** A record as it is handed out again and again, frozen, with what no copy brings: one object, to wait for one place of memory. */
export class Row implements StoredRecord {
  readonly kind: RecordKind;
  readonly id: string;
  readonly version: number;
  readonly link: string | null;
  readonly body: StoredRecord["body"];
  #isCurrent = true;
  #memo: unknown = undefined;
  readonly #counters: Counters | null;
  #usedAt: EpochMs | null;
  /** The row of the identity that the record links to, when it was looked for last. */
  #identity: Row | undefined = undefined;

  /** @param counters - Undefined: as they were. @param before - The row whose place it takes. */
  constructor(record: StoredRecord, counters?: Counters | null, before?: Row) {
    this.kind = record.kind;
    this.id = record.id;
    this.version = record.version;
    this.link = record.link;
    this.body = deepFrozen(record.body);
    this.#counters = (counters === undefined ? before?.counters : counters) ?? null;
    this.#usedAt = before === undefined ? null : before.#usedAt;
    before?.retire();
    Object.freeze(this);
  }

  get memo(): unknown {
    return this.#memo;
  }

  set memo(memo: unknown) {
    this.#memo = memo;
  }

  get counters(): Counters | null {
    return this.#counters;
  }

  /** Until the record is put again or deleted. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  retire(): void {
    this.#isCurrent = false;
  }

  used(at: EpochMs): void {
    this.#usedAt = Math.max(this.#usedAt ?? at, at);
  }

  /** The record, and the identity that it links to. */
  loaded(workspace: Workspace): LoadedRecord {
    if (this.link !== null && this.#identity?.isCurrent !== true)
      this.#identity = workspace.row("identity", this.link);
    const usage = this.#counters?.usage() ?? null;
    return { record: this, usage, usedAt: this.#usedAt, linked: this.#identity?.state() ?? null };
  }

  state(): StoredRecordState {
    return { record: this, usage: this.#counters?.usage() ?? null, usedAt: this.#usedAt };
  }
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

  rows(kind: RecordKind): Map<string, Row> {
    return mapIn(this.#rows, kind);
  }

  /** Writes a record, whether or not it is there. @param counters - Undefined: as they were. */
  put(record: StoredRecord, counters?: Counters | null): Row {
    const rows = this.rows(record.kind);
    const row = new Row(record, counters, rows.get(record.id));
    rows.set(row.id, row);
    return row;
  }

  delete(kind: RecordKind, id: string): void {
    this.row(kind, id)?.retire();
    this.#rows.get(kind)?.delete(id);
  }

  /** Names of a sort, each with the id of the record that has it. Where that record is gone, the name is free. */
  names({ kind, index }: Claim): Map<string, string> {
    return mapIn(mapIn(this.#names, kind), index);
  }
}

/** All workspaces of a store, by id. */
export type Workspaces = Map<string, Workspace>;
