import {
  deepFrozen,
  type EpochMs,
  type LoadedRecord,
  type RecordKind,
  type StoredRecord,
  type StoredRecordState,
} from "@latchkey/core";
import type { Counters } from "./counters.js";

/** Finds the rows of a workspace. */
interface Rows {
  row(kind: RecordKind, id: string): Row | undefined;
}

/** A frozen record that is returned on every read, with a cache that copies of it lack. One object, so that a read is one memory access. */
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
  /** The row of the identity that the record links to, as of the last lookup. */
  #identity: Row | undefined = undefined;

  /** `counters`: undefined to keep those of `before`. `before`: the row that this one replaces. */
  constructor(
    record: StoredRecord,
    counters?: Counters | null,
    before?: Row,
    version = record.version,
  ) {
    this.kind = record.kind;
    this.id = record.id;
    this.version = version;
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

  /** True until the record is written again or deleted. */
  get isCurrent(): boolean {
    return this.#isCurrent;
  }

  retire(): void {
    this.#isCurrent = false;
  }

  used(at: EpochMs): void {
    this.#usedAt = Math.max(this.#usedAt ?? at, at);
  }

  /** The record, and the identity it links to. */
  loaded(rows: Rows): LoadedRecord {
    if (this.link !== null && this.#identity?.isCurrent !== true)
      this.#identity = rows.row("identity", this.link);
    const usage = this.#counters?.usage() ?? null;
    return { record: this, usage, usedAt: this.#usedAt, linked: this.#identity?.state() ?? null };
  }

  state(): StoredRecordState {
    return { record: this, usage: this.#counters?.usage() ?? null, usedAt: this.#usedAt };
  }
}
