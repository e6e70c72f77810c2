import { closeSync, fdatasync, fstatSync, openSync } from "node:fs";
import { identityOf } from "./file-watch.js";

/**
 * The file of a write-ahead log, open as long as the database. Linux reports a writeback error once to each descriptor that was open at
 * that time, and to none opened later: a descriptor opened for each flush would miss it.
 *
 * Closing a descriptor drops all locks that this process has on that file. SQLite holds its locks on the database and on the index of the
 * log (`-shm`), and none on the log: https://www.sqlite.org/howtocorrupt.html
 */
export class LogFile {
  readonly #path: string;
  #open: { readonly descriptor: number; readonly identity: string } | null = null;

  constructor(path: string) {
    this.#path = path;
    this.#reopen();
  }

  /** Whether everything written before is on the disk. False for a file that has replaced the open one, since its state is unknown. */
  async flush(): Promise<boolean> {
    const open = this.#open;
    if (open === null || identityOf(this.#path) !== open.identity) {
      this.#reopen();
      return false;
    }
    return new Promise((resolve) => {
      fdatasync(open.descriptor, (error) => resolve(error === null));
    });
  }

  close(): void {
    if (this.#open !== null) closeSync(this.#open.descriptor);
    this.#open = null;
  }

  #reopen(): void {
    this.close();
    try {
      const descriptor = openSync(this.#path, "r+");
      const { dev, ino } = fstatSync(descriptor, { bigint: true });
      this.#open = { descriptor, identity: `${dev}:${ino}` };
    } catch {
      // There is no log yet, or no longer.
    }
  }
}
