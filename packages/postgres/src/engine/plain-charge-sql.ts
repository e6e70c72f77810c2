import { type PlainHold, type PlainLimit, takenHold } from "./plain-hold-sql.js";

/** The shape of a plain charge: there is a statement for each combination. */
export interface PlainShape {
  /** How many records it confirms. */
  readonly records: number;
  /** How the limits that it takes from count. */
  readonly limits: readonly PlainLimit[];
  /** Whether a refill may be due. */
  readonly hasRefill: boolean;
  /** The hold that it takes, beside the counters of all records that it confirms; null for none. */
  readonly hold: PlainHold | null;
}

/**
 * A single charge as a plain statement. It does what the function `charge` does, by the same rules (migrations/rules.ts), in a third of
 * the server's time: PL/pgSQL prepares each of its expressions anew in every transaction.
 *
 * It decides on one snapshot, in which records and counters belong together, and writes only if the counters are still those of the
 * snapshot, as `xmin` tells. If they are not, if anything else is not as the plan knows it, or if holds have to be settled first, nothing
 * is done and there is no row: the function then says why. It locks one row, so that no transactions can wait for each other in a circle.
 *
 * Parameters: now, workspace, revision or null, mode, cost; for each record kind, id and version, the one with the counters first; for
 * each limit name, limit, duration, cost and, for a bucket, burst; for a refill amount and instant. It answers as the function does.
 * `OFFSET 0` keeps the planner from writing out an expression wherever its name stands. Functions are named with their schema, and
 * operators get exactly the types of PostgreSQL's own: an operator that another role creates in `public` would be preferred to one that
 * has to cast.
 */
export function plainChargeSql({ records, limits, hasRefill, hold }: PlainShape): string {
  const ofRecords = repeated(Array(records).fill(["kind", "id", "version"]), 6);
  const columns = limits.map((algorithm) => COUNTING[algorithm].parameters);
  const ofLimits = repeated(columns, 6 + 3 * records);
  const ofEach = (part: keyof Counting) =>
    ofLimits((_, index) => String(COUNTING[limits[index] as PlainLimit][part]));
  const before = 6 + 3 * records + columns.flat().length;
  const ofRefill = repeated(hasRefill ? [["amount", "due"]] : [], before);
  const isDue = ofRefill("latchkey.is_due(c.remaining, c.refilled_at, $due::bigint)") || "false";
  const remaining =
    ofRefill(`latchkey.refilled(c.remaining, $amount::bigint, ${isDue})`) || "c.remaining";
  const afterRefill = before + (hasRefill ? 2 : 0);
  const held = hold && takenHold(hold, records, limits, afterRefill, ofLimits);
  const others = Array.from({ length: records - 1 }, (_, index) => index + 2);
  return `WITH decided AS MATERIALIZED (
    SELECT c.seq, c.xmin AS found, b.is_due, d.kind, latchkey.after(d.kind, b.remaining, -$5::bigint) AS remaining
      ${ofEach("state")},
      ${held?.columns ?? ""}
      d.kind = 'charged' AND $4::text = 'commit' AND (${limits.length > 0 || hold !== null} OR b.is_due OR ($5::bigint > 0 AND b.remaining IS NOT NULL)) AS moves
    FROM latchkey.workspace w
    ${ofRecords("JOIN latchkey.record r# ON r#.workspace = w.seq AND r#.kind = $kind::smallint AND r#.id = $id AND r#.version = $version::bigint ")}
    JOIN latchkey.counters c ON c.seq = r1.counters
    ${others.map((at) => `LEFT JOIN LATERAL (SELECT o.seq, o.xmin, o.holds FROM latchkey.counters o WHERE o.seq = r${at}.counters OFFSET 0) c${at} ON true`).join(" ")}
    CROSS JOIN LATERAL (SELECT $1::bigint AS now_at ${ofLimits(", c.windows ->> $name::text AS stored#")} OFFSET 0) a
    CROSS JOIN LATERAL (SELECT ${isDue} AS is_due, ${remaining} AS remaining ${ofEach("standing")} OFFSET 0) b
    ${held?.standing ?? ""}
    CROSS JOIN LATERAL (SELECT latchkey.decision(${ofEach("isOver")} false, b.remaining, $5::bigint) AS kind OFFSET 0) d
    WHERE w.id = $2 AND ($3::bigint IS NULL OR w.revision = $3::bigint) AND coalesce(c.remaining, 0) >= 0
      AND latchkey.is_settled(c.holds, $1::bigint) ${others.map((at) => `AND latchkey.is_settled(c${at}.holds, $1::bigint)`).join(" ")}
      ${ofRefill("AND NOT (b.is_due AND ($amount::bigint IS NULL OR latchkey.held_uses(c.holds) > 0))")}
      ${ofLimits("AND latchkey.is_window(a.stored#) ")} AND pg_catalog.current_setting('transaction_isolation') = 'read committed'
      ${held?.hasRoom ?? ""}
  ) ${held?.locks ?? ""}, taken AS (
    UPDATE latchkey.counters c SET remaining = d.remaining, windows = c.windows${ofLimits(" || pg_catalog.jsonb_build_object($name::text, d.window#)")}
      ${ofRefill(`, refilled_at = CASE WHEN d.is_due THEN $due::bigint ELSE c.refilled_at END,
      last_refill_at = CASE WHEN d.is_due THEN $due::bigint ELSE c.last_refill_at END`)} ${held?.sums ?? ""}
    FROM decided d WHERE c.seq = d.seq AND c.xmin = d.found AND d.moves ${held?.areLocked ?? ""} RETURNING 1
  ) ${held?.writes ?? ""}
  SELECT pg_catalog.concat_ws(' ', d.kind, coalesce(d.remaining::text, '-')${ofLimits(", d.window#")} ${held?.answer ?? ""})
    FROM decided d WHERE NOT d.moves OR EXISTS (SELECT FROM taken)`;
}

