import Database from "better-sqlite3";
import type { RawRecord, RawStore } from "./rows.js";

const SCHEMA = `
  CREATE TABLE record (key INTEGER PRIMARY KEY, id TEXT UNIQUE, kind TEXT, version INTEGER, link TEXT, body TEXT) STRICT;
  CREATE TABLE counter (key INTEGER PRIMARY KEY, remaining INTEGER) STRICT;
  CREATE TABLE claim (name TEXT PRIMARY KEY, id TEXT) STRICT, WITHOUT ROWID;
  CREATE TABLE entry (list TEXT, id TEXT, PRIMARY KEY (list, id)) STRICT, WITHOUT ROWID;`;

/** A raw store on SQLite: prepared statements in one transaction, with WAL and `synchronous = FULL`, like latchkey's commits. */
export function rawSqlite(path: string): RawStore {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = FULL");
  database.exec(SCHEMA);
  const record = database.prepare(
    "INSERT INTO record (id, kind, version, link, body) VALUES (?, ?, ?, ?, ?)",
  );
  const counter = database.prepare("INSERT INTO counter VALUES (?, ?)");
  const claim = database.prepare("INSERT INTO claim VALUES (?, ?)");
  const entry = database.prepare("INSERT INTO entry VALUES (?, ?)");
  const select = database
    .prepare(
      `SELECT id, kind, version, link, body, remaining FROM entry JOIN record USING (id) LEFT JOIN counter USING (key)
       WHERE list = ? AND id > ? ORDER BY id LIMIT ?`,
    )
    .raw(true);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  type Row = [string, string, number, string | null, string, number | null];
  return {
    async write(rows) {
      begin.run();
      for (const { id, kind, version, link, body, remaining } of rows.records) {
        const { lastInsertRowid } = record.run(id, kind, version, link, JSON.stringify(body));
        if (remaining !== null) counter.run(lastInsertRowid, remaining);
      }
      for (const { name, id } of rows.claims) claim.run(name, id);
      for (const { list, id } of rows.entries) entry.run(list, id);
      commit.run();
    },
    async page(list, after, limit) {
      const found = select.all(list, after, limit) as Row[];
      return found.map(([id, kind, version, link, body, remaining]): RawRecord => {
        return { id, kind, version, link, body: JSON.parse(body), remaining };
      });
    },
  };
}
