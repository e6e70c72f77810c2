import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { sqliteStore } from "../index.js";
import { SQL } from "./statements.js";

const database = new Database(":memory:");
sqliteStore(database);
afterAll(() => database.close());

test.each(Object.entries(SQL))(
  "%s finds its rows through an index and sorts nothing",
  (_name, sql) => {
    const parameters = Array.from(sql.matchAll(/\?/g), () => 1);
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as {
      detail: string;
    }[];
    const costly = plan.filter(({ detail }) => /^SCAN|TEMP B-TREE|AUTOMATIC/.test(detail));
    expect(costly).toEqual([]);
  },
);
