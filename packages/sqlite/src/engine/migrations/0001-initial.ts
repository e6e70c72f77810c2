/**
 * The first schema: tables for what the store port names, and no column for what a record says.
 *
 * A `seq` numbers rows for SQLite alone: a short integer is the cheapest thing to find a row by, and other rows hold it in
 * place of an id, a workspace or the name of a list. Numbers of records and counters are never given again
 * (AUTOINCREMENT), since claims and what was read before may outlive them.
 *
 * What moves with every charge is in a narrow table of its own. A commit writes whole pages: forty counters fit on one where
 * five or six records do, so that a checkpoint copies a fraction of the pages, and metadata is never written again because
 * of a use. `holders` counts the records that share the counters. `windows` is a few words, `name=start=used` each.
 *
 * `latchkey_name` numbers the names of lists, with their size, and of claims: "list", "kind index". A small list has no
 * name of its own: `owner` says whose it is.
 *
 * `latchkey_passing` holds what has an end: windows without an owner, and remembered requests.
 *
 * The views are for people. `json_valid` keeps one damaged body from ending a query over all of them.
 */
export const INITIAL = `
CREATE TABLE latchkey_schema (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE latchkey_workspace (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  revision INTEGER NOT NULL DEFAULT 0 CHECK (revision BETWEEN 0 AND 9007199254740991)
) STRICT;

CREATE TABLE latchkey_record (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  counters INTEGER,
  id TEXT NOT NULL,
  link TEXT,
  body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX latchkey_record_id ON latchkey_record (workspace, kind, id);

CREATE TABLE latchkey_counters (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  holders INTEGER NOT NULL CHECK (holders >= 0),
  remaining INTEGER CHECK (remaining BETWEEN 0 AND 9007199254740991),
  refilled_at INTEGER NOT NULL CHECK (refilled_at BETWEEN 0 AND 9007199254740991),
  last_refill_at INTEGER CHECK (last_refill_at BETWEEN 0 AND 9007199254740991),
  windows TEXT NOT NULL
) STRICT;

CREATE TABLE latchkey_used (
  record INTEGER PRIMARY KEY,
  at INTEGER NOT NULL CHECK (at BETWEEN 0 AND 9007199254740991)
) STRICT;

CREATE TABLE latchkey_name (
  seq INTEGER PRIMARY KEY,
  workspace INTEGER NOT NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL DEFAULT 0 CHECK (size BETWEEN 0 AND 9007199254740991)
) STRICT;
CREATE UNIQUE INDEX latchkey_name_name ON latchkey_name (workspace, name);

CREATE TABLE latchkey_claim (
  name INTEGER NOT NULL,
  value ANY NOT NULL,
  record INTEGER NOT NULL,
  PRIMARY KEY (name, value)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_entry (
  list INTEGER NOT NULL,
  owner TEXT NOT NULL,
  id TEXT NOT NULL,
  PRIMARY KEY (list, owner, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_passing (
  workspace INTEGER NOT NULL,
  name TEXT NOT NULL,
  until INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_passing_until ON latchkey_passing (until);

CREATE TABLE latchkey_statistic (
  workspace INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  subject TEXT NOT NULL,
  hour_at INTEGER NOT NULL CHECK (hour_at BETWEEN 0 AND 9007199254740991),
  code TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (workspace, kind, subject, hour_at, code)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_statistic_hour ON latchkey_statistic (workspace, hour_at);

CREATE VIEW latchkey_keys AS
SELECT workspaceId, id, version, body ->> '$.apiId' AS apiId, body ->> '$.start' AS start, body ->> '$.name' AS name,
  link AS identityId, body ->> '$.meta' AS meta, body ->> '$.createdAt' AS createdAt, body ->> '$.updatedAt' AS updatedAt,
  body ->> '$.expires' AS expires, body ->> '$.enabled' AS enabled, body ->> '$.refill' AS refill,
  body ->> '$.ratelimits' AS ratelimits, body ->> '$.environment' AS environment, body ->> '$.usesFrom' AS usesFrom,
  body ->> '$.rotatedFrom' AS rotatedFrom, body ->> '$.rotatedTo' AS rotatedTo, body ->> '$.roles' AS roles,
  body ->> '$.permissions' AS permissions, remaining, usedAt
FROM (
  SELECT w.id AS workspaceId, r.id, r.version, r.link, CASE WHEN json_valid(r.body) THEN r.body END AS body, c.remaining,
    u.at AS usedAt
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters LEFT JOIN latchkey_used u ON u.record = r.seq
  WHERE r.kind = 3
);

CREATE VIEW latchkey_identities AS
SELECT workspaceId, id, version, body ->> '$.externalId' AS externalId, body ->> '$.meta' AS meta,
  body ->> '$.ratelimits' AS ratelimits, body ->> '$.refill' AS refill, body ->> '$.createdAt' AS createdAt, remaining
FROM (
  SELECT w.id AS workspaceId, r.id, r.version, CASE WHEN json_valid(r.body) THEN r.body END AS body, c.remaining
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  LEFT JOIN latchkey_counters c ON c.seq = r.counters
  WHERE r.kind = 4
);

CREATE VIEW latchkey_audit AS
SELECT workspaceId, id, body ->> '$.type' AS type, body ->> '$.at' AS at, body ->> '$.actor' AS actor,
  body ->> '$.resourceId' AS resourceId, body ->> '$.keyId' AS keyId, body ->> '$.identityId' AS identityId,
  body ->> '$.changes' AS changes
FROM (
  SELECT w.id AS workspaceId, r.id, CASE WHEN json_valid(r.body) THEN r.body END AS body
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace
  WHERE r.kind = 9
);
`;
