import Database from "better-sqlite3";
import { afterAll, expect, test } from "vitest";
import { AD_HOC_SQL } from "./ad-hoc-windows.js";
import { API_SQL } from "./apis.js";
import { CHANGE_SQL } from "./change-log.js";
import { CHARGE_SQL } from "./charge-row.js";
import { COUNTERS_SQL } from "./counters.js";
import { IDENTITY_SQL } from "./identities.js";
import { sqliteStore } from "./index.js";
import { KEY_DELETION_SQL } from "./key-deletion.js";
import { KEY_SQL } from "./key-queries.js";
import { KEY_ROW_SQL } from "./key-rows.js";
import { NAMESPACE_SQL } from "./namespace-windows.js";
import { PERMISSION_SQL } from "./permissions.js";
import { REQUEST_SQL } from "./request-memory.js";
import { ROLE_SQL } from "./roles.js";
import { ROOT_KEY_SQL } from "./root-keys.js";
import { VERIFICATION_SQL } from "./verification-counters.js";

const database = new Database(":memory:");
sqliteStore(database);
afterAll(() => database.close());

const queries = Object.entries({
  "ad hoc": AD_HOC_SQL,
  api: API_SQL,
  change: CHANGE_SQL,
  charge: CHARGE_SQL,
  counters: COUNTERS_SQL,
  identity: IDENTITY_SQL,
  key: KEY_SQL,
  "key deletion": KEY_DELETION_SQL,
  "key row": KEY_ROW_SQL,
  namespace: NAMESPACE_SQL,
  permission: PERMISSION_SQL,
  request: REQUEST_SQL,
  role: ROLE_SQL,
  "root key": ROOT_KEY_SQL,
  verification: VERIFICATION_SQL,
}).flatMap(([of, sql]) =>
  Object.entries(sql).map(([name, text]): [string, string] => [`${of} ${name}`, text]),
);

test.each(queries)("%s finds its rows through an index and sorts nothing", (_name, sql) => {
  const parameters = Array.from(sql.matchAll(/\?/g), () => 1);
  const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...parameters) as {
    detail: string;
  }[];
  const costly = plan.filter(({ detail }) => /^SCAN|TEMP B-TREE|AUTOMATIC/.test(detail));
  expect(costly).toEqual([]);
});
