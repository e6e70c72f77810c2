import { WORKSPACE } from "@latchkey/conformance";
import type { KeyStore } from "@latchkey/core";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createStatements } from "./engine/statements.js";
import { postgresStore } from "./index.js";
import { PATIENT, startServer, type TestServer } from "./testing/postgres-server.js";
import { describeWithServers } from "./testing/where.js";

/** Rows of each table: enough for plans that read all of them. */
const ROWS = 20_000;

const SQL = createStatements("latchkey");

/** A node of a plan that was run. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

describeWithServers("statements over many rows", () => {
  let server: TestServer;
  let pool: pg.Pool;
  let store: KeyStore;
  beforeAll(async () => {
    server = await startServer({ fsync: "off", autovacuum: "off" });
    pool = new pg.Pool({ connectionString: server.url, max: 2 });
    store = postgresStore(pool, PATIENT);
    const id = "api_1";
    await store.commit(WORKSPACE, {
      ...{ expects: [], releases: [], claims: [], counters: [], deletes: [], leaves: [] },
      ...{ dropWindows: [], revision: null, enters: [{ list: "api", id }] },
      puts: [{ record: { kind: "api", id, version: 1, link: null, body: {} } }],
    });
    await pool.query(`
      INSERT INTO latchkey.record (workspace, kind, id, version, body)
        SELECT w.seq, 4, 'id_' || n, 1, '{}' FROM latchkey.workspace w, generate_series(1, ${ROWS}) n;
      INSERT INTO latchkey.claim (workspace, kind, index, value, id)
        SELECT w.seq, 4, 'externalId', decode(lpad(to_hex(n), 8, '0'), 'hex'), 'id_' || n
        FROM latchkey.workspace w, generate_series(1, ${ROWS}) n;
      INSERT INTO latchkey.entry (list, owner, id)
        SELECT l.seq, '', 'id_' || n FROM latchkey.list l, generate_series(1, ${ROWS}) n;
      INSERT INTO latchkey.passing (until, workspace, name, value)
        SELECT 1, w.seq, 'w' || n, '' FROM latchkey.workspace w, generate_series(1, ${ROWS}) n;
      INSERT INTO latchkey.statistic (workspace, kind, subject, hour_at, code, count)
        SELECT w.seq, 3, decode('01' || lpad(to_hex(n / 4), 8, '0'), 'hex'), (n % 4) * 3600000, 'VALID', 1
        FROM latchkey.workspace w, generate_series(1, ${ROWS}) n;
      ANALYZE`);
  });
  afterAll(async () => {
    await pool.end();
    await server.remove();
  });

  /** Runs a statement without effect. @returns The parts of its plan. */
  async function planOf(sql: string, values: readonly string[]): Promise<readonly PlanNode[]> {
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`, [...values]);
      const [{ Plan: plan }] = rows[0]["QUERY PLAN"] as readonly [{ readonly Plan: PlanNode }];
      return [...nodesOf(plan)];
    } finally {
      await client.query("ROLLBACK");
      client.release();
    }
  }

  const subjects = (count: number) =>
    JSON.stringify(
      Array.from({ length: count }, (_, at) => {
        return { kind: 3, subject: `01${at.toString(16).padStart(8, "0")}` };
      }),
    );

  test.each([
    ["forgetting a workspace", SQL.forgetSome, [WORKSPACE, "50"]],
    ["pruning statistics", SQL.deleteSums, [WORKSPACE, "86400000", "50"]],
    [
      "deleting the statistics of subjects",
      SQL.deleteSumsOf,
      [WORKSPACE, "86400000", "50", subjects(200)],
    ],
    ["a page of statistics", SQL.daySums, [WORKSPACE, "0", "3", "01", "50"]],
    ["the next day with statistics", SQL.nextDay, [WORKSPACE, "0"]],
    ["a page of windows", SQL.windows, [WORKSPACE, ""]],
    ["a page of a list", SQL.ascending, [WORKSPACE, "api", "4", "", "", "50"]],
  ])("%s reads or sorts not many more rows than it returns or deletes", async (_, sql, values) => {
    const read = (await planOf(sql, values)).map((node) => {
      return (node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0)) * node["Actual Loops"];
    });
    expect(Math.max(...read)).toBeLessThan(2_000);
  });

  test("forgetting a workspace walks along indexes: no step reads the places of rows that earlier ones deleted", async () => {
    const large = ["record", "claim", "entry", "passing", "statistic"];
    const plan = await planOf(SQL.forgetSome, [WORKSPACE, "50"]);
    const scans = plan.filter(({ "Relation Name": table }) => large.includes(table ?? ""));
    const types = scans.map((node) => node["Node Type"]).filter((type) => /Scan/.test(type));
    expect(types.filter((type) => !/^(Index|Tid)/.test(type))).toEqual([]);
    expect(types.filter((type) => type.startsWith("Index"))).toHaveLength(large.length);
  });
});

function* nodesOf(node: PlanNode): Generator<PlanNode> {
  yield node;
  for (const each of node.Plans ?? []) yield* nodesOf(each);
}
