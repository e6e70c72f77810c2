import { type ChargeRow, UNKNOWN } from "./charge-row.js";
import type { ValueQuery } from "./database.js";

const ASKED_EVERY = 8;

/** Rows in the younger half; as many again may be in the older one. */
const HALF_SIZE = 16_384;

/**
 * What this connection has read of keys and knows to be as stored.
 *
 * SQLite's `data_version` changes when another connection has committed anything; what this connection commits
 * is either put here (charges) or makes it forget all (everything else). So while the number is unchanged, a row
 * that is here is the row in the file. It is asked for before every answer: nothing here ever gets old.
 *
 * @see https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class ChargeMemo {
  readonly #dataVersion: ValueQuery;
  #lastDataVersion: unknown;
  #generation = 0;
  #isRestless = false;
  #unasked = 0;
  #young = new Map<string, ChargeRow>();
  #old = new Map<string, ChargeRow>();

  constructor(dataVersion: ValueQuery) {
    this.#dataVersion = dataVersion;
  }

  /** Rows of an earlier generation are no longer known to be as stored. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Asks whether another connection has committed since the last time, and begins a new generation if so. Inside
   * a write transaction the answer holds until its end.
   */
  confirm(): void {
    const version = this.#dataVersion.value();
    this.#isRestless = version !== this.#lastDataVersion;
    if (!this.#isRestless) return;
    this.#lastDataVersion = version;
    this.#generation += 1;
  }

  /**
   * The generation that is as stored now; {@link UNKNOWN} while other connections commit so often that asking
   * costs more than it saves. Then it is asked only now and then, whether it has become quiet.
   */
  ask(): number {
    if (this.#isRestless) {
      this.#unasked = (this.#unasked + 1) % ASKED_EVERY;
      if (this.#unasked !== 0) return UNKNOWN;
    }
    this.confirm();
    return this.#generation;
  }

  /** Begins a new generation: every row has to be read again. */
  forget(): void {
    this.#generation += 1;
  }

  /** The row as this connection last knew it; undefined where it did not, or no longer remembers. */
  get(keyId: string): ChargeRow | undefined {
    return this.#young.get(keyId) ?? this.#promoted(keyId);
  }

  /** Keeps a row that was read, or written in the current transaction. */
  set(keyId: string, row: ChargeRow): void {
    if (this.#young.size >= HALF_SIZE) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(keyId, row);
  }

  #promoted(keyId: string): ChargeRow | undefined {
    const row = this.#old.get(keyId);
    if (row !== undefined) this.set(keyId, row);
    return row;
  }
}
