/**
 * The first schema.
 *
 * `seq` numbers rows for SQLite alone: a short integer is the cheapest thing to find a row by, and links hold it
 * in place of an id. Deleted keys stay, without links and counters, outside of every index that live keys are
 * found through, unless they were deleted for good. `key_count`, `api_count`, `identity_count` and `root_key_count`
 * answer `total` without a scan.
 *
 * Roles and permissions that were deleted stay, too, with their links, which are passed over: deleting one takes no
 * longer the more keys had it. Keys name their identity by its id, which is never given again, so that an identity
 * is simply removed.
 *
 * What moves with every charge is in narrow tables of its own. A commit writes whole pages: forty counters fit on
 * one where five or six records do, so that a checkpoint copies a fraction of the pages, and metadata is never
 * written again because of a use. `counters` belong to one key, to the keys of a rotation together (those have a
 * `counters_id`), or to an identity. Their numbers are not given again (AUTOINCREMENT), since what requests left in
 * `latchkey_window` may outlive them. `windows` holds the windows of configured limits, a few of them; those of
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
  name TEXT,
  is_written INTEGER NOT NULL DEFAULT 0 CHECK (is_written IN (0, 1)),
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  epoch INTEGER NOT NULL DEFAULT 0 CHECK (epoch BETWEEN 0 AND 9007199254740991),
  api_count INTEGER NOT NULL DEFAULT 0 CHECK (api_count BETWEEN 0 AND 9007199254740991),
  identity_count INTEGER NOT NULL DEFAULT 0 CHECK (identity_count BETWEEN 0 AND 9007199254740991),
  root_key_count INTEGER NOT NULL DEFAULT 0 CHECK (root_key_count BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;

CREATE TABLE latchkey_api (
  id TEXT NOT NULL PRIMARY KEY,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  delete_protection INTEGER NOT NULL CHECK (delete_protection IN (0, 1)),
  ip_whitelist TEXT NOT NULL,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  is_live INTEGER NOT NULL DEFAULT 1 CHECK (is_live IN (0, 1)),
  key_count INTEGER NOT NULL DEFAULT 0 CHECK (key_count BETWEEN 0 AND 9007199254740991)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_api_list ON latchkey_api (workspace_id, id) WHERE is_live = 1;

CREATE TABLE latchkey_counters (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  remaining INTEGER CHECK (remaining BETWEEN 0 AND 9007199254740991),
  refilled_at INTEGER NOT NULL CHECK (refilled_at BETWEEN 0 AND 9007199254740991),
  windows TEXT NOT NULL
) STRICT;

CREATE TABLE latchkey_identity (
  seq INTEGER PRIMARY KEY,
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  counters_seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  external_id TEXT NOT NULL,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  refill_interval TEXT CHECK (refill_interval IN ('daily', 'monthly')),
  refill_amount INTEGER CHECK (refill_amount BETWEEN 1 AND 9007199254740991),
  refill_day INTEGER CHECK (refill_day BETWEEN 1 AND 31),
  ratelimits TEXT NOT NULL,
  meta TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX latchkey_identity_external_id ON latchkey_identity (workspace_id, external_id);
CREATE UNIQUE INDEX latchkey_identity_id ON latchkey_identity (workspace_id, id);

CREATE TABLE latchkey_permission (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  is_live INTEGER NOT NULL DEFAULT 1 CHECK (is_live IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX latchkey_permission_name ON latchkey_permission (workspace_id, name) WHERE is_live = 1;
CREATE INDEX latchkey_permission_list ON latchkey_permission (workspace_id, id) WHERE is_live = 1;

CREATE TABLE latchkey_role (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  created_at INTEGER NOT NULL CHECK (created_at BETWEEN 0 AND 9007199254740991),
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  is_live INTEGER NOT NULL DEFAULT 1 CHECK (is_live IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX latchkey_role_name ON latchkey_role (workspace_id, name) WHERE is_live = 1;
CREATE INDEX latchkey_role_list ON latchkey_role (workspace_id, id) WHERE is_live = 1;

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
CREATE INDEX latchkey_root_key_list ON latchkey_root_key (workspace_id, id);

CREATE TABLE latchkey_key (
  seq INTEGER PRIMARY KEY,
  version INTEGER NOT NULL CHECK (version BETWEEN 0 AND 9007199254740991),
  deleted_at INTEGER CHECK (deleted_at BETWEEN 0 AND 9007199254740991),
  is_counted INTEGER NOT NULL CHECK (is_counted IN (0, 1)),
  counters_seq INTEGER CHECK (counters_seq IS NOT NULL OR deleted_at IS NOT NULL),
  counters_id TEXT,
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
  uses_from TEXT NOT NULL CHECK (uses_from IN ('key', 'identity')),
  rotated_from TEXT,
  rotated_to TEXT,
  ratelimits TEXT NOT NULL,
  sealed_secret TEXT,
  meta TEXT
) STRICT;
CREATE UNIQUE INDEX latchkey_key_id ON latchkey_key (id);
CREATE UNIQUE INDEX latchkey_key_hash ON latchkey_key (hash, workspace_id) WHERE deleted_at IS NULL;
CREATE INDEX latchkey_key_list ON latchkey_key (api_id, id) WHERE deleted_at IS NULL;
CREATE INDEX latchkey_key_identity ON latchkey_key (identity_id, api_id, id)
  WHERE deleted_at IS NULL AND identity_id IS NOT NULL;
CREATE INDEX latchkey_key_sharers ON latchkey_key (counters_seq)
  WHERE deleted_at IS NULL AND counters_id IS NOT NULL;

CREATE TABLE latchkey_last_use (
  key_seq INTEGER PRIMARY KEY REFERENCES latchkey_key (seq),
  used_at INTEGER NOT NULL CHECK (used_at BETWEEN 0 AND 9007199254740991)
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
  counters_seq INTEGER NOT NULL,
  name TEXT NOT NULL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms BETWEEN 1 AND 9007199254740991),
  started_at INTEGER NOT NULL CHECK (started_at BETWEEN 0 AND 9007199254740991),
  used INTEGER NOT NULL CHECK (used BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (counters_seq, name, duration_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_window_end ON latchkey_window (started_at + duration_ms);

CREATE TABLE latchkey_namespace_window (
  workspace_id TEXT NOT NULL,
  namespace TEXT NOT NULL,
  identifier TEXT NOT NULL,
  duration_ms INTEGER NOT NULL CHECK (duration_ms BETWEEN 1 AND 9007199254740991),
  started_at INTEGER NOT NULL CHECK (started_at BETWEEN 0 AND 9007199254740991),
  used INTEGER NOT NULL CHECK (used BETWEEN 0 AND 9007199254740991),
  PRIMARY KEY (workspace_id, namespace, identifier, duration_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_namespace_window_end ON latchkey_namespace_window (started_at + duration_ms);

CREATE TABLE latchkey_request (
  key_seq INTEGER NOT NULL REFERENCES latchkey_key (seq),
  request_id TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  until INTEGER NOT NULL CHECK (until BETWEEN 0 AND 9007199254740991),
  result TEXT NOT NULL,
  PRIMARY KEY (key_seq, request_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_request_until ON latchkey_request (until);

CREATE TABLE latchkey_verification (
  workspace_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('key', 'identity', 'api')),
  subject_id TEXT NOT NULL,
  hour_at INTEGER NOT NULL CHECK (hour_at BETWEEN 0 AND 9007199254740991),
  code TEXT NOT NULL,
  count INTEGER NOT NULL CHECK (count BETWEEN 1 AND 9007199254740991),
  PRIMARY KEY (workspace_id, kind, subject_id, hour_at, code)
) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_verification_hour ON latchkey_verification (workspace_id, hour_at);

CREATE TABLE latchkey_change (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  type TEXT NOT NULL,
  at INTEGER NOT NULL CHECK (at BETWEEN 0 AND 9007199254740991),
  actor TEXT,
  resource_id TEXT NOT NULL,
  key_id TEXT,
  identity_id TEXT,
  fields TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX latchkey_change_id ON latchkey_change (workspace_id, id);
CREATE INDEX latchkey_change_key ON latchkey_change (workspace_id, key_id, id) WHERE key_id IS NOT NULL;
CREATE INDEX latchkey_change_identity ON latchkey_change (workspace_id, identity_id, id)
  WHERE identity_id IS NOT NULL;
CREATE INDEX latchkey_change_actor ON latchkey_change (workspace_id, actor, id) WHERE actor IS NOT NULL;
`;
