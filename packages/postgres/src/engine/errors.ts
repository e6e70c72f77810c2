import { connectionProblem, LatchkeyError, noAnswer, unavailable, unfit } from "@latchkey/core";

/** Meanings of errors that refuse a statement, by their code or its first two characters. */
const REFUSALS: Readonly<Record<string, string>> = {
  "08": "PostgreSQL, or a pooler before it, refused the connection: check the database and the parameters that the URL names",
  "40": "other transactions interfered",
  "53": "PostgreSQL is short of connections, memory or disk",
  "57": "PostgreSQL cancelled the statement, or is starting or stopping",
  "25": "the server takes no writes: it is a standby, or read-only",
  "28": "PostgreSQL refused the user name, the password, or a connection without TLS",
  "3D": "there is no database with that name",
  "55": "something in the database is in use, or in a state that does not allow it",
  "58": "the operating system of the server failed",
  "25P02":
    "the pool gave a connection inside a transaction of its owner that has failed: end it before you release the connection",
  "25006": "the server takes no writes: it is a standby, or has default_transaction_read_only on",
  "53100": "PostgreSQL has no space left on its disk",
  "53200": "PostgreSQL has no memory left",
  "53300":
    "PostgreSQL has no connection left (max_connections, or CONNECTION LIMIT of the role or database): raise it, or lower maxConnections",
  "55P03": "a lock could not be acquired in time: the role or database may have a lock_timeout",
  "57P05": "PostgreSQL ended the idle connection: its idle_session_timeout may be too short",
  "57014": "PostgreSQL cancelled the statement: its statement_timeout may be too short",
  XX: "PostgreSQL, or a proxy before it, ended the connection",
};

const UNPREPARED =
  "a pooler in between, such as a PgBouncer before 1.21, does not keep prepared statements, or the application has dropped them (DISCARD, DEALLOCATE): set preparedStatements: false";

const NOT_OURS =
  "the schema has a table, view or type with a name that latchkey needs, and no version of latchkey's tables: give latchkey another schema, or, if the tables are latchkey's, restore schema_version from a backup";

/** Errors of the setup, and not of the moment. */
const UNFIT: Readonly<Record<string, string>> = {
  "26000": UNPREPARED,
  "42P05": UNPREPARED,
  "42501":
    "the role lacks a right that latchkey needs: see the README of @latchkey/postgres for the list. In a database without tables of latchkey, first call migrate with a role that may create them",
  "42P01": "tables of latchkey are missing: call migrate of @latchkey/postgres",
  "42883": "functions of latchkey are missing: call migrate of @latchkey/postgres",
  "42P07": NOT_OURS,
  "42710": NOT_OURS,
  "42809": NOT_OURS,
  "42P16": NOT_OURS,
  "3F000": "the schema of latchkey is missing: call migrate of @latchkey/postgres",
  LK001:
    'the database has a default_transaction_isolation other than "read committed", which latchkey needs: set it for the role',
};

/** Codes with which a new row is refused if its number comes from a sequence that was left behind. */
const NUMBER_TAKEN = ["23502", "23505"];
const SEQUENCES =
  ": if the tables were copied without their sequences, as logical replication copies them, set the sequences: see the README of @latchkey/postgres";

/** The code of a server error, such as `40P01`; null for every other error. */
export function serverCode(error: unknown): string | null {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) && typeof severity === "string"
    ? code
    : null;
}

/** The server ended an idle connection (`idle_session_timeout`), before it looked at what was sent meanwhile. */
const IDLE_ENDED = "57P05";

/**
 * Whether a statement did nothing, and may succeed if it is sent again in a moment: the server has rolled it back because of others, or
 * ended the connection before the statement began. It cannot take effect twice.
 */
export function isWithoutEffect(error: unknown): boolean {
  return ["40001", "40P01", IDLE_ENDED].includes(serverCode(error) ?? "");
}

