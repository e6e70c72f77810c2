import { randomInt } from "node:crypto";
import { parseWhole, type RecordAddress } from "@latchkey/core";
import type { StoredCounters } from "./counters.js";
import type { SqliteDatabase } from "./database.js";
import { assertKnown } from "./migrations/index.js";
import type { Names } from "./names.js";
import type { Statements } from "./statements.js";

/** How many counters one connection remembers. */
const MOST = 65_536;

/** Of how many workspaces one connection remembers the revision. */
const MOST_REVISIONS = 10_000;

/** Counters as this connection last read or wrote them. Records that share counters share this, too. */
export interface KeptCounters extends StoredCounters {
  readonly seq: number;
  /** Of {@link Memo.age}, when they were read. */
  readonly age: number;
  /** Of {@link Memo.generation}, likewise. */
  readonly generation: number;
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
 * What this connection has read and knows to be up to date.
 *
 * - `data_version` of SQLite changed: another connection has committed. Counters are read again: a new age.
 * - The mark in the file changed (a record that was there was changed or deleted, or a revision raised), or `schema_version` (a
 *   backup was restored into the file): records and names are read again as well: a new generation.
 * - Charges of this connection are kept up to date here. Its commits begin a new age or generation. A new record begins neither.
 * - Another copy of this package has written on the same database, which `data_version` does not tell: a new age, or generation.
 *
 * All of it is checked before every use. See https://www.sqlite.org/pragma.html#pragma_data_version
 */
export class Memo {
  #generation = 0;
  /** Counters that were read at an earlier one may have been moved by another connection. */
  age = 0;
  readonly #counters = new Map<number, KeptCounters>();
  /** By workspace, of one generation. */
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

  /** Rows of an earlier one are no longer known to be as stored. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Forgets what is known of rows, so that those that were deleted take no memory. Whoever holds some of it has to read again, or two
   * would each move counters of their own.
   */
  beginGeneration(): void {
    this.#generation += 1;
    this.#counters.clear();
  }

  /** Tells other connections, at the next commit, that a record which was there is changed or deleted, or a revision raised. */
  setMark(): void {
    // At random: a number that only rises comes again where a backup was restored. Not by random() of SQLite: the owner of the database may
    // have put a function of that name in its place.
    this.#run.setMark.run(randomInt(2 ** 47));
    this.beginGeneration();
  }

  /** Checks what other connections have committed. Inside a write transaction, the result is valid until its end. */
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

  /** Tells other copies of this package that something is written. Call it inside a write transaction, on a memo that was confirmed. */
  tellCopies(): void {
    this.#ofCopies.writes += 1;
    this.#lastWrites = this.#ofCopies.writes;
  }

  /** The revision of a workspace; 0 if it does not exist. Call it on a memo that was confirmed. */
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

  /** Counters that are known to be as stored, on a memo that was confirmed; null where they have to be read. */
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

/** Under which a database holds what all copies of this package share. */
const SHARED = Symbol.for("@latchkey/sqlite");

/**
 * A bundler, a module that is reloaded, or a test runner may load this package more than once into a process, with one database that is
 * handed to each copy.
 */
function sharedByCopies(database: SqliteDatabase): { writes: number } {
  const holder = database as { [SHARED]?: { writes: number } };
  if (holder[SHARED] === undefined)
    Object.defineProperty(database, SHARED, { value: { writes: 0 } });
  return holder[SHARED] as { writes: number };
}
