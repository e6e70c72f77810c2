import { LAST_INSTANT, type LimitAlgorithm } from "@latchkey/core";

/** How a limit counts; for a bucket also whether the units are taken for a lease, or may come back. */
export type PlainLimit = LimitAlgorithm | "leased-bucket" | "reserved-bucket";

/** One hold of a plain charge. */
export interface PlainHold {
  readonly keeps: "all" | "slots";
  /** The record whose counters it takes from: 0 for the first that it confirms, 1 for the second. */
  readonly uses: number;
}

/** Writes a piece of SQL for each limit. */
type OfLimits = (sql: string | ((names: readonly string[], index: number) => string)) => string;

/**
 * The additional parts of a plain charge that holds something, as pieces of SQL. If the hold is beside the counters of two records, both
 * are locked first, in the order of their numbers: so no transactions can wait for each other in a circle.
 *
 * Parameters, from `next` on: id and span, and for each record the most holds that may be open beside it, the one with the uses first.
 */
export function takenHold(
  { keeps, uses }: PlainHold,
  records: number,
  limits: readonly PlainLimit[],
  next: number,
  ofLimits: OfLimits,
) {
  const [id, ttl] = [`$${next}::text`, `$${next + 1}::bigint`];
  const counters = Array.from({ length: records }, (_, index) => ({
    alias: index === 0 ? "c" : `c${index + 1}`,
    // Numbered as in `plainChargeSql`.
    id: `$${7 + 3 * index}`,
    most: `$${next + 2 + index}::bigint`,
    seq: `d.seq_${index}`,
    sums: `d.sums_${index}`,
  }));
  const inOrder = uses === 0 ? counters : [...counters].reverse();
  const [first, second] = inOrder as [(typeof counters)[0], (typeof counters)[0]?];
  const isTwo = second !== undefined;
  const isHeld = (index: number) => keeps === "all" || limits[index] === "concurrent";
  const own = keeps === "all" ? "$5::bigint" : "0::bigint";
  const heldHere = `CASE WHEN d.remaining IS NOT NULL THEN ${own} ELSE 0::bigint END`;
  const held = ofLimits((_, index) => {
    if (!isHeld(index)) return "";
    const figures = ` || ' ${uses}/' || $name::text || '=' || $cost::bigint::text || ':' || d.start#::text || ':'`;
    if (!limits[index]?.endsWith("bucket")) return `${figures} || '0'`;
    return `${figures} || $limit::text || latchkey.flowed_text(pg_catalog.split_part(d.window#, ':', 3))`;
  });
  return {
    columns: `w.seq AS workspace, h.ends_at, ${counters.map(({ alias }, index) => `${alias}.seq AS seq_${index}, ${alias}.xmin AS found_${index}, ${alias}.holds AS sums_${index}`).join(", ")}
      ${ofLimits((_, index) => (isHeld(index) ? ", b.start#" : ""))},`,
    standing: `CROSS JOIN LATERAL (SELECT least($1::bigint + ${ttl}, ${LAST_INSTANT}::bigint) AS ends_at OFFSET 0) h`,
    hasRoom: counters
      .map(
        ({ alias, most }) =>
          `AND ${alias}.seq IS NOT NULL AND coalesce(pg_catalog.split_part(${alias}.holds, ';', 2)::bigint, 0) < ${most}`,
      )
      .join(" "),
    locks: isTwo
      ? `, locked AS MATERIALIZED (
    SELECT c.seq, c.xmin AS found FROM latchkey.counters c
      WHERE c.seq = ANY (ARRAY(SELECT pg_catalog.unnest(ARRAY[d.seq_0, d.seq_1]) FROM decided d WHERE d.moves)) ORDER BY c.seq FOR NO KEY UPDATE
  )`
      : "",
    areLocked: isTwo
      ? `AND (SELECT pg_catalog.count(*) FROM locked l
      WHERE (l.seq = d.seq_0 AND l.found = d.found_0) OR (l.seq = d.seq_1 AND l.found = d.found_1)) = 2`
      : "",
    sums: `, holds = latchkey.sums_with(d.sums_0, d.ends_at, true, ${heldHere})`,
    writes: `${
      isTwo
        ? `, beside AS (
    UPDATE latchkey.counters c SET holds = latchkey.sums_with(d.sums_1, d.ends_at, true, 0::bigint)
    FROM decided d WHERE c.seq = d.seq_1 AND EXISTS (SELECT FROM taken)
  )`
        : ""
    }, held AS (
    INSERT INTO latchkey.hold (expires_at, first, second, workspace, id, value)
      SELECT d.ends_at, ${first.seq}, ${second?.seq ?? "NULL::bigint"}, d.workspace, ${id}, pg_catalog.concat_ws(' ', ${first.id}, ${second?.id ?? "'-'"},
        $1::bigint, d.ends_at, ${ttl}, ${own}, CASE WHEN d.remaining IS NOT NULL THEN '${uses}' ELSE '-' END,
        pg_catalog.concat_ws(',', latchkey.number_of(${first.sums})${isTwo ? `, latchkey.number_of(${second.sums})` : ""})) ${held}
      FROM decided d WHERE EXISTS (SELECT FROM taken)
  )`,
    answer: `, CASE WHEN d.moves THEN ${id} END, CASE WHEN d.moves THEN d.ends_at END`,
  };
}
