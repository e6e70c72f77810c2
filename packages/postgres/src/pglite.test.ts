import { PGlite } from "@electric-sql/pglite";
import { afterAll } from "vitest";
import { describeContract } from "./testing/contract.js";

const pglite = new PGlite();
afterAll(() => pglite.close());

describeContract(
  "PGlite",
  () => [pglite, pglite],
  (sql, values = []) => pglite.query(sql, [...values]),
  // The statements are those of the server, which runs all sequences three times as fast.
  { shareOfSequences: 0.2 },
);
