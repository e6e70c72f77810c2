/**
 * The rules of holds. They mirror packages/core/src/rules/hold.ts and returned-units.ts, and `applyRefill` for held uses. Sums and holds
 * are the texts of packages/core/src/adapters/stored-text.ts; null stands for no sums. Damaged text fails as a number, which has the
 * same effect. Regular expressions are matched only if something was changed meanwhile: each takes longer than all the rest of a rule.
 */
export const HOLD_RULES = `
CREATE FUNCTION latchkey.are_sums(sums text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN least(split_part(sums, ';', 1)::bigint, split_part(sums, ';', 2)::bigint, split_part(sums, ';', 3)::bigint,
    split_part(sums, ';', 4)::bigint, split_part(sums, ';', 5)::bigint) >= 0 AND length(sums) - length(replace(sums, ';', '')) = 6;
-- Whether no hold is over.
CREATE FUNCTION latchkey.is_settled(sums text, now_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN sums IS NULL THEN true ELSE latchkey.are_sums(sums) AND split_part(sums, ';', 1)::bigint > now_at END;
CREATE FUNCTION latchkey.held_uses(sums text) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN coalesce(split_part(sums, ';', 3)::bigint, 0);
CREATE FUNCTION latchkey.is_hold(held text, words text[]) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN cardinality(words) > 7 AND least(words[3]::bigint, words[4]::bigint, words[5]::bigint, words[6]::bigint) >= 0
    AND words[7] IN ('-', '0', '1') AND strpos(held, '=-') = 0 AND strpos(held, ':-') = 0;
-- The kind of limit that the name of a window seems to state: is_kind checks it.
CREATE FUNCTION latchkey.kind_of(of_window text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE split_part(of_window, ':', 1) WHEN 'n' THEN split_part(of_window, ':', 2) WHEN 'a' THEN split_part(of_window, ':', 3)
    ELSE split_part(of_window, ':', 1) END;
CREATE FUNCTION latchkey.is_kind(of_window text, kind text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN rtrim(kind, '0123456789') IN ('', 's', 't', 'c') AND kind <> rtrim(kind, '0123456789') AND strpos(of_window, kind || ':') > 0;
-- The limits of a hold. \`mark\` and \`duration\` are those of the kind of limit, null for a window of another form.
CREATE FUNCTION latchkey.units_of(limits text[])
RETURNS TABLE (number bigint, owner text, of_window text, units bigint, held_at bigint, rate bigint, mark text, duration bigint)
LANGUAGE sql IMMUTABLE BEGIN ATOMIC
  SELECT t.number, left(t.text, 1), n.name, split_part(n.figures, ':', 1)::bigint, split_part(n.figures, ':', 2)::bigint,
    split_part(n.figures, ':', 3)::bigint, CASE
      WHEN least(split_part(n.figures, ':', 1)::bigint, split_part(n.figures, ':', 2)::bigint, split_part(n.figures, ':', 3)::bigint) < 0 THEN NULL
      WHEN latchkey.is_kind(n.name, k.kind) THEN rtrim(k.kind, '0123456789') END,
    CASE WHEN latchkey.is_kind(n.name, k.kind) THEN ltrim(k.kind, 'stc')::bigint END
  FROM unnest(limits) WITH ORDINALITY t (text, number)
    CROSS JOIN LATERAL (SELECT substr(split_part(t.text, '=', 1), 3) AS name, split_part(t.text, '=', 2) AS figures OFFSET 0) n
    CROSS JOIN LATERAL (SELECT latchkey.kind_of(n.name) AS kind OFFSET 0) k;
END;
-- The inflow that the bucket of a limit of a hold had counted, null if it did not count.
CREATE FUNCTION latchkey.flowed_before(held_limit text) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN nullif(split_part(split_part(held_limit, '=', 2), ':', 4), '')::bigint;
-- Windows of the workspace that a hold takes from.
CREATE FUNCTION latchkey.passing_of(held text) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $function$
BEGIN
  IF strpos(held, ' -/') = 0 THEN RETURN '{}'; END IF;
  RETURN ARRAY(SELECT u.of_window FROM latchkey.units_of((string_to_array(held, ' '))[9:]) u WHERE u.owner = '-');
END
$function$;
-- The number of the next hold beside counters.
CREATE FUNCTION latchkey.number_of(sums text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN coalesce(split_part(sums, ';', 4), '0');
-- The sums after a hold was taken.
CREATE FUNCTION latchkey.sums_with(sums text, ends_at bigint, counts boolean, uses bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN sums IS NULL THEN concat_ws(';', ends_at, counts::integer, uses, '1;0;;')
    ELSE concat_ws(';', least(split_part(sums, ';', 1)::bigint, ends_at), split_part(sums, ';', 2)::bigint + counts::integer,
      split_part(sums, ';', 3)::bigint + uses, split_part(sums, ';', 4)::bigint + 1, split_part(sums, ';', 5), split_part(sums, ';', 6),
      split_part(sums, ';', 7)) END;
-- The sums after the end of a hold that has this many uses here. Null if it was the last.
CREATE FUNCTION latchkey.sums_without(sums text, next_end bigint, uses bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN next_end IS NOT NULL THEN concat_ws(';', next_end, split_part(sums, ';', 2)::bigint - 1, split_part(sums, ';', 3)::bigint - uses,
    split_part(sums, ';', 4), split_part(sums, ';', 5), CASE split_part(sums, ';', 3)::bigint WHEN uses THEN '' ELSE split_part(sums, ';', 6) END,
    split_part(sums, ';', 7)) END;
-- Whether no uses were set, no refills made and no windows emptied since a hold was taken: the latest of each is the last in its list.
CREATE FUNCTION latchkey.is_untouched(sums text, number bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN number >= split_part(sums, ';', 5)::bigint
    AND CASE split_part(sums, ';', 6) WHEN '' THEN true
      ELSE number >= substring(split_part(sums, ';', 6) FROM '([0-9]+)/[0-9]+/[0-9]+$')::bigint END
    AND CASE split_part(sums, ';', 7) WHEN '' THEN true
      ELSE number >= substring(split_part(sums, ';', 7) FROM '([0-9]+)[+-][^,]*$')::bigint END;
-- Whether a due refill is not applied yet. One that carries over is owed only if refills are applied up to when it was counted.
CREATE FUNCTION latchkey.is_owed(remaining bigint, refilled_at bigint, due_at bigint, carried bigint, carried_since bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE RETURN latchkey.is_due(remaining, refilled_at, due_at)
  AND (carried IS NULL OR carried_since IS NOT DISTINCT FROM refilled_at);

-- The sums after a refill over held uses: what it brought pays for what comes back of older holds. Raises from before the oldest hold are
-- dropped.
CREATE FUNCTION latchkey.sums_after_refill(sums text, before bigint, after bigint, amount bigint, oldest bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $function$
DECLARE
  parts text[] := string_to_array(sums, ';');
BEGIN
  IF sums IS NULL OR parts[3]::bigint = 0 OR before = after THEN RETURN sums; END IF;
  parts[6] := array_to_string(ARRAY(SELECT r FROM unnest(string_to_array(parts[6], ',')) r
      WHERE split_part(r, '/', 1)::bigint > oldest) || concat_ws('/', parts[4], amount - after, after - before), ',');
  RETURN array_to_string(parts, ';');
END
$function$;

-- The sums after uses were set: nothing that is held now comes back.
CREATE FUNCTION latchkey.sums_after_set(sums text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN sums IS NOT NULL THEN concat_ws(';', split_part(sums, ';', 1), split_part(sums, ';', 2), 0, split_part(sums, ';', 4),
    split_part(sums, ';', 4), '', split_part(sums, ';', 7)) END;
CREATE FUNCTION latchkey.drop_text(sums text, mark text, names jsonb) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN names IS NOT NULL THEN split_part(sums, ';', 4) || mark
    || coalesce((SELECT string_agg(n.name || '|', '' ORDER BY n.place) FROM jsonb_array_elements_text(names) WITH ORDINALITY n (name, place)), '') END;
-- The sums after windows were forgotten, all but some or some by name: nothing comes back to them. A drop replaces one of the same
-- windows.
CREATE FUNCTION latchkey.sums_after_drops(sums text, kept jsonb, dropped jsonb) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN kept IS NULL AND dropped IS NULL THEN sums ELSE (
    SELECT substring(sums FROM '^.*;') || concat_ws(',', (
      SELECT string_agg(d.text, ',' ORDER BY d.place) FROM unnest(string_to_array(split_part(sums, ';', 7), ',')) WITH ORDINALITY d (text, place)
      WHERE ltrim(d.text, '0123456789') IS DISTINCT FROM ltrim(n.kept, '0123456789')
        AND ltrim(d.text, '0123456789') IS DISTINCT FROM ltrim(n.dropped, '0123456789')), n.kept, n.dropped)
    FROM (VALUES (latchkey.drop_text(sums, '-', kept), latchkey.drop_text(sums, '+', dropped))) n (kept, dropped)) END;

-- Whether units may still come back to a window that may have been emptied meanwhile. A list of windows that stay is not about those of
-- the workspace.
CREATE FUNCTION latchkey.is_returnable(drops text, of_window text, is_passing boolean, number bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE RETURN NOT EXISTS (
  SELECT FROM unnest(string_to_array(drops, ',')) d (text)
    CROSS JOIN LATERAL (SELECT substring(d.text FROM '^[0-9]+([+-])') = '-' AS is_kept) k
  WHERE substring(d.text FROM '^[0-9]+')::bigint > number AND NOT (k.is_kept AND is_passing)
    AND (of_window = ANY (string_to_array(substring(d.text FROM '^[0-9]+[+-](.*)$'), '|'))) <> k.is_kept);

-- The units that were used of each limit of a hold, null if a named limit is not among them, and whether they are more than is held. All
-- slots come back.
CREATE FUNCTION latchkey.used_units(limits text[], names text[], costs bigint[], takes_rest boolean)
RETURNS TABLE (used bigint[], is_over boolean) LANGUAGE sql IMMUTABLE BEGIN ATOMIC
  SELECT CASE WHEN count(a.place) >= cardinality(names) THEN coalesce(array_agg(a.used ORDER BY a.number), '{}'::bigint[]) END,
    coalesce(bool_or(a.used > a.units), false)
  FROM (
    SELECT p.number, p.units, p.place, CASE WHEN p.units = 0 OR p.mark = 'c' THEN 0::bigint WHEN p.place IS NOT NULL THEN costs[p.place]
      WHEN takes_rest THEN p.units ELSE 0::bigint END AS used
    FROM (
      SELECT u.number, u.units, u.mark, CASE WHEN u.mark IS DISTINCT FROM 'c' THEN array_position(names, split_part(u.of_window, ':', -1)) END AS place
      FROM latchkey.units_of(limits) u OFFSET 0
    ) p
  ) a;
END;

-- The answer to a step whose hold has ended before, from what is remembered of that end.
CREATE FUNCTION latchkey.repeated(step latchkey.hold_step, stored text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $function$
DECLARE
  words text[] := string_to_array(stored, ' ');
  used bigint[];
BEGIN
  -- It ended by itself.
  IF cardinality(words) = 1 THEN RETURN 'expired'; END IF;
  IF step.kind = 'end' AND coalesce(step.uses, words[13]::bigint) = words[3]::bigint THEN
    SELECT u.used INTO used FROM latchkey.used_units(words[16:], step.names, step.costs, step.takes_rest) u;
    IF used IS NOT NULL AND coalesce(nullif(array_to_string(used, ','), ''), '-') = words[4] THEN RETURN 'repeat ' || stored; END IF;
  END IF;
  RETURN 'conflict';
END
$function$;

-- The groups before the latest, after units came back to the group that is this many places before it.
CREATE FUNCTION latchkey.earlier_after_return(earlier text, back bigint, units bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN (SELECT string_agg(CASE WHEN g.place = back THEN greatest(0, g.text::bigint - units)::text ELSE g.text END, ',' ORDER BY g.place)
    FROM unnest(string_to_array(earlier, ',')) WITH ORDINALITY g (text, place));
-- A window after units came back to where they were taken from; nothing comes back if that is over. Compared before it is multiplied: the
-- product may be too large. Null for a window of another form.
CREATE FUNCTION latchkey.after_return(
  stored_at bigint, used bigint, earlier text, kind text, duration bigint, held_at bigint, rate bigint, units bigint, now_at bigint, flowed bigint
) RETURNS text LANGUAGE sql IMMUTABLE RETURN stored_at || ':' || CASE kind
    WHEN '' THEN CASE WHEN stored_at = held_at THEN greatest(0, used - units) ELSE used END
    WHEN 'c' THEN greatest(0, used - units)
    WHEN 's' THEN CASE WHEN latchkey.sliding_group(stored_at, duration) = latchkey.sliding_group(held_at, duration)
      THEN greatest(0, used - units) ELSE used END
    WHEN 't' THEN least(used, greatest(CASE earlier WHEN '' THEN 0 ELSE split_part(earlier, ',', 1)::bigint * duration END, used - (units * duration - CASE
      WHEN flowed IS NOT NULL AND nullif(split_part(earlier, ',', 3), '')::bigint <= held_at
        THEN least(units * duration, split_part(earlier, ',', 2)::bigint - flowed)
      WHEN greatest(now_at, stored_at) - held_at < latchkey.ceil_div(units * duration, rate) THEN greatest(now_at - held_at, stored_at - held_at, 0) * rate
      ELSE units * duration END)))
  END || CASE WHEN earlier = '' THEN '' WHEN kind = 's' THEN ':' || latchkey.earlier_after_return(earlier,
    latchkey.sliding_group(stored_at, duration) - latchkey.sliding_group(held_at, duration), units) ELSE ':' || earlier END;
-- A bucket after a lease of it has ended: unused units come back, and used ones count from now on.
CREATE FUNCTION latchkey.after_lease(stored text, duration bigint, rate bigint, units bigint, unused bigint, now_at bigint) RETURNS text
LANGUAGE sql IMMUTABLE RETURN (
  SELECT greatest(split_part(stored, ':', 1)::bigint, now_at) || ':' || greatest(0, m.missing - unused * duration)
      || CASE WHEN strpos(m.earlier, ',') > 0 THEN ':' || greatest(l.held - units, 0) || substr(m.earlier, strpos(m.earlier, ','))
        WHEN l.held > units THEN ':' || (l.held - units) ELSE '' END
    FROM (SELECT coalesce(nullif(split_part(split_part(stored, ':', 3), ',', 1), '')::bigint, 0) AS held OFFSET 0) l
    CROSS JOIN LATERAL (SELECT latchkey.leased_bucket_missing(concat_ws(':', split_part(stored, ':', 1), split_part(stored, ':', 2), l.held),
      now_at, rate, duration) AS missing OFFSET 0) b
    CROSS JOIN LATERAL (SELECT b.missing, latchkey.bucket_text(stored, b.missing, greatest(split_part(stored, ':', 1)::bigint, now_at)) AS earlier OFFSET 0) m);
-- The instant from which a limit to which units came back no longer counts anything.
CREATE FUNCTION latchkey.ends_after_return(stored text, kind text, duration bigint, rate bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN split_part(stored, ':', 1)::bigint + CASE kind WHEN 't' THEN latchkey.ceil_div(split_part(stored, ':', 2)::bigint, rate)
    WHEN 's' THEN duration + latchkey.ceil_div(duration, 16) - 1 ELSE duration END;
`;
