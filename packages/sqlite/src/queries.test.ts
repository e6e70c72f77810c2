import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { CHARGE_SQL } from "./charge.js";
import { COMMIT_SQL } from "./commit.js";
import { COUNTERS_SQL } from "./counters.js";
import { NAME_SQL } from "./engine/names.js";
import { sqliteStore } from "./index.js";
import { PAGE_SQL } from "./page.js";
import { PASSING_SQL } from "./passing.js";
import { READ_SQL } from "./read.js";
import { STATISTICS_SQL } from "./statistics.js";

const database = new Database(":memory:");
sqliteStore(database);
afterAll(() => database.close());

const statements = Object.entries({
  charge: CHARGE_SQL,
  commit: COMMIT_SQL,
  counters: COUNTERS_SQL,
  names: NAME_SQL,
  page: PAGE_SQL,
  passing: PASSING_SQL,
  read: READ_SQL,
  statistics: STATISTICS_SQL,
}).flatMap(([of, sql]) =>
  Object.entries(sql).map(([name, text]): [string, string] => [`${of} ${name}`, text]),
);

test.each(statements)("%s finds its rows through an index and sorts nothing", (_name, sql) => {
  const parameters = Array.from(sql.matchAll(/\?/g), () => 1);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as {
    detail: string;
  }[];
  const costly = plan.filter(({ detail }) => /^SCAN|TEMP B-TREE|AUTOMATIC/.test(detail));
  expect(costly).toEqual([]);
});
