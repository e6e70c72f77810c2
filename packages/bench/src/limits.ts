import { hash as digest } from "node:crypto";
import Database from "better-sqlite3";

/** What both sides of a measurement answer: whether the secret is good, and whatever else they tell. */
export interface Verdict {
  readonly valid: boolean;
}

interface CountedVerdict extends Verdict {
  readonly remaining: number;
  readonly ratelimit: {
    readonly limit: number;
    readonly remaining: number;
    readonly reset: number;
  };
}

/** One side of a measurement. */
export type Verify = (secret: string) => Promise<Verdict>;

const REFUSED: Verdict = { valid: false };

/** The permission that every key of a measurement has, and that its questions may name. */
export const PERMISSION = "docs.read";

/** What a limit has to do: count uses and a window, check a permission. */
export interface LimitWork {
  readonly isCounted: boolean;
  readonly asksPermission: boolean;
}

const WINDOW_MS = 60_000;

interface Row {
  enabled: boolean;
  permissions: ReadonlySet<string>;
  expiresAt: number;
  remaining: number;
  limit: number;
  startedAt: number;
  used: number;
}

/** A map, the hash, the checks; with uses and one window, or without counters. */
export function memoryLimit(
  secrets: readonly string[],
  { isCounted, asksPermission }: LimitWork,
): Verify {
  const rows = new Map<string, Row>();
  for (const secret of secrets) {
    const row = {
      enabled: true,
      permissions: new Set([PERMISSION]),
      expiresAt: 0,
      remaining: 1e12,
      limit: 1e12,
      startedAt: 0,
      used: 0,
    };
    rows.set(digest("sha256", secret, "base64url"), row);
  }
  return async (secret) => {
    const row = rows.get(digest("sha256", secret, "base64url"));
    const now = Date.now();
    if (row === undefined || !row.enabled || (row.expiresAt > 0 && now >= row.expiresAt)) {
      return REFUSED;
    }
    if (asksPermission && !row.permissions.has(PERMISSION)) return REFUSED;
    if (!isCounted) return { valid: true };
    const startedAt = now - (now % WINDOW_MS);
    if (startedAt !== row.startedAt) {
      row.startedAt = startedAt;
      row.used = 0;
    }
    if (row.used >= row.limit || row.remaining <= 0) return REFUSED;
    row.used += 1;
    row.remaining -= 1;
    return counted(row.remaining, row.limit, row.used, startedAt);
  };
}

/** One table, one SELECT; with counters one SELECT and one UPDATE in one immediate transaction. WAL, NORMAL. */
export function sqliteLimit(
  path: string,
  secrets: readonly string[],
  { isCounted, asksPermission }: LimitWork,
): Verify {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma("synchronous = NORMAL");
  database.exec(`CREATE TABLE keys (
    hash TEXT PRIMARY KEY, enabled INTEGER, expires_at INTEGER, remaining INTEGER, max INTEGER, started_at INTEGER,
    used INTEGER, permissions TEXT) STRICT, WITHOUT ROWID`);
  const insert = database.prepare(
    "INSERT INTO keys VALUES (?, 1, 0, 1000000000000, 1000000000000, 0, 0, ?)",
  );
  database.transaction(() => {
    for (const secret of secrets)
      insert.run(digest("sha256", secret, "base64url"), JSON.stringify([PERMISSION]));
  })();
  const select = database
    .prepare(
      "SELECT enabled, expires_at, remaining, max, started_at, used, permissions FROM keys WHERE hash = ?",
    )
    .raw(true);
  const update = database.prepare(
    "UPDATE keys SET remaining = ?, started_at = ?, used = ? WHERE hash = ?",
  );
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  type Columns = readonly [number, number, number, number, number, number, string];

  function look(hash: string): Columns | null {
    const columns = select.get(hash) as Columns | undefined;
    if (columns === undefined) return null;
    const [enabled, expiresAt, , , , , permissions] = columns;
    if (asksPermission && !(JSON.parse(permissions) as string[]).includes(PERMISSION)) return null;
    return enabled === 1 && (expiresAt === 0 || Date.now() < expiresAt) ? columns : null;
  }

  function take(hash: string): Verdict {
    const columns = look(hash);
    if (columns === null) return REFUSED;
    const [, , remaining, max, startedAt, used] = columns;
    const now = Date.now();
    const windowStartedAt = now - (now % WINDOW_MS);
    const usedNow = startedAt === windowStartedAt ? used : 0;
    if (usedNow >= max || remaining <= 0) return REFUSED;
    update.run(remaining - 1, windowStartedAt, usedNow + 1, hash);
    return counted(remaining - 1, max, usedNow + 1, windowStartedAt);
  }

  return async (secret) => {
    const hash = digest("sha256", secret, "base64url");
    if (!isCounted) return { valid: look(hash) !== null };
    begin.run();
    const verdict = take(hash);
    commit.run();
    return verdict;
  };
}

/** What the caller of a counted key is told at the least. */
function counted(
  remaining: number,
  limit: number,
  used: number,
  startedAt: number,
): CountedVerdict {
  const ratelimit = { limit, remaining: limit - used, reset: startedAt + WINDOW_MS };
  return { valid: true, remaining, ratelimit };
}
