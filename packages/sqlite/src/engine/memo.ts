import type { SqliteStatement } from "./database.js";
import type { StoredCounters } from "./stored-counters.js";

const ASKED_EVERY = 8;

/** Rows in the younger half; as many again may be in the older one. */
const HALF_SIZE = 16_384;

/** What a charge needs of a record, and of its workspace, as this connection last read it. */
export interface KeptRecord {
  readonly generation: number;
  readonly seq: number;
  readonly workspace: number;
  readonly kind: number;
  readonly id: string;
  readonly version: number;
  readonly revision: number;
  /** The number of its counters, if it has some. */
  readonly counters: number | null;
}

/** Counters as this connection last read or wrote them. */
export interface KeptCounters extends StoredCounters {
  readonly generation: number;
  readonly seq: number;
}

/** The rows of one table that were used last, by their number. */
class Recent<Row> {
  #young = new Map<number, Row>();
  #old = new Map<number, Row>();

  get(seq: number): Row | undefined {
    const kept = this.#young.get(seq);
    if (kept !== undefined) return kept;
    const old = this.#old.get(seq);
    if (old !== undefined) this.set(seq, old);
    return old;
  }

  set(seq: number, row: Row): void {
    if (this.#young.size >= HALF_SIZE) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(seq, row);
  }
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
  readonly records = new Recent<KeptRecord>();
  readonly counters = new Recent<KeptCounters>();
  /** Rows of an earlier one are no longer known to be as stored. */
  generation = 0;
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
}
