import { KIND_CODE, SCAN_PAGE } from "@latchkey/core";
import { inSchema } from "./migrations/index.js";
import { type PlainShape, plainChargeSql } from "./plain-charge-sql.js";
import { PLAIN_END } from "./plain-end-sql.js";

/** A record and its counters, in the form that `stored-record.ts` reads. */
const loaded = (record: string, counters: string) =>
  `${record}.id, ${record}.version::text, ${record}.link, ${record}.body, ${record}.used_at::text, ${record}.counters::text,
  ${counters}.remaining::text, ${counters}.refilled_at::text, ${counters}.last_refill_at::text, ${counters}.holds`;

/** The columns that are read with a record `r`: the identity `l` that it links to, and the counters of both. */
const COLUMNS = `${loaded("r", "c")}, ${loaded("l", "d")}`;
/** One row by its key. OFFSET keeps the planner from joining whole tables, which would be best for the average workspace. */
const one = (table: string, alias: string, condition: string) =>
  `LEFT JOIN LATERAL (SELECT * FROM latchkey.${table} WHERE ${condition} OFFSET 0) ${alias} ON true`;

const BESIDE = `${one("counters", "c", "seq = r.counters")}
  ${one("record", "l", `workspace = r.workspace AND kind = ${KIND_CODE.identity} AND id = r.link`)}
  ${one("counters", "d", "seq = l.counters")}`;

const pageIn = (beyond: ">" | "<", order: "ASC" | "DESC") =>
  `SELECT w.revision::text, s.size::text, ${COLUMNS}
  FROM latchkey.workspace w
  ${one("list", "s", "workspace = w.seq AND name = $2")}
  LEFT JOIN LATERAL (
    SELECT r.* FROM latchkey.entry e
    ${one("record", "r", "workspace = w.seq AND kind = $3::text::smallint AND id = e.id")}
    WHERE e.list = s.seq AND e.owner = pg_catalog.decode($4::text, 'hex') AND e.id ${beyond} $5 AND r.id IS NOT NULL
    ORDER BY e.id ${order} LIMIT $6::text::integer
  ) r ON true
  ${BESIDE} WHERE w.id = $1 ORDER BY r.id ${order}`;

/** Entries of the audit log by version, those from before there were numbers first. */
const ofLog = (condition: string, order: string) =>
  `(SELECT r.* FROM latchkey.record r WHERE r.workspace = w.seq AND r.kind = ${KIND_CODE.auditEntry} AND ${condition}
    ORDER BY ${order} LIMIT $5::text::integer)`;
const LOG_PAGE = `SELECT w.revision::text, s.size::text, ${COLUMNS}, s.last::text
  FROM latchkey.workspace w
  ${one("list", "s", "workspace = w.seq AND name = $2")}
  LEFT JOIN LATERAL (
    SELECT * FROM (
      ${ofLog("r.version = 1 AND $3::text::bigint <= 1 AND r.id >= $4", "r.id")}
      UNION ALL ${ofLog("r.version > 1 AND r.version >= $3::text::bigint", "r.version")}
    ) r ORDER BY r.version, r.id LIMIT $5::text::integer
  ) r ON true
  ${BESIDE} WHERE w.id = $1 ORDER BY r.version, r.id`;

/** Whether a table has a row of the workspace `w`. */
const isThere = (table: string) =>
  `EXISTS (SELECT FROM latchkey.${table} r WHERE r.workspace = w.seq)`;

/** The workspace `$1`. It is not joined, so that an index gives its rows in their order: a join would read and sort all of them. */
const WORKSPACE = "(SELECT w.seq FROM latchkey.workspace w WHERE w.id = $1)";

/** Deletes some rows of the workspace `w`. In the order of their index, `key`: otherwise each step reads what earlier ones deleted. */
const someOf = (table: string, key: string, condition = "true") => `DELETE FROM latchkey.${table}
  WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM latchkey.${table} r
    WHERE r.workspace = (SELECT seq FROM w) AND ${condition} ORDER BY ${key} LIMIT $2::text::integer))`;

