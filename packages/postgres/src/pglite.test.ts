import { PGlite } from "@electric-sql/pglite";
import { afterAll } from "vitest";
import { describeContract, type RunSql } from "./testing/contract.js";
import { describeViews } from "./testing/views.js";

const pglite = new PGlite();
afterAll(() => pglite.close());

const run: RunSql = (sql, values = []) => pglite.query(sql, [...values]);

/**
 * The statements are those of the server, which is held to the whole contract. Of PGlite the tests are those of what goes through it in
 * either direction, of its transactions and of its end; with `LATCHKEY_TEST_STORES=all` all of them.
 */
const SECTIONS = [
  "read",
  "page",
  "commit: records",
  "commit: all or nothing",
  "charge: uses and refills",
  "charge: limits",
  "holds: taken",
  "statistics",
  "scan",
  "names and numbers",
  "the model",
  "close",
  "damaged records",
];

describeContract("PGlite", () => [pglite, pglite], run, {
  shareOfSequences: 0.2,
  ...(process.env.LATCHKEY_TEST_STORES !== "all" && { sections: SECTIONS }),
});

describeViews("PGlite", () => pglite, run);
