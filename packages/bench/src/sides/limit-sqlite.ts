import { hash as digest } from "node:crypto";
import Database from "better-sqlite3";
import type { KeyRow } from "../fixture/rows.js";
import { type ChargedLimit, chargedLimits, type Question } from "../questions.js";
import { isGranted, isInRange, missingOf, rangeOf } from "./grants.js";
import type { Verify } from "./side.js";
import {
  type LimitVerdict,
  limitVerdict,
  NOT_FOUND,
  shownLimit,
  unpermitted,
  type VerdictKey,
} from "./verdict.js";

const REMEMBER_MS = 600_000;
const SWEEP_MS = 1_000;

/** Counts of limits are columns, for two limits of a key and two of an identity. */
const SCHEMA = `
  CREATE TABLE keys (
    hash TEXT PRIMARY KEY, id TEXT, api_id TEXT, identity_id TEXT, enabled INTEGER, expires INTEGER, permissions TEXT,
    remaining INTEGER, started0 INTEGER DEFAULT 0, used0 INTEGER DEFAULT 0, started1 INTEGER DEFAULT 0,
    used1 INTEGER DEFAULT 0) STRICT, WITHOUT ROWID;
  CREATE TABLE identities (
    id TEXT PRIMARY KEY, external_id TEXT, started0 INTEGER DEFAULT 0, used0 INTEGER DEFAULT 0,
    started1 INTEGER DEFAULT 0, used1 INTEGER DEFAULT 0) STRICT, WITHOUT ROWID;
  CREATE TABLE requests (id TEXT PRIMARY KEY, verdict TEXT, until INTEGER) STRICT, WITHOUT ROWID;
  CREATE INDEX requests_until ON requests (until);`;

/** A row of the SELECT: columns 0 to 7, then the counts of the limits that the question takes from. */
type Row = readonly [
  id: string,
  apiId: string,
  enabled: number,
  expires: number | null,
  permissions: string,
  remaining: number | null,
  identityId: string | null,
  externalId: string | null,
  ...counts: number[],
];
const FIRST_COUNT = 8;

/**
 * The hand-written limit on SQLite. If the question counts nothing: a SELECT by hash; otherwise that and the UPDATEs in one immediate
 * transaction. All connections to one path share the keys; the first one writes them.
 *
 * @param synchronous - FULL: every commit is on disk before it is answered.
 */
export function sqliteLimit(
  path: string,
  rows: readonly KeyRow[],
  question: Question,
  synchronous: "NORMAL" | "FULL" = "NORMAL",
): Verify {
  const { anyOf, address, cost, hasRequestId, keys } = question;
  const limits = chargedLimits(question);
  const range = rangeOf(keys.addresses);
  const database = openLimitDatabase(path, rows, synchronous);
  const hasIdentity = keys.identityLimits !== null;
  const isCounted = keys.remaining !== null || limits.length > 0;
  const select = database.prepare(selectOf(limits, hasIdentity)).raw(true);
  const updateKey = database.prepare(updateOf("keys", "hash", limits, "key"));
  const updateIdentity = hasIdentity
    ? database.prepare(updateOf("identities", "id", limits, "identity"))
    : null;
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const recall = database.prepare("SELECT verdict FROM requests WHERE id = ? AND until > ?");
  const remember = database.prepare("INSERT OR REPLACE INTO requests VALUES (?, ?, ?)");
  const sweep = database.prepare("DELETE FROM requests WHERE until <= ?");
  let sweptAt = 0;

  return async (secret, requestId) => {
    const hash = digest("sha256", secret, "base64url");
    if (!isCounted) return decide(hash, null);
    begin.run();
    const verdict = decide(hash, hasRequestId ? requestId : null);
    commit.run();
    return verdict;
  };

  function decide(hash: string, requestId: string | null) {
    const row = select.get(hash) as Row | undefined;
    if (row === undefined) return NOT_FOUND;
    const now = Date.now();
    const [keyId, apiId, enabled, expires, granted, remaining, identityId, externalId] = row;
    const permissions: readonly string[] = JSON.parse(granted);
    const identity =
      identityId === null || externalId === null ? null : { id: identityId, externalId };
    const shown = { keyId, apiId, permissions, expires, identity };
    const refuse = (code: string, isEnabled: boolean) =>
      limitVerdict(shown, code, isEnabled, remaining, [], now);
    if (enabled !== 1) return refuse("DISABLED", false);
    if (expires !== null && now >= expires) return refuse("EXPIRED", false);
    if (!isInRange(range, address)) return refuse("FORBIDDEN", true);
    const held = new Set(permissions);
    if (anyOf !== null && !isGranted(held, anyOf))
      return unpermitted(shown, remaining, missingOf(held, anyOf), now);
    if (requestId === null) return take(hash, row, shown, now);
    const request = `${keyId} ${requestId}`;
    const known = recall.get(request, now) as { verdict: string } | undefined;
    if (known !== undefined) return JSON.parse(known.verdict) as LimitVerdict;
    const verdict = take(hash, row, shown, now);
    remember.run(request, JSON.stringify(verdict), now + REMEMBER_MS);
    if (now - sweptAt >= SWEEP_MS) {
      sweep.run(now);
      sweptAt = now;
    }
    return verdict;
  }

  function take(hash: string, row: Row, shown: VerdictKey, now: number): LimitVerdict {
    const remaining = row[5];
    const counts: { startedAt: number; used: number }[] = [];
    let isLimited = false;
    for (const [index, { shape, cost: taken }] of limits.entries()) {
      const startedAt = now - (now % shape.duration);
      const isSame = row[FIRST_COUNT + 2 * index] === startedAt;
      const used = isSame ? (row[FIRST_COUNT + 2 * index + 1] as number) : 0;
      counts.push({ startedAt, used });
      if (used + taken > shape.limit) isLimited = true;
    }
    const isEmpty = remaining !== null && remaining < cost;
    if (isLimited || isEmpty) {
      const code = isLimited ? "RATE_LIMITED" : "USAGE_EXCEEDED";
      return limitVerdict(
        shown,
        code,
        isLimited || remaining !== 0,
        remaining,
        shownOf(counts, 0),
        now,
      );
    }
    const left = remaining === null ? null : remaining - cost;
    updateKey.run(left, ...countsOf(counts, "key"), hash);
    updateIdentity?.run(...countsOf(counts, "identity"), shown.identity?.id);
    return limitVerdict(shown, "VALID", true, left, shownOf(counts, 1), now);
  }

  function countsOf(
    counts: readonly { startedAt: number; used: number }[],
    wanted: ChargedLimit["owner"],
  ): number[] {
    const values: number[] = [];
    for (const [index, { owner, cost: taken }] of limits.entries()) {
      const { startedAt, used } = counts[index] as { startedAt: number; used: number };
      if (owner === wanted) values.push(startedAt, used + taken);
    }
    return values;
  }

  /** The limits of a verdict. `taken`: 1 if the question was admitted, otherwise 0. */
  function shownOf(counts: readonly { startedAt: number; used: number }[], taken: 0 | 1) {
    return limits.map((limit, index) => {
      const { startedAt, used } = counts[index] as { startedAt: number; used: number };
      const isExceeded = taken === 0 && used + limit.cost > limit.shape.limit;
      return shownLimit(limit, used + taken * limit.cost, startedAt, isExceeded);
    });
  }
}