/**
 * Runs a function whose answers are texts separated by a byte 1, and adds to sums in the same statement. Locks of sums come last, in one
 * order. The limits are higher than the real numbers: without them the planner expects a million rows, and compiles the statement anew
 * each time.
 *
 * @param counts - A list, in the order of the answers `o.answer`: null, or workspace, hour, and subjects as kind and hexadecimal text.
 * @param codes - The additions to the sums of those subjects, by code; null for nothing.
 */
const counted = (call: string, counts: string, codes: string) =>
  `WITH a AS MATERIALIZED (SELECT ${call} AS text), sums AS MATERIALIZED (
    SELECT o.item ->> 'workspace' AS workspace, (s.item ->> 0)::smallint AS kind, s.item ->> 1 AS subject,
      (o.item ->> 'hourAt')::bigint AS hour, c.code, pg_catalog.sum(c.added::bigint) AS added
    FROM (SELECT q.item, pg_catalog.split_part(a.text, E'\\x01', q.place::integer) AS answer
      FROM a CROSS JOIN pg_catalog.jsonb_array_elements(${counts}::text::jsonb) WITH ORDINALITY q (item, place) LIMIT 64) o
    CROSS JOIN LATERAL (SELECT * FROM pg_catalog.jsonb_each_text(${codes}) LIMIT 8) c (code, added)
    CROSS JOIN LATERAL (SELECT * FROM pg_catalog.jsonb_array_elements(o.item -> 'subjects') LIMIT 64) s (item) GROUP BY 1, 2, 3, 4, 5
  ) SELECT a.text, (SELECT pg_catalog.count(latchkey.add_statistics(g.workspace, pg_catalog.jsonb_build_object('counts', g.counts))::text)
    FROM (SELECT e.workspace, pg_catalog.jsonb_agg(pg_catalog.jsonb_build_object('kind', e.kind, 'subject', e.subject, 'hourAt', e.hour,
      'code', e.code, 'count', e.added)) AS counts FROM sums e GROUP BY 1 ORDER BY 1) g)::text FROM a`;

/** The additions for the result of a charge, as in `ChargeCounts`, and for a shadow limit without room. */
const CHARGED = `CASE WHEN pg_catalog.starts_with(o.answer, 'repeat charged ') THEN o.item -> 'repeat'
    WHEN pg_catalog.starts_with(o.answer, 'repeat ') THEN o.item -> pg_catalog.split_part(o.answer, ' ', 2)
    ELSE (o.item -> pg_catalog.split_part(o.answer, ' ', 1))
      || CASE WHEN pg_catalog.strpos(o.answer, '!') > 0 THEN '{"SHADOW_LIMITED": 1}'::jsonb ELSE '{}'::jsonb END END`;

/** The uses charged by an end. */
const ENDED = `CASE WHEN pg_catalog.starts_with(o.answer, 'ended ') AND pg_catalog.split_part(o.answer, ' ', 4) <> '0'
  THEN pg_catalog.jsonb_build_object('EXTRA_USES', pg_catalog.split_part(o.answer, ' ', 4)::bigint) END`;

const CHARGE = "latchkey.charge($1::text::latchkey.plan[], $2::text::boolean)";
const SETTLE = "latchkey.settle($1::text, $2::text::latchkey.hold_step[], $3::text::boolean)";
/** Waits for its locks, which the charge takes as well. */
const END = "latchkey.settle($3::text, $4::text::latchkey.hold_step[], true)";

/**
 * Every statement that a store runs while it serves. All parameters and all columns are text. Names and operators are those of
 * PostgreSQL, whatever another role creates in `public`: see `plain-charge-sql.ts`.
 */
