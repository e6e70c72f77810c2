import { statSync } from "node:fs";
import { resolve } from "node:path";
import { unavailable } from "@latchkey/core";

/** How many calls and how many ms may pass between two looks: a look costs a fifth of a charge. */
const [UNSEEN_CALLS, UNSEEN_MS] = [128, 250];

/**
 * Notices that the path of an open database now names another file, or none. SQLite would continue with the open file: revocations would be
 * invisible to other processes, and lost with this one.
 */
export class FileWatch {
  readonly #path: string;
  /** Null if there was no file in the first place, as in a folder that was moved. */
  readonly #file: string | null;
  #calls = 0;
  #lookedAt = 0;

  /** @param path - Of the file that is opened; a relative one as of now. */
  constructor(path: string) {
    this.#path = resolve(path);
    this.#file = identityOf(this.#path);
  }

  /** @param isDue - Otherwise, not if it did a moment ago. @throws LatchkeyError `STORE_UNAVAILABLE` where the path does not name the open file. */
  look(isDue = true): void {
    this.#calls += 1;
    const isSoon = this.#calls < UNSEEN_CALLS && Date.now() - this.#lookedAt < UNSEEN_MS;
    if (isSoon && !isDue) return;
    const isGone = this.#file !== null && identityOf(this.#path) !== this.#file;
    this.#calls = isGone ? UNSEEN_CALLS : 0;
    this.#lookedAt = Date.now();
    if (isGone)
      throw unavailable(
        "the database file was deleted, moved or replaced while it was open: put it back, or open the store again",
      );
  }
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
