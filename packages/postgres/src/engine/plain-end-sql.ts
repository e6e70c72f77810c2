import { REMEMBER_END_MS } from "@latchkey/core";

/**
 * The end of a single hold, as a plain statement: it does what the function `settle` does, by the same rules (migrations/hold-rules.ts),
 * in a third of the server's time. See `plain-charge-sql.ts` for how it is written.
 *
 * It decides on one snapshot, locks the counters that the hold is beside in the order of their numbers, and writes only if they are still
 * those of the snapshot. If they are not, or if there is more to do, nothing is done and there is no row: the function then says why.
 * There is more to do if slots come back beside other units, if the workspace keeps a window, if uses were set, refills made or windows
 * emptied since the hold was taken, or if other holds beside the same counters are over.
 *
 * Parameters: workspace, revision or null, now, id, uses or null, names and costs of limits, whether limits that are not named were used
 * in full, and whether other holds that are over stay.
 */
export const PLAIN_END = `WITH found AS MATERIALIZED (
    SELECT w.seq AS workspace, h.first, h.second, h.value, v.words, u.used, u.uses
    FROM latchkey.workspace w
    JOIN latchkey.hold h ON h.workspace = w.seq AND h.id = $4::text
    CROSS JOIN LATERAL (SELECT pg_catalog.string_to_array(h.value, ' ') AS words OFFSET 0) v
    CROSS JOIN LATERAL (
      SELECT x.used, x.is_over, coalesce($5::text::bigint, v.words[6]::bigint) AS uses
      FROM latchkey.used_units(v.words[9:], $6::text::text[], $7::text::bigint[], $8::text::boolean) x OFFSET 0
    ) u
    WHERE w.id = $1 AND ($2::text IS NULL OR w.revision = $2::text::bigint) AND h.first IS NOT NULL AND h.expires_at > $3::text::bigint
      AND latchkey.is_hold(h.value, v.words) AND pg_catalog.strpos(h.value, ' -/') = 0 AND u.used IS NOT NULL AND NOT u.is_over AND u.uses <= v.words[6]::bigint
      AND NOT EXISTS (SELECT FROM latchkey.hold s WHERE s.workspace = w.seq AND s.id = $4::text || '.s')
      AND pg_catalog.current_setting('transaction_isolation') = 'read committed'
  ), counted AS MATERIALIZED (
    SELECT c.seq, c.xmin AS found, p.place, c.refilled_at, c.last_refill_at, c.windows || coalesce(b.windows, '{}'::jsonb) AS windows,
      c.remaining + q.held - CASE WHEN q.held > 0 THEN f.uses ELSE 0::bigint END AS remaining,
      latchkey.sums_without(c.holds, n.next_end, q.held) AS holds
    FROM found f
    CROSS JOIN LATERAL (VALUES (0, f.first), (1, f.second)) p (place, seq)
    JOIN latchkey.counters c ON c.seq = p.seq
    CROSS JOIN LATERAL (SELECT pg_catalog.split_part(f.words[8], ',', p.place + 1)::bigint AS number,
      CASE f.words[7] WHEN p.place::text THEN f.words[6]::bigint ELSE 0::bigint END AS held OFFSET 0) q
    CROSS JOIN LATERAL (SELECT least(
      (SELECT o.expires_at FROM latchkey.hold o WHERE o.first = c.seq AND o.id <> $4::text ORDER BY o.expires_at LIMIT 1),
      (SELECT o.expires_at FROM latchkey.hold o WHERE o.second = c.seq AND o.id <> $4::text ORDER BY o.expires_at LIMIT 1)) AS next_end OFFSET 0) n
    LEFT JOIN LATERAL (
      SELECT pg_catalog.jsonb_object_agg(m.of_window, CASE WHEN m.mark = 't' AND pg_catalog.starts_with($4::text, 'lse_')
        THEN latchkey.after_lease(m.stored, m.duration, m.rate, m.units, m.units - f.used[m.number], $3::text::bigint)
        ELSE latchkey.after_return(pg_catalog.split_part(m.stored, ':', 1)::bigint,
        pg_catalog.split_part(m.stored, ':', 2)::bigint, pg_catalog.split_part(m.stored, ':', 3), m.mark, m.duration, m.held_at, m.rate,
        m.units - f.used[m.number], $3::text::bigint, latchkey.flowed_before(f.words[8::bigint + m.number])) END) AS windows, pg_catalog.bool_and(latchkey.is_window(m.stored)) AS are_windows
      FROM (
        SELECT u.*, c.windows ->> u.of_window AS stored FROM latchkey.units_of(f.words[9:]) u WHERE u.owner = p.place::text OFFSET 0
      ) m WHERE m.mark IS NOT NULL AND m.stored IS NOT NULL
        AND (m.units > f.used[m.number] OR pg_catalog.starts_with($4::text, 'lse_'))
    ) b ON true
    WHERE latchkey.are_sums(c.holds) AND coalesce(c.remaining, 0) >= 0 AND latchkey.is_untouched(c.holds, q.number)
      AND coalesce(b.are_windows, true) AND (coalesce(n.next_end > $3::text::bigint, true) OR $9::text::boolean OR pg_catalog.starts_with($4::text, 'lse_'))
  ), locked AS MATERIALIZED (
    SELECT c.seq, c.xmin AS found FROM latchkey.counters c WHERE c.seq IN (SELECT d.seq FROM counted d) ORDER BY c.seq FOR NO KEY UPDATE
  ), going AS MATERIALIZED (
    SELECT f.*, o.remaining, o.refilled_at, o.last_refill_at FROM found f
    LEFT JOIN counted o ON o.place::text = f.words[7]
    WHERE (SELECT pg_catalog.count(*) FROM locked l JOIN counted d ON d.seq = l.seq AND d.found = l.found)
      = (CASE WHEN f.second IS NULL THEN 1 ELSE 2 END)::bigint
  ), moved AS (
    UPDATE latchkey.counters c SET remaining = d.remaining, windows = d.windows, holds = d.holds
    FROM going g CROSS JOIN counted d WHERE c.seq = d.seq
  ), gone AS (
    DELETE FROM latchkey.hold h USING going g WHERE h.workspace = g.workspace AND h.id = $4::text
  ), answer AS MATERIALIZED (
    SELECT g.workspace, pg_catalog.array_to_string(ARRAY[g.remaining::text, g.refilled_at::text, g.last_refill_at::text], ' ', '-') AS usage,
      pg_catalog.concat_ws(' ', g.uses, coalesce(nullif(pg_catalog.array_to_string(g.used, ','), ''), '-')) AS used, g.value,
      $3::text::bigint + ${REMEMBER_END_MS}::bigint AS until
    FROM going g
  ), kept AS (
    INSERT INTO latchkey.passing (until, workspace, name, value)
      SELECT a.until + greatest((extract(epoch FROM pg_catalog.clock_timestamp()) * 1000::numeric)::bigint - $3::text::bigint, 0::bigint), a.workspace,
        '  ' || $4::text, pg_catalog.concat_ws(' ', a.until, $3::text, a.used, a.usage, a.value)
      FROM answer a ON CONFLICT (workspace, name) DO UPDATE SET until = excluded.until, value = excluded.value
  )
  SELECT pg_catalog.concat_ws(' ', 'ended', a.until, $3::text, a.used, a.usage, a.value) FROM answer a`;