const SQL = {
  /** Each want is kind and id; or kind, null, index and value of a claim. */
  read: `SELECT w.revision::text, q.place::text, ${COLUMNS}
    FROM latchkey.workspace w
    LEFT JOIN pg_catalog.jsonb_array_elements($2::text::jsonb) WITH ORDINALITY q (want, place) ON true
    ${one("claim", "k", "workspace = w.seq AND kind = (q.want ->> 0)::smallint AND index = q.want ->> 2 AND value = pg_catalog.decode(q.want ->> 3, 'hex')")}
    ${one("record", "r", "workspace = w.seq AND kind = (q.want ->> 0)::smallint AND id = coalesce(q.want ->> 1, k.id)")}
    ${BESIDE} WHERE w.id = $1`,
  ascending: pageIn(">", "ASC"),
  descending: pageIn("<", "DESC"),
  log: LOG_PAGE,
  commit: "SELECT latchkey.commit($1::text, $2::text::jsonb)::text",
  charge: `SELECT ${CHARGE}`,
  /** A hold ends first, in the same step. */
  chargeEnding: `SELECT CASE ${END} WHEN 'busy' THEN 'busy' ELSE ${CHARGE} END`,
  chargeCounted: counted(CHARGE, "$3", CHARGED),
  settle: `SELECT ${SETTLE}`,
  settleCounted: counted(SETTLE, "$4", ENDED),
  plainEnd: PLAIN_END,
  restore:
    "SELECT latchkey.restore($1::text, $2::text::bigint, $3::text::smallint, $4::text, $5::text, $6::text::jsonb)",
  /** Holds beside the counters of a record, with an id above the given one. */
  holds: `SELECT h.id, h.value FROM latchkey.workspace w
    JOIN latchkey.record r ON r.workspace = w.seq AND r.kind = $2::text::smallint AND r.id = $3
    CROSS JOIN LATERAL (
      SELECT f.id, f.value FROM latchkey.hold f WHERE f.first = r.counters AND f.id > $4
      UNION ALL SELECT s.id, s.value FROM latchkey.hold s WHERE s.second = r.counters AND s.id > $4
    ) h WHERE w.id = $1 ORDER BY h.id LIMIT $5::text::integer`,
  addStatistics: "SELECT latchkey.add_statistics($1::text, $2::text::jsonb)::text",
  sums: `SELECT s.hour_at::text, s.code, s.count::text
    FROM latchkey.statistic s JOIN latchkey.workspace w ON w.seq = s.workspace
    WHERE w.id = $1 AND s.kind = $2::text::smallint AND s.subject = pg_catalog.decode($3::text, 'hex')
      AND s.hour_at >= $4::text::bigint AND s.hour_at < $5::text::bigint ORDER BY s.hour_at`,
  daySums: `SELECT pg_catalog.encode(s.subject, 'hex'), s.hour_at::text, s.code, s.count::text
    FROM latchkey.statistic s
    WHERE s.workspace = ${WORKSPACE} AND s.hour_at / 86400000 = $2::text::bigint / 86400000 AND s.kind = $3::text::smallint
      AND s.subject >= pg_catalog.decode($4::text, 'hex') ORDER BY s.subject LIMIT $5::text::integer`,
  nextDay: `SELECT (s.hour_at / 86400000 * 86400000)::text FROM latchkey.statistic s
    WHERE s.workspace = ${WORKSPACE}
      AND s.hour_at / 86400000 >= $2::text::bigint / 86400000
    ORDER BY s.hour_at / 86400000 LIMIT 1`,
  deleteSums: deletingSums("latchkey.statistic s", "ORDER BY s.hour_at / 86400000"),
  deleteSumsOf: deletingSums(
    `pg_catalog.jsonb_to_recordset($4::text::jsonb) AS o(kind smallint, subject text)
      JOIN latchkey.statistic s ON o.kind = s.kind AND pg_catalog.decode(o.subject, 'hex') = s.subject`,
    "",
  ),
  /** Some rows of a workspace, except its own records, its lists and its row. */
  forgetSome: `WITH w AS MATERIALIZED (SELECT seq FROM latchkey.workspace WHERE id = $1),
    records AS (${someOf("record", "r.kind, r.id", `r.kind > ${KIND_CODE.workspace}`)} RETURNING counters),
    counters AS (DELETE FROM latchkey.counters WHERE seq = ANY (ARRAY(SELECT r.counters FROM records r))),
    claims AS (${someOf("claim", "r.kind, r.index, r.value")} RETURNING 1),
    holds AS (${someOf("hold", "r.id")} RETURNING 1),
    passing AS (${someOf("passing", "r.name")} RETURNING 1),
    sums AS (${someOf("statistic", "r.kind, r.subject, r.hour_at, r.code")} RETURNING 1),
    entries AS (DELETE FROM latchkey.entry WHERE ctid = ANY (ARRAY(SELECT e.ctid FROM latchkey.list l
      CROSS JOIN LATERAL (SELECT x.ctid FROM latchkey.entry x WHERE x.list = l.seq ORDER BY x.owner, x.id LIMIT $2::text::integer) e
      WHERE l.workspace = (SELECT seq FROM w) LIMIT $2::text::integer)) RETURNING 1)
    SELECT (SELECT pg_catalog.count(*) FROM records)::text, (SELECT pg_catalog.count(*) FROM (
      SELECT FROM claims UNION ALL SELECT FROM holds UNION ALL SELECT FROM passing UNION ALL SELECT FROM sums UNION ALL SELECT FROM entries) x)::text`,
  /** The rest, durably, whatever charges are allowed to lose. */
  forgetRest: `WITH w AS MATERIALIZED (SELECT seq, CASE pg_catalog.current_setting('synchronous_commit') WHEN 'off'
      THEN pg_catalog.set_config('synchronous_commit', 'on', true) END AS set FROM latchkey.workspace WHERE id = $1),
    sums AS (DELETE FROM latchkey.statistic WHERE workspace = (SELECT seq FROM w)),
    lists AS (DELETE FROM latchkey.list WHERE workspace = (SELECT seq FROM w)),
    records AS (DELETE FROM latchkey.record WHERE workspace = (SELECT seq FROM w)),
    own AS (DELETE FROM latchkey.workspace WHERE seq = (SELECT seq FROM w))
    SELECT set FROM w`,
  /** Only those with content: even a change that wrote nothing has created their row. */
  workspaces: `SELECT w.id FROM latchkey.workspace w WHERE w.id > $1 AND (w.revision > 0 OR ${["record", "passing", "hold", "statistic"].map(isThere).join(" OR ")})
    ORDER BY w.id LIMIT ${SCAN_PAGE}`,
  windows: `SELECT p.name FROM latchkey.passing p WHERE p.workspace = ${WORKSPACE} AND p.name > $2 ORDER BY p.name LIMIT ${SCAN_PAGE}`,
  clock:
    "SELECT pg_catalog.trunc(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000::numeric)::text",
} as const;