/** How a limit of an algorithm counts, as pieces of SQL. */
interface Counting {
  readonly parameters: readonly string[];
  /** Its state before: at, units used, and those of earlier groups. */
  readonly standing: string;
  readonly isOver: string;
  /** Its state afterwards. */
  readonly state: string;
}

const WINDOW_START = "latchkey.window_start(a.stored#, a.now_at, $duration::bigint)";
const STORED_AT = "pg_catalog.split_part(a.stored#, ':', 1)::bigint";

const LEASED = "pg_catalog.split_part(a.stored#, ':', 3)";

/** The text after what is missing: empty for most buckets. */
const BUCKET_TEXT = `CASE coalesce(${LEASED}, '') WHEN '' THEN '' ELSE latchkey.bucket_text(a.stored#, b.used#, b.start#) END`;

/** A cost larger than the bucket is refused, and must not be multiplied: the product may be too large for a bigint. */
function bucketState(earlier: string): string {
  return `, b.start#::text || ':' || latchkey.after(d.kind, b.used#, least($cost::bigint, $burst::bigint) * $duration::bigint)::text
    || ${earlier} AS window#`;
}

const BUCKET: Counting = {
  parameters: ["name", "limit", "duration", "cost", "burst"],
  standing: `, greatest(a.now_at, ${STORED_AT}) AS start#, coalesce(CASE ${LEASED} WHEN '' THEN latchkey.bucket_missing(
    ${STORED_AT}, pg_catalog.split_part(a.stored#, ':', 2)::bigint, a.now_at, $limit::bigint)
    ELSE latchkey.leased_bucket_missing(a.stored#, a.now_at, $limit::bigint, $duration::bigint) END, 0) AS used#`,
  isOver: "latchkey.ceil_div(b.used#, $duration::bigint) + $cost::bigint > $burst::bigint OR ",
  state: bucketState(BUCKET_TEXT),
};

const COUNTING: Readonly<Record<PlainLimit, Counting>> = {
  fixed: {
    parameters: ["name", "limit", "duration", "cost"],
    standing: `, ${WINDOW_START} AS start#, latchkey.window_used(a.stored#, ${WINDOW_START}) AS used#`,
    isOver: "b.used# + $cost::bigint > $limit::bigint OR ",
    state:
      ", b.start#::text || ':' || latchkey.after(d.kind, b.used#, $cost::bigint)::text AS window#",
  },
  concurrent: {
    parameters: ["name", "limit", "cost"],
    standing: `, greatest(a.now_at, ${STORED_AT}) AS start#, coalesce(pg_catalog.split_part(a.stored#, ':', 2)::bigint, 0) AS used#`,
    isOver: "b.used# + $cost::bigint > $limit::bigint OR ",
    state:
      ", b.start#::text || ':' || latchkey.after(d.kind, b.used#, $cost::bigint)::text AS window#",
  },
  sliding: {
    parameters: ["name", "limit", "duration", "cost"],
    standing: `, greatest(a.now_at, ${STORED_AT}) AS start#,
      coalesce(latchkey.sliding_counts(a.stored#, greatest(a.now_at, ${STORED_AT}), $duration::bigint), '{0}'::bigint[]) AS counts#`,
    isOver: `(SELECT pg_catalog.sum(g.units)::bigint FROM pg_catalog.unnest(b.counts#) g (units)) + $cost::bigint > $limit::bigint OR `,
    state: `, b.start#::text || ':' || latchkey.after(d.kind, b.counts#[1], $cost::bigint)::text
      || coalesce(':' || nullif(pg_catalog.array_to_string(b.counts#[2:], ','), ''), '') AS window#`,
  },
  "token-bucket": BUCKET,
  "leased-bucket": {
    ...BUCKET,
    state: bucketState(
      `CASE d.kind WHEN 'charged' THEN latchkey.leased_text(${BUCKET_TEXT}, $cost::bigint) ELSE ${BUCKET_TEXT} END`,
    ),
  },
  "reserved-bucket": {
    ...BUCKET,
    state: bucketState(
      `CASE WHEN d.kind <> 'charged' OR $4::text <> 'commit' OR pg_catalog.strpos(${LEASED}, ',') > 0 THEN ${BUCKET_TEXT}
      ELSE latchkey.reserved_text(${LEASED}, b.start#) END`,
    ),
  },
};

/**
 * Repeats a piece of SQL for each list of names: `#` becomes the number of the list, from 1 on, and `$<name>` the number of the
 * parameter.
 */
function repeated(lists: readonly (readonly string[])[], first: number) {
  return (sql: string | ((names: readonly string[], index: number) => string)): string => {
    let next = first;
    return lists
      .map((names, index) => {
        const start = next;
        next += names.length;
        const text = typeof sql === "string" ? sql : sql(names, index);
        return text
          .replaceAll("#", String(index + 1))
          .replace(/\$([a-z]+)/g, (_all, name: string) => `$${start + names.indexOf(name)}`);
      })
      .join("");
  };
}
