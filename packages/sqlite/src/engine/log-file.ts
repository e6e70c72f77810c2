import { closeSync, fdatasync, fstatSync, openSync } from "node:fs";
import { identityOf } from "./file-watch.js";

/**
 * The file of a log, open as long as the database is. Linux tells an error of writing back once to each descriptor that was open then,
 * and to none that is opened later: one that is opened for each flush would answer that all is well.
 *
 * To close a descriptor takes away all locks that this process has on its file. SQLite holds its own on the database and on the index
 * of the log (`-shm`), and none on the log: https://www.sqlite.org/howtocorrupt.html
 */
export class LogFile {
  readonly #path: string;
  #open: { readonly descriptor: number; readonly identity: string } | null = null;

  constructor(path: string) {
    this.#path = path;
    this.#reopen();
  }

  /** Whether all that was written before is on the disk. Of a file that came in the place of the open one nobody knows. */
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
      // There is none yet, or no more.
    }
  }
}
