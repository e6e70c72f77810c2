import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { AD_HOC_SQL } from "./ad-hoc-windows.js";
import { CHARGE_SQL } from "./charge.js";
import { IDENTITY_SQL } from "./identities.js";
import { sqliteStore } from "./index.js";
import { KEY_SQL } from "./key-queries.js";
import { KEY_WRITE_SQL } from "./keys.js";
import { REQUEST_SQL } from "./request-memory.js";

const database = new Database(":memory:");
sqliteStore(database);
afterAll(() => database.close());

const queries = Object.entries({
  ...KEY_SQL,
  ...KEY_WRITE_SQL,
  ...Object.fromEntries(
    Object.entries({ charge: CHARGE_SQL, identity: IDENTITY_SQL, window: AD_HOC_SQL }).flatMap(
      ([of, sql]) => Object.entries(sql).map(([name, text]) => [`${of} ${name}`, text]),
    ),
  ),
  "request find": REQUEST_SQL.find,
  "request ended": REQUEST_SQL.ended,
});

test.each(queries)("%s finds its rows through an index and sorts nothing", (_name, sql) => {
  const parameters = Array.from(sql.matchAll(/\?/g), () => 1);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as {
    detail: string;
  }[];
  const costly = plan.filter(({ detail }) => /^SCAN|TEMP B-TREE|AUTOMATIC/.test(detail));
  expect(costly).toEqual([]);
});
