import { PGlite } from "@electric-sql/pglite";
import { afterAll } from "vitest";
import { describeContract, type RunSql } from "./testing/contract.js";
import { describeViews } from "./testing/views.js";

const pglite = new PGlite();
afterAll(() => pglite.close());

const run: RunSql = (sql, values = []) => pglite.query(sql, [...values]);

describeContract(
  "PGlite",
  () => [pglite, pglite],
  run,
  // The statements are those of the server.
  { shareOfSequences: 0.1 },
);

describeViews("PGlite", () => pglite, run);
