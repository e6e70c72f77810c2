import { unavailable, withTimeout } from "@latchkey/core";
import { fileOf, type SqliteDatabase } from "./database.js";
import { LogFile } from "./log-file.js";
import { readPragma } from "./pragmas.js";

/** How often the log is emptied at most, in ms: this flushes two files, and blocks writers. */
const EMPTIED_EVERY_MS = 1_000;

/** How long a change waits for the disk, in ms. A slow disk takes a second or two; a failed one may never respond. */
const FLUSHED_WITHIN_MS = 5_000;

/**
 * The write-ahead log of a database.
 *
 * SQLite would flush it within each commit, which blocks other writers and the event loop. So commits use `synchronous = NORMAL`, which
 * keeps the file intact but could lose the last commits in a power cut. A thread of Node.js then flushes the log, once for all waiting
 * calls. See https://www.sqlite.org/wal.html
 */
export class Log {
  readonly #database: SqliteDatabase;
  /** Null for a database in memory. */
  readonly #file: Pick<LogFile, "flush" | "close"> | null;
  /** Whether everything committed before it is on the disk. */
  #flushing = Promise.resolve(true);
  /** The flush after the current one. */
  #next: Promise<boolean> | null = null;
  /** False after a failed flush: parts of the log may never reach the disk, however often it is flushed. */
  #isSound = true;
  #needsEmptying = false;
  /** Runs for a second after each attempt to empty the log. */
  #pause: Partial<ReturnType<typeof setTimeout>> | null = null;

  /** `open`: opens the file at a path; for tests. */
  constructor(
    database: SqliteDatabase,
    open: (path: string) => Pick<LogFile, "flush" | "close"> = (path) => new LogFile(path),
  ) {
    this.#database = database;
    const file = fileOf(database);
    this.#file = file === null ? null : open(`${file}-wal`);
  }

  /**
   * Resolves when everything committed before is on the disk.
   *
   * @throws LatchkeyError `STORE_UNAVAILABLE`, outcome `unknown`, if the disk fails or does not respond in time.
   */
  async flush(): Promise<void> {
    this.#next ??= this.#flushing.then(() => {
      this.#next = null;
      this.#flushing = this.#flush();
      return this.#flushing;
    });
    const failed = () => unavailable("the database cannot be flushed to its disk", "unknown");
    if (!(await withTimeout(FLUSHED_WITHIN_MS, this.#next, failed))) throw failed();
  }

  /**
   * Copies the log into the file and empties it, since deleted data would stay in it for a while. If that was done less than a second
   * ago, or a reader is in the way, it is done when the second is over.
   */
  empty(): void {
    this.#needsEmptying = true;
    if (this.#pause !== null) return;
    this.emptyNow();
    this.#pause = setTimeout(() => {
      this.#pause = null;
      if (this.#needsEmptying) this.empty();
    }, EMPTIED_EVERY_MS);
    // A timer of jsdom is a number.
    this.#pause.unref?.();
  }

  /** @returns Whether the log is empty. Closing the database has emptied it, too. */
  emptyNow(): boolean {
    try {
      this.#needsEmptying = readPragma(this.#database, "wal_checkpoint(TRUNCATE)") !== 0;
    } catch {
      this.#needsEmptying = this.#database.open;
    }
    return !this.#needsEmptying;
  }

  /** Closes the file after the current flush. A later flush goes through the database itself. */
  close(): void {
    void this.#flushing.then(() => this.#file?.close());
  }

  async #flush(): Promise<boolean> {
    this.#isSound &&= this.#file === null || (await this.#file.flush());
    // SQLite flushes the file that it copies the log into.
    this.#isSound ||= this.emptyNow();
    return this.#isSound;
  }
}
