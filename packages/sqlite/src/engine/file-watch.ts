import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { unavailable } from "@latchkey/core";

/** How many calls and how many ms may pass between two looks: a look costs a fifth of a charge. */
const [UNSEEN_CALLS, UNSEEN_MS] = [128, 250];

/** A path, and which file it named when the database was opened. */
interface Watched {
  readonly path: string;
  /** Null if there was no file in the first place, as in a folder that was moved. */
  readonly file: string | null;
}

/**
 * Notices that the path of an open database now names another file, or none. SQLite would continue with the open file: revocations would be
 * invisible to other processes, and lost with this one.
 *
 * The same goes for the log and its index: SQLite would continue with those that were deleted, and a process that opens the database later
 * makes new ones. Each would take uses that the other does not see, and both together would damage the file.
 */
export class FileWatch {
  readonly #database: Watched;
  readonly #beside: readonly Watched[];
  #calls = 0;
  #lookedAt = 0;

  /**
   * @param path - Of the file that is opened; a relative one as of now.
   * @param file - The same file as SQLite found it, which it keeps the log beside: not a link.
   */
  constructor(path: string, file: string | null) {
    this.#database = watched(path);
    this.#beside = file === null ? [] : [watched(`${file}-wal`), watched(`${file}-shm`)];
  }

  /** `isDue`: otherwise, not if it did a moment ago. @throws LatchkeyError `STORE_UNAVAILABLE` where the path does not name the open file. */
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

/** Which file a path names; null for none. */
export function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return null;
  }
}
