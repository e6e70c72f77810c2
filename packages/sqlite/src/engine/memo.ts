import type { StoredCounters } from "./counters.js";
import type { SqliteStatement } from "./database.js";

/** How many records one connection remembers. */
const MOST = 65_536;

/** Counters as this connection last read or wrote them. Records that share counters share this, too. */
export interface KeptCounters {
  readonly seq: number;
  usage: StoredCounters["usage"];
  windows: StoredCounters["windows"];
}

/** What a charge needs of a record, and of its workspace, as this connection last read it. */
export interface KeptRecord {
  readonly generation: number;
  readonly workspace: number;
  readonly revision: number;
  readonly kind: number;
  readonly id: string;
  readonly version: number;
  readonly counters: KeptCounters | null;
}

/**
 * What this connection has read and knows to be as stored.
 *
 * SQLite's `data_version` changes when another connection has committed anything; what this connection commits is either put
 * here (charges) or begins a new generation (commits). So while the generation is the same, what was read in it is what the
 * file holds. That is asked before every answer, and what was read since it was asked last is thrown away where it has
 * changed: nothing here ever gets old. See https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class Memo {
  /** Rows of an earlier one are no longer known to be as stored. */
  generation = 0;
  readonly records = new Map<unknown, KeptRecord>();
  readonly #counters = new Map<number, KeptCounters>();
  readonly #dataVersion: SqliteStatement;
  #lastDataVersion: unknown;

  constructor(dataVersion: SqliteStatement) {
    this.#dataVersion = dataVersion;
  }

  /** Begins a new generation if another connection has committed. Inside a write transaction that holds until its end. */
  confirm(): number {
    const version = this.#dataVersion.get();
    if (version !== this.#lastDataVersion) this.generation += 1;
    this.#lastDataVersion = version;
    return this.generation;
  }

  keepRecord(seq: number, record: KeptRecord): KeptRecord {
    if (this.records.size >= MOST) {
      // Whoever holds some of it has to read again, or two would each move counters of their own.
      this.generation += 1;
      this.records.clear();
      this.#counters.clear();
    }
    this.records.set(seq, record);
    return record;
  }

  keepCounters(read: KeptCounters): KeptCounters {
    const known = this.#counters.get(read.seq);
    if (known !== undefined) return Object.assign(known, read);
    this.#counters.set(read.seq, read);
    return read;
  }
}
