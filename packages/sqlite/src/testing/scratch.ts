import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";

/**
 * In memory if the host has such a file system: the tests wait for thousands of commits, and are not about what a disk keeps when the
 * power fails.
 */
const PARENT = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** A directory for the files of one test file. Remove it after the last test. */
export interface Scratch {
  /** Path of a file that does not exist yet. */
  readonly newPath: () => string;
  readonly remove: () => void;
}

export function openScratch(): Scratch {
  const directory = mkdtempSync(join(PARENT, "latchkey-sqlite-"));
  let count = 0;
  return {
    newPath: () => {
      count += 1;
      return join(directory, `${count}.db`);
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** Runs work on a connection of its own, without latchkey's settings. */
export function withDatabase<Result>(
  path: string,
  work: (database: Database.Database) => Result,
): Result {
  const database = new Database(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

/** Puts the content of one file into another, which may be open. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const source = new Database(from);
  await source.backup(to);
  source.close();
}
