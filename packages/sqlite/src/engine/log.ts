import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import type { SqliteDatabase } from "./database.js";
import { unavailable } from "./errors.js";

/** At most so often the log is emptied: it flushes two files, and no other connection can write meanwhile. */
const EMPTIED_EVERY_MS = 1_000;

const flushFile = promisify(fdatasync);

/**
 * The write-ahead log of a database.
 *
 * SQLite would flush it before a commit ends, while nobody else can write and the event loop stands still. So commits are made
 * with `synchronous = NORMAL`, which keeps the file whole but leaves the last commits to a power cut, and the log is flushed
 * after them on a thread of Node.js: once for all that wait. See https://www.sqlite.org/wal.html
 */
export class Log {
  readonly #database: SqliteDatabase;
  /** Null for a database in memory. */
  readonly #path: string | null;
  /** Settles with the flush that is under way; it never rejects. */
  #flushing: Promise<void> = Promise.resolve();
  /** The flush after that one. */
  #next: Promise<void> | null = null;
  /** Whether all of it can reach the disk. After a flush that failed, parts of it may never do, however often it is flushed. */
  #isSound = true;
  #isToBeEmptied = false;
  /** Runs while the log was emptied a moment ago. */
  #pause: ReturnType<typeof setTimeout> | null = null;

  constructor(database: SqliteDatabase) {
    this.#database = database;
    // As SQLite found it: the log is beside the file, and not beside a link to it.
    const [main] = database.pragma("database_list") as readonly { readonly file: string }[];
    this.#path = main?.file ? `${main.file}-wal` : null;
  }

  /** Resolves when all that was committed until now is on the disk. @throws LatchkeyError `STORE_UNAVAILABLE` with outcome `unknown`. */
  flush(): Promise<void> {
    const path = this.#path;
    if (path === null) return this.#flushing;
    this.#next ??= this.#flushing.then(() => {
      this.#next = null;
      const flushed = this.#flush(path);
      this.#flushing = flushed.catch(() => {});
      return flushed;
    });
    return this.#next;
  }

  /**
   * Copies the log into the file and empties it: what was deleted would stay in it for a while. Where that was done less than a
   * second ago, or a reader is in the way, it is done when the second is over.
   */
  empty(): void {
    this.#isToBeEmptied = true;
    if (this.#path === null || this.#pause !== null) return;
    this.emptyNow();
    this.#pause = setTimeout(() => {
      this.#pause = null;
      if (this.#isToBeEmptied) this.empty();
    }, EMPTIED_EVERY_MS).unref();
  }

  /** @returns Whether it is empty now, or nobody's any more. */
  emptyNow(): boolean {
    this.#isToBeEmptied = this.#database.open && !this.#truncate();
    return !this.#isToBeEmptied;
  }

  #truncate(): boolean {
    try {
      const [answer] = this.#database.pragma("wal_checkpoint(TRUNCATE)") as readonly {
        readonly busy: number;
      }[];
      return answer?.busy === 0;
    } catch {
      // Inside of a transaction, or on a disk that fails.
      return false;
    }
  }

  async #flush(path: string): Promise<void> {
    this.#isSound &&= await isFlushed(path);
    // SQLite flushes the file that it copies the log into.
    this.#isSound ||= this.emptyNow();
    if (!this.#isSound) throw unavailable("the database cannot be flushed to its disk", "unknown");
  }
}

async function isFlushed(path: string): Promise<boolean> {
  try {
    const file = openSync(path, "r+");
    await flushFile(file).finally(() => closeSync(file));
    return true;
  } catch {
    return false;
  }
}
