import type { SqliteStatement } from "./database.js";
import type { StoredCounters } from "./stored-counters.js";

const ASKED_EVERY = 8;

/** How many rows of a table one connection remembers. */
const MOST = 65_536;

/** Counters as this connection last read or wrote them. */
export interface KeptCounters {
  readonly seq: number;
  usage: StoredCounters["usage"];
  windows: StoredCounters["windows"];
}

/** What a charge needs of a record, and of its workspace, as this connection last read it. */
export interface KeptRecord {
  readonly generation: number;
  readonly seq: number;
  readonly workspace: number;
  readonly kind: number;
  readonly id: string;
  readonly version: number;
  readonly revision: number;
  readonly counters: KeptCounters | null;
}

/**
 * What this connection has read and knows to be as stored.
 *
 * SQLite's `data_version` changes when another connection has committed anything; what this connection commits is either put
 * here (charges) or begins a new generation (commits). So while the generation is the same, what was read in it is what the
 * file holds. That is asked before every answer, and what was read since it was asked last is thrown away where it has
 * changed: nothing here ever gets old.
 *
 * @see https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class Memo {
  /** Rows of an earlier one are no longer known to be as stored. */
  generation = 0;
  /** How often charges of this connection have moved counters. */
  moves = 0;
  readonly #records = new Map<number, KeptRecord>();
  readonly #counters = new Map<number, KeptCounters>();
  readonly #dataVersion: SqliteStatement;
  #lastDataVersion: unknown;
  #isRestless = false;
  #unasked = 0;

  constructor(dataVersion: SqliteStatement) {
    this.#dataVersion = dataVersion;
  }

  /** Begins a new generation if another connection has committed. Inside a write transaction that holds until its end. */
  confirm(): number {
    const version = this.#dataVersion.get();
    this.#isRestless = version !== this.#lastDataVersion;
    this.#lastDataVersion = version;
    if (this.#isRestless) this.generation += 1;
    return this.generation;
  }

  /**
   * The generation that is as stored now; NaN, equal to none, while other connections commit so often that asking costs more
   * than it saves. Then it is asked only now and then, whether it has become quiet.
   */
  ask(): number {
    if (this.#isRestless) this.#unasked = (this.#unasked + 1) % ASKED_EVERY;
    return this.#isRestless && this.#unasked !== 0 ? Number.NaN : this.confirm();
  }

  /** The record of that number, of whatever generation. */
  record(seq: unknown): KeptRecord | undefined {
    return this.#records.get(seq as number);
  }

  /** Keeps a record that was read. Records that share counters share what is kept of them. */
  keep(record: Omit<KeptRecord, "counters">, read: KeptCounters | null): KeptRecord {
    if (this.#records.size >= MOST) {
      // Plans that hold some of them have to read again, or two would each move counters of their own.
      this.generation += 1;
      this.#records.clear();
      this.#counters.clear();
    }
    const known = read === null ? undefined : this.#counters.get(read.seq);
    if (known !== undefined) Object.assign(known, read);
    else if (read !== null) this.#counters.set(read.seq, read);
    const { generation, seq, workspace, kind, id, version, revision } = record;
    const counters = known ?? read;
    const kept = { generation, seq, workspace, kind, id, version, revision, counters };
    this.#records.set(seq, kept);
    return kept;
  }
}
