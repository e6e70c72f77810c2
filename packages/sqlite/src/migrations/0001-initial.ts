/**
 * The first schema.
 *
 * `seq` numbers rows for SQLite alone: a short integer is the cheapest thing to find a row by, and links hold it
 * in place of an id. Deleted keys stay, without links and counters, outside of every index that live keys are
 * found through. `key_count` and `identity_count` answer `total` without a scan.
 *
 * What moves with every charge is in narrow tables of its own. A commit writes whole pages: forty counters fit on
 * one where five or six records do, so that a checkpoint copies a fraction of the pages, and metadata is never
 * written again because of a use. `windows` holds the windows of configured limits, a few of them; those of
 * limits that requests made up have no bound, and `latchkey_window` for themselves. A key that is not `is_counted`
 * has never had a number of uses or a limit: its counters need not be read.
 */
export const INITIAL = `
CREATE TABLE latchkey_schema (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL CHECK (version >= 1)
) STRICT;

CREATE TABLE latchkey_workspace (
  id TEXT NOT NULL PRIMARY KEY,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch BETWEEN 0 AND 9007199254740991),
  identity_count INTEGER NOT NULL DEFAULT 0 CHECK (identity_count BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_api (
  id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  is_live INTEGER NOT NULL DEFAULT 1 CHECK (is_live IN (0, 1)),
  key_count INTEGER NOT NULL DEFAULT 0 CHECK (key_count BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_identity (
  seq INTEGER PRIMARY KEY,
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  external_id TEXT NOT NULL,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  ratelimits TEXT NOT NULL,
  meta TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX latchkey_identity_external_id ON latchkey_identity (workspace_id, external_id);
CREATE UNIQUE INDEX latchkey_identity_id ON latchkey_identity (workspace_id, id);

CREATE TABLE latchkey_identity_usage (
  identity_seq INTEGER PRIMARY KEY REFERENCES latchkey_identity (seq),
  windows TEXT NOT NULL
) STRICT;

CREATE TABLE latchkey_permission (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE latchkey_role (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  UNIQUE (workspace_id, name)
) STRICT;

CREATE TABLE latchkey_role_permission (
  role_seq INTEGER NOT NULL REFERENCES latchkey_role (seq),
  permission_seq INTEGER NOT NULL REFERENCES latchkey_permission (seq),
  PRIMARY KEY (role_seq, permission_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_root_key (
  id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  start TEXT NOT NULL,
  name TEXT,
  permissions TEXT NOT NULL,
  expires_at INTEGER CHECK (expires_at BETWEEN 0 AND 9007199254740991),
  switched_on INTEGER NOT NULL CHECK (switched_on IN (0, 1)),
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991)
) STRICT;

CREATE TABLE latchkey_key (
  seq INTEGER PRIMARY KEY,
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  deleted_at INTEGER CHECK (deleted_at BETWEEN 0 AND 9007199254740991),
  is_counted INTEGER NOT NULL CHECK (is_counted IN (0, 1)),
  id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  api_id TEXT NOT NULL REFERENCES latchkey_api (id),
  identity_id TEXT,
  hash TEXT NOT NULL,
  start TEXT NOT NULL,
  name TEXT,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  updated_at INTEGER CHECK (updated_at BETWEEN 0 AND 9007199254740991),
  expires_at INTEGER CHECK (expires_at BETWEEN 0 AND 9007199254740991),
  switched_on INTEGER NOT NULL CHECK (switched_on IN (0, 1)),
  refill_interval TEXT CHECK (refill_interval IN ('daily', 'monthly')),
  refill_amount INTEGER CHECK (refill_amount BETWEEN 1 AND 9007199254740991),
  refill_day INTEGER CHECK (refill_day BETWEEN 1 AND 31),
  environment TEXT,
  ratelimits TEXT NOT NULL,
  sealed_secret TEXT,
  meta TEXT
) STRICT;
CREATE UNIQUE INDEX latchkey_key_id ON latchkey_key (id);
CREATE UNIQUE INDEX latchkey_key_hash ON latchkey_key (hash, workspace_id) WHERE deleted_at IS NULL;
CREATE INDEX latchkey_key_list ON latchkey_key (api_id, id) WHERE deleted_at IS NULL;
CREATE INDEX latchkey_key_identity ON latchkey_key (identity_id, api_id, id)
  WHERE deleted_at IS NULL AND identity_id IS NOT NULL;

CREATE TABLE latchkey_usage (
  key_seq INTEGER PRIMARY KEY REFERENCES latchkey_key (seq),
  remaining INTEGER CHECK (remaining BETWEEN 0 AND 9007199254740991),
  refilled_at INTEGER NOT NULL CHECK (refilled_at BETWEEN 0 AND 9007199254740991),
  windows TEXT NOT NULL
) STRICT;

CREATE TABLE latchkey_key_role (
  key_seq INTEGER NOT NULL REFERENCES latchkey_key (seq),
  role_seq INTEGER NOT NULL REFERENCES latchkey_role (seq),
  PRIMARY KEY (key_seq, role_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_key_permission (
  key_seq INTEGER NOT NULL REFERENCES latchkey_key (seq),
  permission_seq INTEGER NOT NULL REFERENCES latchkey_permission (seq),
  PRIMARY KEY (key_seq, permission_seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_window (
  key_seq INTEGER NOT NULL REFERENCES latchkey_key (seq),
  name TEXT NOT NULL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms BETWEEN 1 AND 9007199254740991),
  started_at INTEGER NOT NULL CHECK (started_at BETWEEN 0 AND 9007199254740991),
  used INTEGER NOT NULL CHECK (used BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (key_seq, name, duration_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_window_end ON latchkey_window (started_at + duration_ms);

CREATE TABLE latchkey_request (
  key_seq INTEGER NOT NULL REFERENCES latchkey_key (seq),
  request_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  until INTEGER NOT NULL CHECK (until BETWEEN 0 AND 9007199254740991),
  result TEXT NOT NULL,
  PRIMARY KEY (key_seq, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_request_until ON latchkey_request (until);
`;
