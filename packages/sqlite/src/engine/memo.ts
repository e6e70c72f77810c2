import type { RecordAddress } from "@latchkey/core";
import type { StoredCounters } from "./counters.js";
import type { Statements } from "./statements.js";

/** How many counters one connection remembers. */
const MOST = 65_536;

/** Counters as this connection last read or wrote them. Records that share counters share this, too. */
export interface KeptCounters extends StoredCounters {
  readonly seq: number;
  /** Of {@link Memo.age}, when they were read. */
  readonly age: number;
}

/** What a charge needs of a record, and of its workspace, as a connection once read it: the handle of a record that was read by a name. */
export interface KeptRecord extends RecordAddress {
  readonly memo: Memo;
  readonly workspace: number;
  readonly generation: number;
  readonly revision: number;
  readonly version: number;
  readonly counters: KeptCounters | null;
}

/**
 * What this connection has read and knows to be as stored.
 *
 * SQLite's `data_version` changes when another connection has committed anything: then counters may have moved, which are of
 * another age. The mark in the file changes when a record that was there has been changed or deleted, or a revision raised, and
 * `schema_version` when a backup was restored into the file: then all begins a new generation. A new record changes nothing that
 * is known. What this connection writes is put here (charges), or begins a new age or generation (commits). So what was read in
 * the same generation and, for counters, at the same age is what the file holds. That is asked before every answer, and what was
 * read since it was asked last counts as old where it has changed. See https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class Memo {
  /** Rows of an earlier one are no longer known to be as stored. */
  generation = 0;
  /** Counters that were read at an earlier one may have been moved by another connection. */
  age = 0;
  readonly #counters = new Map<number, KeptCounters>();
  readonly #run: Statements;
  #lastMark = "";
  #lastDataVersion: unknown;

  constructor(run: Statements) {
    this.#run = run;
  }

  /** Finds out what another connection has committed. Inside a write transaction the answer holds until its end. */
  confirm(): number {
    if (this.#counters.size > MOST) {
      // Whoever holds some of it has to read again, or two would each move counters of their own.
      this.generation += 1;
      this.#counters.clear();
    }
    const version = this.#run.dataVersion.get()?.[0];
    if (version === this.#lastDataVersion) return this.generation;
    const mark = String(this.#run.mark.get());
    if (mark !== this.#lastMark) this.generation += 1;
    this.age += 1;
    this.#lastMark = mark;
    this.#lastDataVersion = version;
    return this.generation;
  }

  keepCounters(read: KeptCounters): KeptCounters {
    const known = this.#counters.get(read.seq);
    if (known !== undefined) return Object.assign(known, read);
    this.#counters.set(read.seq, read);
    return read;
  }
}
