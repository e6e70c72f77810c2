import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { unavailable } from "@latchkey/core";

/** Most calls and most ms between two checks: a check costs a fifth of a charge. */
const [UNSEEN_CALLS, UNSEEN_MS] = [128, 250];

/** A path, and the file that it named when the database was opened. */
interface Watched {
  readonly path: string;
  /** Null if there was no file from the start, as in a folder that was moved. */
  readonly file: string | null;
}

/**
 * Notices when the path of an open database names another file, or none. SQLite would keep using the open file: other processes would not
 * see revocations, and the revocations would be lost with this process.
 *
 * The same goes for the log and its index: SQLite would keep using deleted ones, and a process that opens the database later creates new
 * ones. Each would take uses that the other does not see, and together they would damage the file.
 */
export class FileWatch {
  readonly #database: Watched;
  readonly #beside: readonly Watched[];
  #calls = 0;
  #lookedAt = 0;

  /**
   * @param path - Path that was opened; a relative one is resolved now.
   * @param file - The same file as SQLite resolved it, not a link. SQLite keeps the log beside it.
   */
  constructor(path: string, file: string | null) {
    this.#database = watched(path);
    this.#beside = file === null ? [] : [watched(`${file}-wal`), watched(`${file}-shm`)];
  }

  /**
   * `isDue`: false skips a check soon after the last one. @throws LatchkeyError `STORE_UNAVAILABLE` if a path no longer names the open
   * file.
   */
  look(isDue = true): void {
    this.#calls += 1;
    const isSoon = this.#calls < UNSEEN_CALLS && Date.now() - this.#lookedAt < UNSEEN_MS;
    if (isSoon && !isDue) return;
    const problem = this.#problem();
    this.#calls = problem === null ? 0 : UNSEEN_CALLS;
    this.#lookedAt = Date.now();
    if (problem !== null) throw unavailable(problem);
  }

  #problem(): string | null {
    if (isGone(this.#database))
      return "the database file was deleted, moved or replaced while it was open: put it back, or open the store again";
    const gone = this.#beside.find(isGone);
    return gone === undefined
      ? null
      : `the file ${basename(gone.path)}, a part of the database, was deleted or replaced while it was open: close the store in every process, and open it again`;
  }
}

function watched(path: string): Watched {
  const absolute = resolve(path);
  return { path: absolute, file: identityOf(absolute) };
}

function isGone({ path, file }: Watched): boolean {
  return file !== null && identityOf(path) !== file;
}

/** Device and inode of the file at a path; null if there is none. */
export function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
