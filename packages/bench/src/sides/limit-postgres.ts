import { hash as digest } from "node:crypto";
import type pg from "pg";
import type { KeyRow } from "../fixture/rows.js";
import { chargedLimits, type Question } from "../questions.js";
import { isGranted, isInRange, missingOf, rangeOf } from "./grants.js";
import { functionOf, SCHEMA, SELECT, SEPARATOR } from "./limit-postgres-sql.js";
import type { Verify } from "./side.js";
import {
  type LimitVerdict,
  limitVerdict,
  NOT_FOUND,
  shownLimit,
  unpermitted,
  type VerdictKey,
} from "./verdict.js";

const SWEEP_MS = 1_000;

/** The row of the SELECT, and of the function after its code. All fields are text; empty: absent. */
type Fields = [
  keyId: string,
  apiId: string,
  enabled: string,
  expires: string,
  permissions: string,
  remaining: string,
  identityId: string,
  externalId: string,
  ...counts: string[],
];
const FIRST_COUNT = 8;

/**
 * The hand-written limit on PostgreSQL. If the question counts nothing: one prepared SELECT by hash; otherwise one prepared call of a
 * function written for the question, which locks the row, checks and updates it. All pools on one schema share the keys; the first one
 * writes them.
 *
 * @param rows - Keys to write first; empty if another process has written them.
 */
export async function postgresLimit(
  pool: pg.Pool,
  rows: readonly KeyRow[],
  question: Question,
): Promise<Verify> {
  const { anyOf, address, hasRequestId, keys } = question;
  const limits = chargedLimits(question);
  const isAddressGood = isInRange(rangeOf(keys.addresses), address);
  if (rows.length > 0) await writeRows(pool, rows, question);
  const isCounted = keys.remaining !== null || limits.length > 0;
  const text = isCounted ? "SELECT verify($1, $2, $3, $4)" : SELECT;
  let sweptAt = 0;

  return async (secret, requestId) => {
    const hash = digest("sha256", secret, "base64url");
    const now = Date.now();
    if (!isCounted) {
      const found = await firstRow<Fields>([hash]);
      return found === undefined ? NOT_FOUND : decide(found, now);
    }
    const request = hasRequestId ? requestId : null;
    const [answer = null] = (await firstRow<[string]>([hash, now, isAddressGood, request])) ?? [];
    if (hasRequestId && now - sweptAt >= SWEEP_MS) {
      sweptAt = now;
      await pool.query("DELETE FROM requests WHERE until <= $1", [now]);
    }
    if (answer === null) return NOT_FOUND;
    const [code = "", ...fields] = answer.split(SEPARATOR);
    return verdictOf(code, fields as Fields, now);
  };

  async function firstRow<Row extends unknown[]>(values: unknown[]): Promise<Row | undefined> {
    const { rows } = await pool.query<Row>({ name: "verify", text, values, rowMode: "array" });
    return rows[0];
  }

  /** The verdict of a question that counts nothing. */
  function decide(fields: Fields, now: number): LimitVerdict {
    const [, , enabled, expires, granted] = fields;
    if (enabled !== "t") return verdictOf("DISABLED", fields, now);
    if (expires !== "" && now >= Number(expires)) return verdictOf("EXPIRED", fields, now);
    if (!isAddressGood) return verdictOf("FORBIDDEN", fields, now);
    const isPermitted = anyOf === null || isGranted(new Set(granted.split(" ")), anyOf);
    return verdictOf(isPermitted ? "VALID" : "INSUFFICIENT_PERMISSIONS", fields, now);
  }

  function verdictOf(code: string, fields: Fields, now: number): LimitVerdict {
    const [keyId, apiId, , expiry, granted, left, identityId, externalId] = fields;
    const permissions = granted.split(" ");
    const remaining = left === "" ? null : Number(left);
    const expires = expiry === "" ? null : Number(expiry);
    const identity = identityId === "" ? null : { id: identityId, externalId };
    const shown: VerdictKey = { keyId, apiId, permissions, expires, identity };
    if (code === "INSUFFICIENT_PERMISSIONS")
      return unpermitted(shown, remaining, missingOf(new Set(permissions), anyOf ?? []), now);
    const isEnabled =
      code !== "DISABLED" && code !== "EXPIRED" && !(code === "USAGE_EXCEEDED" && remaining === 0);
    // A refusal because of the record has no counts.
    const seen = fields.length > FIRST_COUNT ? limits : [];
    const counts = seen.map((limit, index) => {
      const startedAt = Number(fields[FIRST_COUNT + 2 * index]);
      const used = Number(fields[FIRST_COUNT + 2 * index + 1]);
      const isExceeded = code === "RATE_LIMITED" && used + limit.cost > limit.shape.limit;
      return shownLimit(limit, used, startedAt, isExceeded);
    });
    return limitVerdict(shown, code, isEnabled, remaining, counts, now);
  }
}

/** Creates the tables and the function, and writes the keys. */
async function writeRows(
  pool: pg.Pool,
  rows: readonly KeyRow[],
  question: Question,
): Promise<void> {
  await pool.query(SCHEMA + functionOf(question));
  const known = rows.filter(({ shape }) => shape.isKnown);
  await pool.query(
    `INSERT INTO keys (hash, id, api_id, identity_id, enabled, expires, permissions, remaining)
     SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[], $6::bigint[], $7::text[], $8::bigint[])`,
    [
      known.map(({ secret }) => digest("sha256", secret, "base64url")),
      known.map(({ keyId }) => keyId),
      known.map(({ apiId }) => apiId),
      known.map(({ identity }) => identity?.id ?? null),
      known.map(({ shape }) => shape.enabled),
      known.map(({ expires }) => expires),
      known.map(({ shape }) => shape.permissions.join(" ")),
      known.map(({ shape }) => shape.remaining),
    ],
  );
  const identities = known.flatMap(({ identity }) => identity ?? []);
  await pool.query(
    `INSERT INTO identities (id, external_id) SELECT * FROM unnest($1::text[], $2::text[])
     ON CONFLICT DO NOTHING`,
    [identities.map(({ id }) => id), identities.map(({ externalId }) => externalId)],
  );
}
