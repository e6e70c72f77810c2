import type pg from "pg";
import type { RawRecord, RawRows, RawStore } from "./rows.js";

const SCHEMA = `
  CREATE TABLE record (
    id text COLLATE "C" PRIMARY KEY, kind text, version bigint, link text, body text);
  CREATE TABLE counter (id text COLLATE "C" PRIMARY KEY, remaining bigint);
  CREATE TABLE claim (name text COLLATE "C" PRIMARY KEY, id text);
  CREATE TABLE entry (list text COLLATE "C", id text COLLATE "C", PRIMARY KEY (list, id));`;

/** One statement, so one round trip and one commit, for any number of rows. */
const WRITE = `WITH
  records AS (INSERT INTO record SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[])),
  counters AS (INSERT INTO counter SELECT * FROM unnest($6::text[], $7::bigint[])),
  claims AS (INSERT INTO claim SELECT * FROM unnest($8::text[], $9::text[]))
  INSERT INTO entry SELECT * FROM unnest($10::text[], $11::text[])`;

/** OFFSET 0 keeps the planner from joining whole tables while it has no statistics on their size. */
const PAGE = `SELECT r.id, kind, version, link, body, remaining
  FROM (SELECT id FROM entry WHERE list = $1 AND id > $2 ORDER BY id LIMIT $3) e
  JOIN LATERAL (SELECT * FROM record WHERE id = e.id OFFSET 0) r ON true
  LEFT JOIN LATERAL (SELECT remaining FROM counter WHERE id = e.id OFFSET 0) c ON true ORDER BY e.id`;

/** A raw store on PostgreSQL, with one prepared statement for writes and one for pages. */
export async function rawPostgres(pool: pg.Pool): Promise<RawStore> {
  await pool.query(SCHEMA);
  type Row = [string, string, string, string | null, string, string | null];
  return {
    async write(rows) {
      await pool.query({ name: "write", text: WRITE, values: columnsOf(rows) });
    },
    async page(list, after, limit) {
      const values = [list, after, limit];
      const found = await pool.query<Row>({ name: "page", text: PAGE, values, rowMode: "array" });
      return found.rows.map(([id, kind, version, link, body, remaining]): RawRecord => {
        const left = remaining === null ? null : Number(remaining);
        return {
          id,
          kind,
          version: Number(version),
          link,
          body: JSON.parse(body),
          remaining: left,
        };
      });
    },
  };
}

function columnsOf({ records, claims, entries }: RawRows): unknown[][] {
  const counted = records.filter(({ remaining }) => remaining !== null);
  return [
    records.map(({ id }) => id),
    records.map(({ kind }) => kind),
    records.map(({ version }) => version),
    records.map(({ link }) => link),
    records.map(({ body }) => JSON.stringify(body)),
    counted.map(({ id }) => id),
    counted.map(({ remaining }) => remaining),
    claims.map(({ name }) => name),
    claims.map(({ id }) => id),
    entries.map(({ list }) => list),
    entries.map(({ id }) => id),
  ];
}
