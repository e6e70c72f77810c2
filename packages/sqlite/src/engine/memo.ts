import { randomInt } from "node:crypto";
import { parseWhole, type RecordAddress } from "@latchkey/core";
import type { StoredCounters } from "./counters.js";
import type { SqliteDatabase } from "./database.js";
import { assertKnown } from "./migrations/index.js";
import type { Names } from "./names.js";
import type { Statements } from "./statements.js";

/** Most counters that one connection remembers. */
const MOST = 65_536;

/** Most workspaces whose revision one connection remembers. */
const MOST_REVISIONS = 10_000;

/** Counters as this connection last read or wrote them. Records that share counters share this object, too. */
export interface KeptCounters extends StoredCounters {
  readonly seq: number;
  /** {@link Memo.age} when they were read. */
  readonly age: number;
  /** {@link Memo.generation} when they were read. */
  readonly generation: number;
}

/** What a charge needs of a record and its workspace, as a connection once read it: the handle of a record that was read by a claim. */
export interface KeptRecord extends RecordAddress {
  readonly memo: Memo;
  readonly workspace: number;
  readonly generation: number;
  readonly revision: number;
  readonly version: number;
  readonly counters: KeptCounters | null;
}

/**
 * What this connection has read and knows to be up to date.
 *
 * - `data_version` of SQLite changed: another connection has committed. Counters are read again: a new age.
 * - The mark in the file changed (an existing record was changed or deleted, or a revision raised), or `schema_version` changed (a
 *   backup was restored into the file): records and names are read again as well: a new generation.
 * - Charges of this connection are kept up to date here. Its commits begin a new age or generation. A new record begins neither.
 * - Another copy of this package has written to the same database, which `data_version` does not show: a new age, or generation.
 *
 * All of it is checked before every use. See https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class Memo {
  #generation = 0;
  /** Another connection may have changed counters that were read at an earlier age. */
  age = 0;
  readonly #counters = new Map<number, KeptCounters>();
  /** By workspace, for one generation. */
  readonly #revisions = new Map<string, number>();
  #revisionsOf = 0;
  readonly #run: Statements;
  readonly #names: Names;
  readonly #ofCopies: { writes: number };
  #lastMark = "";
  #lastDataVersion: unknown;
  #lastWrites = 0;

  constructor(run: Statements, names: Names, database: SqliteDatabase) {
    this.#run = run;
    this.#names = names;
    this.#ofCopies = sharedByCopies(database);
  }

  /** Rows of an earlier generation may no longer be as stored. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Forgets all rows, so that deleted ones take no memory. Holders of such rows have to read again: otherwise two of them would each
   * change counters of their own.
   */
  beginGeneration(): void {
    this.#generation += 1;
    this.#counters.clear();
  }

  /** Tells other connections, at the next commit, that an existing record was changed or deleted, or a revision raised. */
  setMark(): void {
    // Random, since an increasing number would come again after a backup is restored. Not SQLite's random(): the owner of the database
    // may have replaced that function.
    this.#run.setMark.run(randomInt(2 ** 47));
    this.beginGeneration();
  }

  /** Checks what other connections have committed, and returns the generation, which inside a write transaction is valid until its end. */
  confirm(): number {
    if (this.#counters.size > MOST) this.beginGeneration();
    const version = this.#run.dataVersion.get()?.[0];
    const { writes } = this.#ofCopies;
    if (version === this.#lastDataVersion && writes === this.#lastWrites) return this.generation;
    const row = this.#run.mark.get();
    const mark = String(row);
    if (mark !== this.#lastMark) assertKnown(Number(row?.[2]));
    if (mark !== this.#lastMark) {
      this.beginGeneration();
      this.#names.forget();
    }
    this.age += 1;
    this.#lastMark = mark;
    this.#lastDataVersion = version;
    this.#lastWrites = writes;
    return this.generation;
  }

  /** Tells other copies of this package about a write. Call it inside a write transaction, on a confirmed memo. */
  tellCopies(): void {
    this.#ofCopies.writes += 1;
    this.#lastWrites = this.#ofCopies.writes;
  }

  /** The revision of a workspace; 0 if it does not exist. Call it on a confirmed memo. */
  revision(workspaceId: string): number {
    if (this.#revisionsOf !== this.generation || this.#revisions.size >= MOST_REVISIONS)
      this.#revisions.clear();
    this.#revisionsOf = this.generation;
    const known = this.#revisions.get(workspaceId);
    if (known !== undefined) return known;
    const revision = parseWhole(this.#run.workspace.get(workspaceId)?.[1]) ?? 0;
    this.#revisions.set(workspaceId, revision);
    return revision;
  }

  /** Counters that are known to be as stored, on a confirmed memo; null if they have to be read. */
  counters(seq: number): KeptCounters | null {
    const known = this.#counters.get(seq);
    return known?.age === this.age && known.generation === this.generation ? known : null;
  }

  keepCounters(read: KeptCounters): KeptCounters {
    const known = this.#counters.get(read.seq);
    if (known !== undefined) return Object.assign(known, read);
    this.#counters.set(read.seq, read);
    return read;
  }
}

/** Property of a database that holds what all copies of this package share. */
const SHARED = Symbol.for("@latchkey/sqlite");

/**
 * The state shared by copies of this package. A bundler, a reloaded module or a test runner may load the package more than once into a
 * process, and hand one database to each copy.
 */
function sharedByCopies(database: SqliteDatabase): { writes: number } {
  const holder = database as { [SHARED]?: { writes: number } };
  if (holder[SHARED] === undefined)
    Object.defineProperty(database, SHARED, { value: { writes: 0 } });
  return holder[SHARED] as { writes: number };
}
