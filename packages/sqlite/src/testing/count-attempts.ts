import type Database from "better-sqlite3";

/** Counts how often the write lock is asked for on a connection: each time may freeze the event loop for the busy timeout. */
export function countAttempts(database: Database.Database): () => number {
  let attempts = 0;
  const prepare = database.prepare.bind(database);
  database.prepare = ((sql: string) => {
    const statement = prepare(sql);
    if (sql !== "BEGIN IMMEDIATE") return statement;
    const run = statement.run.bind(statement);
    return Object.assign(statement, {
      run: () => {
        attempts += 1;
        return run();
      },
    });
  }) as typeof database.prepare;
  return () => attempts;
}
