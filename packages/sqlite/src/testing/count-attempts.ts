import type Database from "better-sqlite3";

/** Counts how often a connection asks for the write lock: each time may freeze the event loop for the busy timeout. */
export function countAttempts(database: Database.Database): () => number {
  let attempts = 0;
  const transaction = database.transaction.bind(database);
  database.transaction = ((work: (...given: unknown[]) => unknown) => {
    const run = transaction(work);
    const immediate = (...given: unknown[]) => {
      attempts += 1;
      return run.immediate(...given);
    };
    return Object.assign((...given: unknown[]) => run(...given), { immediate });
  }) as typeof database.transaction;
  return () => attempts;
}
