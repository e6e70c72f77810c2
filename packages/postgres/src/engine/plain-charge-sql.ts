/** What a plain charge consists of: there is a statement for each combination. */
export interface PlainShape {
  /** How many records it confirms. */
  readonly records: number;
  /** From how many limits it takes. */
  readonly limits: number;
  /** Whether a refill may be due. */
  readonly hasRefill: boolean;
}

/**
 * A charge that is alone, as a plain statement. It does what the function `charge` does, by the same rules (migrations/rules.ts), in
 * a third of the server's time: PL/pgSQL prepares each of its expressions anew in every transaction.
 *
 * It decides on one snapshot, in which records and counters belong together, and writes only if the counters are still those of
 * the snapshot, as `xmin` tells. If they are not, or if anything else is not as the plan knows it, nothing is done and there is no
 * row: the function then says what it is. It locks one row, so that nobody can wait for it in a circle.
 *
 * Parameters: now, workspace, revision or null, mode, cost; of each record kind, id and version, the one with the counters first; of each
 * limit name, limit, duration and cost; of a refill amount and instant. It answers as the function does. `OFFSET 0` keeps the planner
 * from writing out an expression wherever its name stands. Functions are named with their schema, and operators get exactly the types
 * that one of PostgreSQL's own takes: what another role makes in `public` would be preferred to one that has to cast.
 */
export function plainChargeSql({ records, limits, hasRefill }: PlainShape): string {
  const ofRecords = repeated(records, 6, ["kind", "id", "version"]);
  const ofLimits = repeated(limits, 6 + 3 * records, ["name", "limit", "duration", "cost"]);
  const ofRefill = repeated(hasRefill ? 1 : 0, 6 + 3 * records + 4 * limits, ["amount", "due"]);
  const isDue = ofRefill("latchkey.is_due(c.remaining, c.refilled_at, $due::bigint)") || "false";
  const remaining =
    ofRefill(`latchkey.refilled(c.remaining, $amount::bigint, ${isDue})`) || "c.remaining";
  return `WITH decided AS MATERIALIZED (
    SELECT c.seq, c.xmin AS found, b.is_due, d.kind, latchkey.after(d.kind, b.remaining, -$5::bigint) AS remaining
      ${ofLimits(", b.start#::text || ':' || latchkey.after(d.kind, b.used#, $cost::bigint)::text AS window#")},
      d.kind = 'charged' AND $4::text = 'commit' AND (${limits > 0} OR b.is_due OR ($5::bigint > 0 AND b.remaining IS NOT NULL)) AS moves
    FROM latchkey.workspace w
    ${ofRecords("JOIN latchkey.record r# ON r#.workspace = w.seq AND r#.kind = $kind::smallint AND r#.id = $id AND r#.version = $version::bigint ")}
    JOIN latchkey.counters c ON c.seq = r1.counters
    CROSS JOIN LATERAL (SELECT $1::bigint AS now_at ${ofLimits(", c.windows ->> $name::text AS stored#")} OFFSET 0) a
    CROSS JOIN LATERAL (SELECT ${isDue} AS is_due, ${remaining} AS remaining
      ${ofLimits(`, latchkey.window_start(a.stored#, a.now_at, $duration::bigint) AS start#,
      latchkey.window_used(a.stored#, latchkey.window_start(a.stored#, a.now_at, $duration::bigint)) AS used#`)} OFFSET 0) b
    CROSS JOIN LATERAL (SELECT latchkey.decision(${ofLimits("b.used# + $cost::bigint > $limit::bigint OR ")} false, b.remaining, $5::bigint) AS kind OFFSET 0) d
    WHERE w.id = $2 AND ($3::bigint IS NULL OR w.revision = $3::bigint) AND coalesce(c.remaining, 0) >= 0
      ${ofLimits("AND latchkey.is_window(a.stored#) ")} AND pg_catalog.current_setting('transaction_isolation') = 'read committed'
  ), taken AS (
    UPDATE latchkey.counters c SET remaining = d.remaining, windows = c.windows${ofLimits(" || pg_catalog.jsonb_build_object($name::text, d.window#)")}
      ${ofRefill(`, refilled_at = CASE WHEN d.is_due THEN $due::bigint ELSE c.refilled_at END,
      last_refill_at = CASE WHEN d.is_due THEN $due::bigint ELSE c.last_refill_at END`)}
    FROM decided d WHERE c.seq = d.seq AND c.xmin = d.found AND d.moves RETURNING 1
  )
  SELECT pg_catalog.concat_ws(' ', d.kind, coalesce(d.remaining::text, '-')${ofLimits(", d.window#")})
    FROM decided d WHERE NOT d.moves OR EXISTS (SELECT FROM taken)`;
}

/** Writes SQL `count` times: with the numbers from 1 on in the place of `#`, and of parameters in the place of their names. */
function repeated(count: number, first: number, names: readonly string[]): (sql: string) => string {
  const parameter = (name: string, n: number) =>
    `$${first + n * names.length + names.indexOf(name)}`;
  return (sql) =>
    Array.from({ length: count }, (_, n) =>
      sql
        .replaceAll("#", String(n + 1))
        .replace(/\$([a-z]+)/g, (_all, name: string) => parameter(name, n)),
    ).join("");
}