/**
 * Deletes old sums, up to a limit. Rows that others are about to change are left for the next call.
 *
 * @param order - That of an index, or none: if all old sums were sorted, each step would take longer the more there are.
 */
function deletingSums(from: string, order: string): string {
  return `WITH old AS (
      SELECT s.workspace, s.kind, s.subject, s.hour_at, s.code FROM ${from}
      WHERE s.workspace = ${WORKSPACE} AND s.hour_at / 86400000 < $2::text::bigint / 86400000
      ${order} LIMIT $3::text::integer + 1 FOR UPDATE OF s SKIP LOCKED
    ), gone AS (
      DELETE FROM latchkey.statistic s USING (SELECT * FROM old LIMIT $3::text::integer) o
      WHERE s.workspace = o.workspace AND s.kind = o.kind AND s.subject = o.subject AND s.hour_at = o.hour_at AND s.code = o.code
      RETURNING 1
    ) SELECT (SELECT pg_catalog.count(*) FROM gone)::text, (SELECT pg_catalog.count(*) FROM old)::text`;
}

/** {@link SQL} for one schema. */
export interface Statements extends Readonly<Record<keyof typeof SQL, string>> {
  readonly plainCharge: (shape: PlainShape) => string;
}

export function createStatements(schema: string): Statements {
  const named = Object.entries(SQL).map(([name, sql]) => [name, inSchema(sql, schema)]);
  const plain = new Map<string, string>();
  return {
    ...(Object.fromEntries(named) as Record<keyof typeof SQL, string>),
    plainCharge(shape) {
      const { records, limits, hasRefill, hold } = shape;
      const key = `${records} ${limits.join()} ${hasRefill} ${hold?.keeps} ${hold?.uses}`;
      const sql = plain.get(key) ?? inSchema(plainChargeSql(shape), schema);
      plain.set(key, sql);
      return sql;
    },
  };
}
