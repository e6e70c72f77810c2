import type { SqliteStatement } from "./database.js";
import type { StoredCounters } from "./stored-counters.js";

const ASKED_EVERY = 8;

/** Counters in the younger half; as many again may be in the older one. */
const HALF_SIZE = 16_384;

/** The generation of what may be old a moment after it was read. Equal to none, not even to itself. */
const UNKNOWN = Number.NaN;

/** Counters as this connection last read or wrote them. */
export interface KeptCounters extends StoredCounters {
  readonly generation: number;
}

/**
 * What this connection has read of counters and knows to be as stored.
 *
 * SQLite's `data_version` changes when another connection has committed anything; what this connection commits is either
 * put here (charges) or makes it forget all (commits). So while the generation is the same, what was read in it is what the
 * file holds. That is asked before every answer: nothing here ever gets old.
 *
 * @see https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class CountersMemo {
  readonly #dataVersion: SqliteStatement;
  #lastDataVersion: unknown;
  #generation = 0;
  #isRestless = false;
  #unasked = 0;
  #young = new Map<number, KeptCounters>();
  #old = new Map<number, KeptCounters>();

  constructor(dataVersion: SqliteStatement) {
    this.#dataVersion = dataVersion;
  }

  /** What belongs to an earlier one is no longer known to be as stored. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Asks whether another connection has committed since the last time, and begins a new generation if so. Inside a write
   * transaction the answer holds until its end.
   */
  confirm(): number {
    const version = this.#dataVersion.get();
    this.#isRestless = version !== this.#lastDataVersion;
    if (this.#isRestless) {
      this.#lastDataVersion = version;
      this.#generation += 1;
    }
    return this.#generation;
  }

  /**
   * The generation that is as stored now; equal to none while other connections commit so often that asking costs more than
   * it saves. Then it is asked only now and then, whether it has become quiet.
   */
  ask(): number {
    if (this.#isRestless) {
      this.#unasked = (this.#unasked + 1) % ASKED_EVERY;
      if (this.#unasked !== 0) return UNKNOWN;
    }
    return this.confirm();
  }

  /** Begins a new generation: everything has to be read again. */
  forget(): void {
    this.#generation += 1;
  }

  /** As last known, of whatever generation; undefined where nothing is. */
  get(seq: number): KeptCounters | undefined {
    const kept = this.#young.get(seq);
    if (kept !== undefined) return kept;
    const old = this.#old.get(seq);
    if (old !== undefined) this.set(seq, old);
    return old;
  }

  /** Keeps counters that were read, or written in the current transaction. */
  set(seq: number, counters: KeptCounters): void {
    if (this.#young.size >= HALF_SIZE) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(seq, counters);
  }
}
