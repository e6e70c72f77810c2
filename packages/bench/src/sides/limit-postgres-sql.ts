import { type ChargedLimit, chargedLimits, type Question } from "../questions.js";

const REMEMBER_MS = 600_000;

/** Separates the fields of the function's answer. No field contains it. */
export const SEPARATOR = "\u001f";

/** Counts of limits are columns, for two limits of a key and two of an identity. The fill factors leave room for new versions of rows. */
export const SCHEMA = `
  CREATE TABLE keys (
    remaining bigint, started0 bigint DEFAULT 0, used0 bigint DEFAULT 0, started1 bigint DEFAULT 0, used1 bigint DEFAULT 0,
    expires bigint, enabled boolean, hash text COLLATE "C" PRIMARY KEY, id text, api_id text, identity_id text,
    permissions text) WITH (fillfactor = 70);
  CREATE TABLE identities (
    started0 bigint DEFAULT 0, used0 bigint DEFAULT 0, started1 bigint DEFAULT 0, used1 bigint DEFAULT 0,
    id text COLLATE "C" PRIMARY KEY, external_id text) WITH (fillfactor = 50);
  CREATE TABLE requests (id text COLLATE "C" PRIMARY KEY, reply text, until bigint);
  CREATE INDEX requests_until ON requests (until);`;

/** Answers a question that counts nothing. No identity is involved then. */
export const SELECT = `SELECT id, api_id, CASE WHEN enabled THEN 't' ELSE 'f' END, coalesce(expires::text, ''), permissions,
  coalesce(remaining::text, ''), '', '' FROM keys WHERE hash = $1`;

/** The SQL function that answers a question that counts something. It contains only what the question needs. */
export function functionOf(question: Question): string {
  const { anyOf, cost, hasRequestId, keys } = question;
  const limits = chargedLimits(question);
  const hasIdentity = keys.identityLimits !== null;
  const isOver = limits.map(({ shape, cost: taken }, n) => `u${n} + ${taken} > ${shape.limit}`);
  const keySets = ["remaining = k.remaining", ...assignments(limits, "key")];
  const request = "k.id || ' ' || request";
  return `
  CREATE FUNCTION verify(wanted text, at bigint, is_address_good boolean, request text) RETURNS text LANGUAGE plpgsql AS $$
  DECLARE
    k keys; i identities; code text; answer text;
    ${limits.map((_, n) => `w${n} bigint; u${n} bigint;`).join(" ")}
  BEGIN
    SELECT * INTO k FROM keys WHERE hash = wanted FOR UPDATE;
    IF NOT FOUND THEN RETURN NULL; END IF;
    ${when(hasIdentity, "SELECT * INTO i FROM identities WHERE id = k.identity_id FOR UPDATE;")}
    code := CASE
      WHEN NOT k.enabled THEN 'DISABLED'
      WHEN k.expires <= at THEN 'EXPIRED'
      WHEN NOT is_address_good THEN 'FORBIDDEN'
      ${when(anyOf !== null, `WHEN NOT (${grantedSql(anyOf ?? [])}) THEN 'INSUFFICIENT_PERMISSIONS'`)}
    END;
    IF code IS NULL THEN
      ${when(
        hasRequestId,
        `SELECT reply INTO answer FROM requests WHERE id = ${request} AND until > at;
      IF FOUND THEN RETURN answer; END IF;`,
      )}
      ${limits.map(readingOf).join("\n      ")}
      IF ${isOver.join(" OR ") || "false"} THEN code := 'RATE_LIMITED';
      ELSIF k.remaining < ${cost} THEN code := 'USAGE_EXCEEDED';
      ELSE
        code := 'VALID';
        k.remaining := k.remaining - ${cost};
        ${limits.map(({ cost: taken }, n) => `u${n} := u${n} + ${taken};`).join(" ")}
        UPDATE keys SET ${keySets.join(", ")} WHERE hash = wanted;
        ${when(hasIdentity, `UPDATE identities SET ${assignments(limits, "identity").join(", ")} WHERE id = i.id;`)}
      END IF;
    END IF;
    answer := concat_ws(chr(31), code, k.id, k.api_id, k.enabled, coalesce(k.expires::text, ''), k.permissions,
      coalesce(k.remaining::text, ''), coalesce(i.id, ''), coalesce(i.external_id, '')
      ${limits.map((_, n) => `, w${n}, u${n}`).join("")});
    ${when(
      hasRequestId,
      `INSERT INTO requests VALUES (${request}, answer, at + ${REMEMBER_MS})
      ON CONFLICT (id) DO UPDATE SET reply = excluded.reply, until = excluded.until;`,
    )}
    RETURN answer;
  END $$;`;
}

function when(isNeeded: boolean, sql: string): string {
  return isNeeded ? sql : "";
}

/** SQL that reads the start of a limit's window, and the units used in it. */
function readingOf({ owner, slot, shape: { duration } }: ChargedLimit, n: number): string {
  const row = owner === "key" ? "k" : "i";
  return `w${n} := at - at % ${duration}; u${n} := CASE WHEN ${row}.started${slot} = w${n} THEN ${row}.used${slot} ELSE 0 END;`;
}

function assignments(
  limits: readonly ChargedLimit[],
  wanted: ChargedLimit["owner"],
): readonly string[] {
  return limits.flatMap(({ owner, slot }, n) =>
    owner === wanted ? [`started${slot} = w${n}, used${slot} = u${n}`] : [],
  );
}

/** SQL that tells whether the permissions of a row, separated by spaces, satisfy any of the lists. */
function grantedSql(anyOf: readonly (readonly string[])[]): string {
  const has = (name: string) => `position(' ${name} ' in ' ' || k.permissions || ' ') > 0`;
  return anyOf.map((all) => `(${all.map(has).join(" AND ")})`).join(" OR ");
}
