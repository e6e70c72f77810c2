import { VIEWS } from "./views.js";

const WHOLE = "BETWEEN 0 AND 9007199254740991";

/**
 * The first schema: tables for what the store port names, and no columns for the fields of a record's body.
 *
 * A `seq` numbers rows for SQLite alone: a short integer is the cheapest key, and other rows store it instead of an id, a workspace or a
 * name. Numbers of records and counters are never reused (AUTOINCREMENT), since claims and cached reads may outlive them. Ids are long,
 * and begin with their time of creation: the index holds a prefix that tells almost all of them apart. A commit keeps ids unique: it
 * looks first.
 *
 * Data that changes with every charge is in a narrow table of its own: a commit writes whole pages, and a page fits a hundred counters,
 * or ten records. `holders` counts the records that share the counters. `windows` is a few words, `name=start=used` each.
 *
 * `latchkey_name` numbers the names of lists, with their size, and of claims: "list", "kind index". `owner` is the owner of a small list.
 * `latchkey_passing` holds what expires: windows without an owner, and remembered requests. Every change of an existing record sets a new
 * `mark`: while it is the same, a connection knows that others have at most charged or added records.
 */
export const INITIAL = `
CREATE TABLE latchkey_schema (id INTEGER PRIMARY KEY CHECK (id = 1), version INTEGER NOT NULL CHECK (version >= 1),
  mark INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE latchkey_workspace (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 0 CHECK (revision ${WHOLE})) STRICT;
CREATE TABLE latchkey_record (seq INTEGER PRIMARY KEY AUTOINCREMENT, workspace INTEGER NOT NULL, kind INTEGER NOT NULL,
  version INTEGER NOT NULL CHECK (version ${WHOLE}), counters INTEGER, id TEXT NOT NULL, link TEXT, body TEXT NOT NULL) STRICT;
CREATE INDEX latchkey_record_id ON latchkey_record (workspace, kind, substr(id, 1, 16));
CREATE TABLE latchkey_counters (seq INTEGER PRIMARY KEY AUTOINCREMENT, holders INTEGER NOT NULL CHECK (holders >= 0),
  remaining INTEGER CHECK (remaining ${WHOLE}), refilled_at INTEGER NOT NULL CHECK (refilled_at ${WHOLE}),
  last_refill_at INTEGER CHECK (last_refill_at ${WHOLE}), windows TEXT NOT NULL) STRICT;
CREATE TABLE latchkey_used (record INTEGER PRIMARY KEY, at INTEGER NOT NULL CHECK (at ${WHOLE})) STRICT;
CREATE TABLE latchkey_name (seq INTEGER PRIMARY KEY, workspace INTEGER NOT NULL, name TEXT NOT NULL,
  size INTEGER NOT NULL DEFAULT 0 CHECK (size ${WHOLE})) STRICT;
CREATE UNIQUE INDEX latchkey_name_name ON latchkey_name (workspace, name);
CREATE TABLE latchkey_claim (name INTEGER NOT NULL, value ANY NOT NULL, record INTEGER NOT NULL,
  PRIMARY KEY (name, value)) STRICT, WITHOUT ROWID;
CREATE TABLE latchkey_entry (list INTEGER NOT NULL, owner ANY NOT NULL, id TEXT NOT NULL,
  PRIMARY KEY (list, owner, id)) STRICT, WITHOUT ROWID;
CREATE TABLE latchkey_passing (workspace INTEGER NOT NULL, name TEXT NOT NULL, until INTEGER NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (workspace, name)) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_passing_until ON latchkey_passing (until);
CREATE TABLE latchkey_statistic (workspace INTEGER NOT NULL, kind INTEGER NOT NULL, subject TEXT NOT NULL,
  hour_at INTEGER NOT NULL CHECK (hour_at ${WHOLE}), code TEXT NOT NULL, count INTEGER NOT NULL CHECK (count ${WHOLE}),
  PRIMARY KEY (workspace, kind, subject, hour_at, code)) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_statistic_hour ON latchkey_statistic (workspace, hour_at);
${VIEWS}`;