function openLimitDatabase(path: string, rows: readonly KeyRow[], synchronous: string) {
  const database = new Database(path);
  database.pragma("journal_mode = WAL");
  database.pragma(`synchronous = ${synchronous}`);
  if (rows.length === 0) return database;
  database.exec(SCHEMA);
  const insertKey = database.prepare(
    `INSERT INTO keys (hash, id, api_id, identity_id, enabled, expires, permissions, remaining)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const insertIdentity = database.prepare(
    "INSERT OR IGNORE INTO identities (id, external_id) VALUES (?, ?)",
  );
  database.transaction(() => {
    for (const { secret, keyId, apiId, identity, expires, shape } of rows) {
      if (!shape.isKnown) continue;
      const hash = digest("sha256", secret, "base64url");
      const permissions = JSON.stringify(shape.permissions);
      const enabled = shape.enabled ? 1 : 0;
      const identityId = identity?.id ?? null;
      insertKey.run(
        ...[hash, keyId, apiId, identityId, enabled, expires, permissions, shape.remaining],
      );
      if (identity !== null) insertIdentity.run(identity.id, identity.externalId);
    }
  })();
  return database;
}

function selectOf(limits: readonly ChargedLimit[], hasIdentity: boolean): string {
  const counts = limits.map(
    ({ owner, slot }) => `, ${tableOf(owner)}.started${slot}, ${tableOf(owner)}.used${slot}`,
  );
  const identity = hasIdentity ? "identities.id, identities.external_id" : "NULL, NULL";
  const join = hasIdentity ? "LEFT JOIN identities ON identities.id = keys.identity_id" : "";
  return `SELECT keys.id, keys.api_id, keys.enabled, keys.expires, keys.permissions, keys.remaining, ${identity}
    ${counts.join("")} FROM keys ${join} WHERE keys.hash = ?`;
}

function updateOf(
  table: "keys" | "identities",
  key: string,
  limits: readonly ChargedLimit[],
  wanted: ChargedLimit["owner"],
): string {
  const counts = limits
    .filter(({ owner }) => owner === wanted)
    .map(({ slot }) => `started${slot} = ?, used${slot} = ?`);
  const columns = table === "keys" ? ["remaining = ?", ...counts] : counts;
  return `UPDATE ${table} SET ${columns.join(", ")} WHERE ${key} = ?`;
}

function tableOf(owner: ChargedLimit["owner"]): string {
  return owner === "key" ? "keys" : "identities";
}
