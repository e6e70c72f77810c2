/**
 * What verifications hold until their price is known. While counters have open holds, their `windows` has one more word, without a `=`. A
 * hold is beside the counters of a key, and of its identity if it has one; `first` is null once the key's are gone. `expires_at` is also
 * part of `value`; the column finds expired holds.
 */
export const HOLDS = `
CREATE TABLE latchkey_hold (workspace INTEGER NOT NULL, id TEXT NOT NULL, first INTEGER, second INTEGER,
  expires_at INTEGER NOT NULL, value TEXT NOT NULL, PRIMARY KEY (workspace, id)) STRICT, WITHOUT ROWID;
CREATE INDEX latchkey_hold_first ON latchkey_hold (first, expires_at) WHERE first IS NOT NULL;
CREATE INDEX latchkey_hold_second ON latchkey_hold (second, expires_at) WHERE second IS NOT NULL;
`;
