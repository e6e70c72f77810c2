/**
 * The order of the audit log: the version of an entry is its number in the workspace. `last`, in the row of the list of entries, is the
 * highest number ever given. The indexes use `kind + 0 = 9`: with `kind = 9`, SQLite would plan every statement with `kind = ?` anew for
 * each value. Older entries have the version 1, and are read first, in the order of their ids.
 */
export const LOG = `
ALTER TABLE latchkey_name ADD COLUMN last INTEGER NOT NULL DEFAULT 1;
CREATE INDEX latchkey_record_log ON latchkey_record (workspace, version) WHERE kind + 0 = 9 AND version > 1;
CREATE INDEX latchkey_record_unnumbered ON latchkey_record (workspace, substr(id, 1, 16)) WHERE kind + 0 = 9 AND version = 1;
`;
