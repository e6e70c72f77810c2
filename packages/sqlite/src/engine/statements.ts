import { KIND_CODE, type ListEntry, type RecordAddress } from "@latchkey/core";
import type { SqliteDatabase, Statement } from "./database.js";

/** Finds a record. Its id is compared twice: the index has only the beginning of it. */
const isAt = (record: string, id = "?") =>
  `${record}workspace = ? AND ${record}kind = ? AND ${isSame(record, id)}`;
const isSame = (record: string, id: string) =>
  `${record}id = ${id} AND substr(${record}id, 1, 16) = substr(${id}, 1, 16)`;

const kept = (r: string, c: string) => `${r}.seq, ${r}.version, ${r}.counters,
  ${c}.remaining, ${c}.refilled_at, ${c}.last_refill_at, ${c}.windows`;

/** A record `r` with its counters, and then the identity `l` that it links to. `stored-record.ts` reads such rows. */
const RECORD = `SELECT ${kept("r", "c")}, r.id, r.link, r.body, u.at`;
const BESIDE = `LEFT JOIN latchkey_counters c ON c.seq = r.counters LEFT JOIN latchkey_used u ON u.record = r.seq`;
const LOADED = `${RECORD}, ${kept("l", "d")}, l.id, l.link, l.body, v.at, w.revision, w.seq
  FROM latchkey_record r JOIN latchkey_workspace w ON w.seq = r.workspace ${BESIDE}
  LEFT JOIN latchkey_record l ON l.workspace = r.workspace AND l.kind = ${KIND_CODE.identity} AND ${isSame("l.", "r.link")}
  LEFT JOIN latchkey_counters d ON d.seq = l.counters LEFT JOIN latchkey_used v ON v.record = l.seq WHERE`;

/** Walks a list and looks up each record: CROSS JOIN fixes this order. */
const inList = (isAfter: string, order: string) => `${RECORD} FROM latchkey_entry e
  CROSS JOIN latchkey_record r ON ${isAt("r.", "e.id")} ${BESIDE}
  WHERE e.list = ? AND e.owner = ? AND e.id ${isAfter} ? ORDER BY e.id ${order} LIMIT ?`;

/** Walks all records of a kind by the index of their ids. Only ids with the same indexed beginning are sorted. */
const ofKind = (isAfter: string, order: string) => `${RECORD} FROM latchkey_record r ${BESIDE}
  WHERE r.workspace = ? AND r.kind = ? AND substr(r.id, 1, 16) ${isAfter}= substr(?, 1, 16) AND r.id ${isAfter} ?
  ORDER BY substr(r.id, 1, 16) ${order}, r.id ${order} LIMIT ?`;

/** Entries of the audit log by version. The kind is written as in the indexes of the log. */
const ofLog = (condition: string) => `${RECORD} FROM latchkey_record r ${BESIDE}
  WHERE r.workspace = ? AND r.kind + 0 = ${KIND_CODE.auditEntry} AND ${condition} LIMIT ?`;

/** Deletes some rows of a workspace. `key`: the rest of the primary key. */
const ofWorkspace = (table: string, key: string) => `DELETE FROM latchkey_${table}
  WHERE (workspace, ${key}) IN (SELECT workspace, ${key} FROM latchkey_${table} WHERE workspace = ? LIMIT ?)`;

/** The same for a table that is keyed by a name: of a list, or of an index of claims. */
const ofNames = (table: "claim" | "entry", key: string) => {
  const name = table === "claim" ? "name" : "list";
  return `DELETE FROM latchkey_${table} WHERE (${name}, ${key}) IN (SELECT t.${name}, ${key.replaceAll(/\b(?=\w)/g, "t.")}
    FROM latchkey_name n CROSS JOIN latchkey_${table} t ON t.${name} = n.seq WHERE n.workspace = ? LIMIT ?)`;
};

