import { describeDeadlines } from "@latchkey/conformance";
import Database from "better-sqlite3";
import { sqliteStore } from "./index.js";
import { openScratch } from "./testing/scratch.js";

/** Another connection that keeps the write lock. Reads do not wait for it. */
describeDeadlines(
  "a SQLite file that another connection writes to",
  async () => {
    const scratch = openScratch();
    const path = scratch.newPath();
    await sqliteStore(path).close();
    const other = new Database(path);
    return {
      open: () => sqliteStore(path, { deadlineMs: 200 }),
      stall: () => other.inTransaction || other.exec("BEGIN IMMEDIATE"),
      heal: () => other.inTransaction && other.exec("ROLLBACK"),
      remove: async () => {
        other.close();
        scratch.remove();
      },
    };
  },
  { stalled: { write: "not-applied", read: null }, opensSilent: false },
);
