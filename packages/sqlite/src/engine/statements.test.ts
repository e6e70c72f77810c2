import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { SQL } from "./statements.js";

const database = new Database(":memory:");
sqliteStore(database);
afterAll(() => database.close());

test.each(Object.entries(SQL))(
  "%s finds its rows through an index and sorts nothing but ids that begin alike",
  (name, sql) => {
    const parameters = Array.from(sql.matchAll(/\?/g), () => 1);
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as {
      detail: string;
    }[];
    const costly = /^SCAN (?!.* VIRTUAL TABLE)|TEMP B-TREE(?! FOR LAST TERM OF ORDER BY)|AUTOMATIC/;
    // All three columns of it: with two, every record of the kind would be walked.
    const byKindAlone = /latchkey_record_id(?! \(workspace=\? AND kind=\? AND <expr>[<=>]\?\))/;
    // Forgetting a workspace means every record of it.
    const isOfAll = name === "forgetRecords" || name === "forgetOwn";
    const details = plan.map(({ detail }) => detail);
    const isCostly = (detail: string) =>
      costly.test(detail) || (!isOfAll && byKindAlone.test(detail));
    expect(details.filter(isCostly)).toEqual([]);
  },
);