/** Every statement that a store runs while it serves. */
export const SQL = {
  dataVersion: "PRAGMA data_version",
  mark: "SELECT mark, schema_version, version FROM latchkey_schema, pragma_schema_version WHERE id = 1",
  setMark: "UPDATE latchkey_schema SET mark = ? WHERE id = 1",
  workspace: "SELECT seq, revision FROM latchkey_workspace WHERE id = ?",
  addWorkspace: "INSERT INTO latchkey_workspace (id) VALUES (?)",
  setRevision: "UPDATE latchkey_workspace SET revision = ? WHERE seq = ?",
  name: "SELECT seq, size, last FROM latchkey_name WHERE workspace = ? AND name = ?",
  addName: "INSERT INTO latchkey_name (workspace, name) VALUES (?, ?)",
  resize: "UPDATE latchkey_name SET size = size + ? WHERE seq = ?",
  lastEntry: "SELECT last FROM latchkey_name WHERE seq = ?",
  resizeLog: "UPDATE latchkey_name SET size = size + 1, last = max(last, ?) WHERE seq = ?",
  byId: `${LOADED} ${isAt("r.")}`,
  byClaim: `${LOADED} r.seq = (SELECT record FROM latchkey_claim WHERE name = ? AND value = ?)`,
  listAscending: inList(">", "ASC"),
  listDescending: inList("<", "DESC"),
  allAscending: ofKind(">", "ASC"),
  allDescending: ofKind("<", "DESC"),
  unnumbered: ofLog(`r.version = 1 AND substr(r.id, 1, 16) >= substr(?, 1, 16) AND r.id >= ?
    ORDER BY substr(r.id, 1, 16), r.id`),
  numbered: ofLog("r.version > 1 AND r.version >= ? ORDER BY r.version"),
  // Not joined to each row: a page of 100 keys of 20 identities would take a quarter longer.
  identities: `${RECORD} FROM json_each(?) i CROSS JOIN latchkey_record r
    ON r.workspace = ? AND r.kind = ${KIND_CODE.identity} AND ${isSame("r.", "i.value")} ${BESIDE}`,
  find: `SELECT seq, version, counters FROM latchkey_record WHERE ${isAt("")}`,
  insert: `INSERT INTO latchkey_record (version, link, counters, body, workspace, kind, id)
    VALUES (?, ?, ?, ?, ?, ?, ?)`,
  update: "UPDATE latchkey_record SET version = ?, link = ?, counters = ?, body = ? WHERE seq = ?",
  delete: "DELETE FROM latchkey_record WHERE seq = ?",
  holder: `SELECT r.id FROM latchkey_claim c JOIN latchkey_record r ON r.seq = c.record
    WHERE c.name = ? AND c.value = ?`,
  claim: "INSERT OR REPLACE INTO latchkey_claim (name, value, record) VALUES (?, ?, ?)",
  release: "DELETE FROM latchkey_claim WHERE name = ? AND value = ? AND record = ?",
  enter: "INSERT OR IGNORE INTO latchkey_entry (list, owner, id) VALUES (?, ?, ?)",
  leave: "DELETE FROM latchkey_entry WHERE list = ? AND owner = ? AND id = ?",
  counters:
    "SELECT remaining, refilled_at, last_refill_at, windows FROM latchkey_counters WHERE seq = ?",
  addCounters: `INSERT INTO latchkey_counters (holders, remaining, refilled_at, last_refill_at, windows)
    VALUES (1, ?, ?, ?, ?)`,
  moveCounters: `UPDATE latchkey_counters SET remaining = ?, refilled_at = ?, last_refill_at = ?, windows = ?
    WHERE seq = ?`,
  shareCounters: "UPDATE latchkey_counters SET holders = holders + 1 WHERE seq = ?",
  leaveCounters: "UPDATE latchkey_counters SET holders = holders - 1 WHERE seq = ? AND holders > 1",
  deleteCounters: "DELETE FROM latchkey_counters WHERE seq = ? RETURNING windows",
  hold: "SELECT value, first, second, id FROM latchkey_hold WHERE workspace = ? AND id = ?",
  holdWithSlots:
    "SELECT value, first, second, id FROM latchkey_hold WHERE workspace = ? AND id IN (?, ?)",
  putHold: `INSERT OR REPLACE INTO latchkey_hold (workspace, id, first, second, expires_at, value)
    VALUES (?, ?, ?, ?, ?, ?)`,
  deleteHold: "DELETE FROM latchkey_hold WHERE workspace = ? AND id = ?",
  // Counters belong to keys or to identities: no number is in both columns.
  overFirst:
    "SELECT value, first, second, id FROM latchkey_hold WHERE first = ? AND expires_at <= ? ORDER BY expires_at LIMIT ?",
  overSecond:
    "SELECT value, first, second, id FROM latchkey_hold WHERE second = ? AND expires_at <= ? ORDER BY expires_at LIMIT ?",
  /** From an index alone. */
  holdIds: `SELECT id FROM latchkey_hold WHERE first = ? AND id > ?
    UNION ALL SELECT id FROM latchkey_hold WHERE second = ? AND id > ?`,
  /** In the order of the ids. */
  holdsById: `SELECT h.id, h.value FROM json_each(?) i CROSS JOIN latchkey_hold h
    ON h.workspace = ? AND h.id = i.value`,
  nextEnd: `SELECT min(ends) FROM (SELECT min(expires_at) AS ends FROM latchkey_hold WHERE first = ?
    UNION ALL SELECT min(expires_at) FROM latchkey_hold WHERE second = ?)`,
  leaveFirst: "UPDATE latchkey_hold SET first = NULL WHERE first = ?",
  leaveSecond: "UPDATE latchkey_hold SET second = NULL WHERE second = ?",
  deleteFirst: "DELETE FROM latchkey_hold WHERE first = ? AND second IS NULL",
  deleteSecond: "DELETE FROM latchkey_hold WHERE second = ? AND first IS NULL",
  expiring: "SELECT value FROM latchkey_passing WHERE workspace = ? AND name = ?",
  keepExpiring:
    "INSERT OR REPLACE INTO latchkey_passing (workspace, name, until, value) VALUES (?, ?, ?, ?)",
  workspaces: "SELECT id FROM latchkey_workspace WHERE id > ? ORDER BY id LIMIT ?",
  windows:
    "SELECT name FROM latchkey_passing WHERE workspace = ? AND name > ? ORDER BY name LIMIT ?",
  // Two, since one is added at a time: deleting keeps up.
  // The condition is always true: with one, SQLite searches the index and does not scan it.
  firstEnds:
    "SELECT workspace, name, until FROM latchkey_passing WHERE until > -9007199254740992 ORDER BY until LIMIT 2",
  forget: "DELETE FROM latchkey_passing WHERE workspace = ? AND name = ?",
  sums: `SELECT hour_at, code, count FROM latchkey_statistic
    WHERE workspace = ? AND kind = ? AND subject = ? AND hour_at >= ? AND hour_at < ? ORDER BY hour_at`,
  addSum: `INSERT INTO latchkey_statistic (workspace, kind, subject, hour_at, code, count)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (workspace, kind, subject, hour_at, code) DO UPDATE SET count = min(count + excluded.count, 9007199254740991)`,
  daySums: `SELECT subject, hour_at, code, count FROM latchkey_statistic
    WHERE workspace = ? AND hour_at / 86400000 = ? / 86400000 AND kind = ? AND subject >= ? ORDER BY subject LIMIT ?`,
  nextDay: `SELECT hour_at / 86400000 * 86400000 FROM latchkey_statistic
    WHERE workspace = ? AND hour_at / 86400000 >= ? / 86400000 ORDER BY hour_at / 86400000 LIMIT 1`,
  oldSum:
    "SELECT 1 FROM latchkey_statistic WHERE workspace = ? AND hour_at / 86400000 < ? / 86400000 LIMIT 1",
  deleteSums: `DELETE FROM latchkey_statistic WHERE (workspace, kind, subject, hour_at, code) IN
    (SELECT workspace, kind, subject, hour_at, code FROM latchkey_statistic
    WHERE workspace = ? AND hour_at / 86400000 < ? / 86400000 ORDER BY hour_at / 86400000 LIMIT ?)`,
  deleteSumsOf: `DELETE FROM latchkey_statistic WHERE (workspace, kind, subject, hour_at, code) IN
    (SELECT workspace, kind, subject, hour_at, code FROM latchkey_statistic
    WHERE workspace = ? AND kind = ? AND subject = ? AND hour_at < ? LIMIT ?)`,
  raiseUse: `INSERT INTO latchkey_used (record, at)
    SELECT seq, ? FROM latchkey_record WHERE ${isAt("")}
    ON CONFLICT (record) DO UPDATE SET at = excluded.at WHERE excluded.at > at`,
  deleteUse: "DELETE FROM latchkey_used WHERE record = ?",
  // For a workspace that is being forgotten: its own records and its row go last.
  forgetRecords: `DELETE FROM latchkey_record WHERE seq IN (SELECT seq FROM latchkey_record
    WHERE workspace = ? AND kind > ${KIND_CODE.workspace} LIMIT ?) RETURNING seq, counters`,
  forgetCounters: "DELETE FROM latchkey_counters WHERE seq = ?",
  forgetClaims: ofNames("claim", "value"),
  forgetEntries: ofNames("entry", "owner, id"),
  forgetPassing: ofWorkspace("passing", "name"),
  forgetHolds: ofWorkspace("hold", "id"),
  forgetSums: ofWorkspace("statistic", "kind, subject, hour_at, code"),
  forgetNames: "DELETE FROM latchkey_name WHERE workspace = ?",
  forgetOwn: "DELETE FROM latchkey_record WHERE workspace = ?",
  forgetWorkspace: "DELETE FROM latchkey_workspace WHERE seq = ?",
} as const;

/** Parameters of the statements that find a record by its id. */
export function addressOf(workspace: number, { kind, id }: RecordAddress) {
  return [workspace, KIND_CODE[kind], id, id] as const;
}

/** Whether a list is the list of all records of a kind. */
export function isOfKind({ list, of }: Pick<ListEntry, "list" | "of">): boolean {
  return of === undefined && Object.hasOwn(KIND_CODE, list);
}

export type Statements = Readonly<Record<keyof typeof SQL, Statement>>;

/** The statements of a database. Each is prepared on first use: preparing all of them costs as much as a hundred verifications. */
export function statementsOf(database: SqliteDatabase): Statements {
  const statements = {};
  for (const [name, sql] of Object.entries(SQL))
    Object.defineProperty(statements, name, {
      configurable: true,
      get() {
        const statement = database.prepare(sql).safeIntegers(false);
        const value = /^(SELECT|PRAGMA)/.test(sql) ? statement.raw(true) : statement;
        Object.defineProperty(statements, name, { value });
        return value;
      },
    });
  return statements as Statements;
}