/** What other error codes of Node.js say about a failed connection to PostgreSQL. */
const CONNECTION_CODES: readonly (readonly [codes: RegExp, sentence: string])[] = [
  [/^ENOTFOUND$/, "its host was not found: check the name in the URL or the pool"],
  [/^ETIMEDOUT$/, "its address did not answer in time: check host, port and firewalls"],
  [/^(ECONNRESET|EPIPE)$/, "the connection was lost"],
  [/^(ENOENT|EISDIR)$/, "no such socket, or no such certificate file as the URL names"],
  [/^EACCES$/, "this process may not open its socket, or a certificate file that the URL names"],
  [
    /CERT|ISSUER|LEAF_SIGNATURE|^INVALID_(CA|PURPOSE)$/,
    "its certificate is not trusted: name its CA in the URL (sslrootcert) or in ssl",
  ],
  [/^ERR_(SSL|TLS|OSSL)_/, "the TLS handshake failed"],
];

/** Errors that node-postgres reports with a text and no code. */
const CONNECTION_TEXTS: readonly (readonly [text: RegExp, sentence: string])[] = [
  [/^SASL: .*password must be/, "PostgreSQL asks for a password: set one in the URL or the pool"],
  [/does not support SSL/, "the server has no TLS: turn it on there, or set sslmode=disable"],
  [
    /^timeout exceeded when trying to connect$/,
    "no connection of the pool was free within its connectionTimeoutMillis: raise that, or max of the pool",
  ],
  [
    /connection timeout$/,
    "its address did not answer within connectionTimeoutMillis of the pool: check host, port and firewalls",
  ],
  [/^Cannot use a pool after calling end/, "its owner has ended the pool"],
];

/** The error that a caller gets if there was no connection: nothing was sent. @see translateError */
export function notConnected(error: unknown): unknown {
  if (error instanceof LatchkeyError || error instanceof TypeError || serverCode(error) !== null)
    return translateError(error, false);
  const code = String((error as { code?: unknown } | null)?.code);
  const { message = "" } = (error ?? {}) as { readonly message?: string };
  const cause =
    connectionProblem(code, CONNECTION_CODES) ??
    CONNECTION_TEXTS.find(([text]) => text.test(message))?.[1] ??
    "the connection was lost, or TLS was requested from a server without it";
  return unavailable(`PostgreSQL is not connected: ${cause}`);
}

/**
 * The error that a caller gets instead of the driver's, whose text may contain what was sent. A statement that the server refuses has
 * done nothing, because each is its own transaction; if the server closes the connection instead, or does not reply, the outcome is
 * unknown.
 */
export function translateError(error: unknown, isWrite: boolean): unknown {
  if (error instanceof LatchkeyError || error instanceof TypeError) return error;
  const code = serverCode(error);
  if (code === null) {
    const isLate = Object(error).message === "Query read timeout";
    const why = isLate
      ? "PostgreSQL did not answer within query_timeout of the pool"
      : "the connection was lost before the answer came";
    return noAnswer(isWrite, why);
  }
  const why = UNFIT[code];
  if (why !== undefined) return unfit(`${why} (${code})`);
  const group = code.slice(0, 2);
  const { severity } = error as { severity?: unknown };
  // Above the severity ERROR the connection has ended, and the message of a proxy or a crash says nothing about the stored data.
  if (["22", "23", "XX"].includes(group) && severity === "ERROR")
    return new LatchkeyError(
      "STORE_CORRUPT",
      `the stored data is not what was written (${code})${NUMBER_TAKEN.includes(code) ? SEQUENCES : ""}`,
    );
  const message = `${REFUSALS[code] ?? REFUSALS[group] ?? "PostgreSQL could not run the statement"} (${code})`;
  const isOver = code === IDLE_ENDED || (severity === "ERROR" && code !== "40003");
  return isOver ? unavailable(message) : noAnswer(isWrite, message);
}
