import type { Usage } from "@latchkey/core";
import type { Query } from "./database.js";
import type { StoredWindows } from "./windows.js";

/** What a charge needs of one key's row, of its identity's version and of its workspace's epoch. */
export interface ChargeRow {
  readonly seq: number;
  readonly workspaceId: string;
  readonly identityId: string | null;
  readonly keyVersion: number;
  readonly identityVersion: number | null;
  readonly epoch: number;
  readonly usage: Usage;
  /** Windows of the key's configured limits. */
  readonly windows: StoredWindows;
}

interface Entry {
  readonly generation: number;
  readonly row: ChargeRow;
}

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
  readonly #dataVersion: Query;
  #lastDataVersion: unknown;
  #generation = 0;
  #young = new Map<string, Entry>();
  #old = new Map<string, Entry>();

  constructor(dataVersion: Query) {
    this.#dataVersion = dataVersion;
  }

  /**
   * Asks whether another connection has committed since the last time, and forgets all if so. Inside a write
   * transaction the answer holds until its end.
   */
  confirm(): void {
    const version = this.#dataVersion.first()?.[0];
    if (version === this.#lastDataVersion) return;
    this.#lastDataVersion = version;
    this.#generation += 1;
  }

  /** Every row from now on has to be read again. */
  forget(): void {
    this.#generation += 1;
  }

  /** The row as this connection last knew it; null when it is to be read again. Only {@link confirm} makes it sure. */
  get(keyId: string): ChargeRow | null {
    const entry = this.#young.get(keyId) ?? this.#promoted(keyId);
    return entry !== undefined && entry.generation === this.#generation ? entry.row : null;
  }

  /** Keeps a row that was read after the last {@link confirm}, or written in the current transaction. */
  set(keyId: string, row: ChargeRow): void {
    if (this.#young.size >= HALF_SIZE) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(keyId, { generation: this.#generation, row });
  }

  #promoted(keyId: string): Entry | undefined {
    const entry = this.#old.get(keyId);
    if (entry !== undefined && entry.generation === this.#generation) this.set(keyId, entry.row);
    return entry;
  }
}
