import {
  type Claim,
  deepFrozen,
  type EpochMs,
  type RateWindow,
  type RecordKind,
  type RecordMemo,
  type RememberedCharge,
  type StoredRecord,
} from "@latchkey/core";
import type { Counters } from "./counters.js";
import { mapIn } from "./entry-of.js";
import { ExpiringMap } from "./expiring-map.js";
import { Lists } from "./lists.js";
import { StatisticsSums } from "./statistics.js";

/** A record, and what is kept beside it. Plans and other rows keep rows for as long as these are current. */
export class Row implements RecordMemo {
  /** Until the record is put again or deleted. */
  isCurrent = true;
  /** The row of the identity that the record links to, when it was looked for last. */
  identity: Row | undefined = undefined;
  decoded: unknown = undefined;
  readonly record: StoredRecord;

  constructor(
    { kind, id, version, link, body }: StoredRecord,
    readonly counters: Counters | null,
    public usedAt: EpochMs | null,
  ) {
    this.record = new KeptRecord(kind, id, version, link, deepFrozen(body), this);
  }
}

/** A record as it is handed out, again and again. The memo is none of its own members, so no copy brings it. */
class KeptRecord implements StoredRecord {
  readonly #memo: RecordMemo;

  constructor(
    readonly kind: RecordKind,
    readonly id: string,
    readonly version: number,
    readonly link: string | null,
    readonly body: StoredRecord["body"],
    memo: RecordMemo,
  ) {
    this.#memo = memo;
    Object.freeze(this);
  }

  get memo(): RecordMemo {
    return this.#memo;
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

  identityOf(row: Row): Row | undefined {
    const { link } = row.record;
    if (link !== null && row.identity?.isCurrent !== true)
      row.identity = this.row("identity", link);
    return row.identity;
  }

  /** Writes a record, whether or not it is there. @param counters - Undefined: as they were. */
  put(record: StoredRecord, counters?: Counters | null): void {
    const rows = this.rows(record.kind);
    const before = rows.get(record.id);
    const kept = counters === undefined ? before?.counters : counters;
    if (before !== undefined) before.isCurrent = false;
    rows.set(record.id, new Row(record, kept ?? null, before?.usedAt ?? null));
  }

  delete(kind: RecordKind, id: string): void {
    const row = this.row(kind, id);
    if (row !== undefined) row.isCurrent = false;
    this.#rows.get(kind)?.delete(id);
  }

  /** Names of a sort, each with the id of the record that has it. Where that record is gone, the name is free. */
  names({ kind, index }: Claim): Map<string, string> {
    return mapIn(mapIn(this.#names, kind), index);
  }
}

/** All workspaces of a store, by id. */
export type Workspaces = Map<string, Workspace>;
