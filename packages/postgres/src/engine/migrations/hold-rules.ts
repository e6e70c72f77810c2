/** At most as much as fits. */
const WHOLE = "[0-9]{1,16}";

/** `holdSumsText`: nextEnd, open, uses, next, setBefore, raises and drops. */
const RAISE = `${WHOLE}/${WHOLE}/${WHOLE}`;
const SUMS = `^(${WHOLE};){5}(${RAISE}(,${RAISE})*)?;[^;]*$`;

/** `holdText`, each number of which fits. */
const HOLD = `^[^ ]+ [^ ]+( ${WHOLE}){4} [-01] ${WHOLE}(,${WHOLE})?( [-01]/[^ =]+=${WHOLE}:${WHOLE}:${WHOLE})*$`;

/** What the name of a window says of its limit. */
const KIND = `^(?:n:|a:[^:]+:)?([stc]?)(${WHOLE}):`;

/**
 * The rules of holds. They mirror packages/core/src/rules/hold.ts and returned-units.ts, and `applyRefill` of what is held. Sums and holds
 * are the texts of packages/core/src/store/hold-text.ts; null stands for no sums. What is damaged fails to be a number, which says the same.
 */
export const HOLD_RULES = `
CREATE FUNCTION latchkey.are_sums(sums text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN sums ~ '${SUMS}';
-- Whether nothing that is held is over.
CREATE FUNCTION latchkey.is_settled(sums text, now_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN sums IS NULL THEN true ELSE latchkey.are_sums(sums) AND split_part(sums, ';', 1)::bigint > now_at END;
CREATE FUNCTION latchkey.held_uses(sums text) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN coalesce(split_part(sums, ';', 3)::bigint, 0);
CREATE FUNCTION latchkey.is_hold(held text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN held ~ '${HOLD}';
CREATE FUNCTION latchkey.is_slots(of_window text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN coalesce((regexp_match(of_window, '${KIND}'))[1] = 'c', false);
-- Windows of the workspace that a hold takes from.
CREATE FUNCTION latchkey.passing_of(held text) RETURNS text[] LANGUAGE sql IMMUTABLE
  RETURN ARRAY(SELECT substring(l.text FROM '^-/([^=]+)=') FROM unnest((string_to_array(held, ' '))[9:]) l (text) WHERE l.text LIKE '-/%');
-- For how long a hold may be renewed: as long as the shortest of its slots lasts. Null where it has none.
CREATE FUNCTION latchkey.slot_ttl(limits text[]) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN (SELECT min(k.kind[2]::bigint) FROM unnest(limits) l (text)
    CROSS JOIN LATERAL (SELECT regexp_match(substring(l.text FROM '/([^=]+)='), '${KIND}') AS kind) k WHERE k.kind[1] = 'c');
-- Whether more was used of a limit than is held of it.
CREATE FUNCTION latchkey.is_over(limits text[], used bigint[]) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN EXISTS (SELECT FROM unnest(limits, used) u (limit_text, units)
    WHERE u.units > split_part(split_part(u.limit_text, '=', 2), ':', 1)::bigint);
-- The number of the next hold beside counters.
CREATE FUNCTION latchkey.number_of(sums text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN coalesce(split_part(sums, ';', 4), '0');
-- The sums after a hold was taken.
CREATE FUNCTION latchkey.sums_with(sums text, ends_at bigint, counts boolean, uses bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN sums IS NULL THEN concat_ws(';', ends_at, counts::integer, uses, '1;0;;')
    ELSE concat_ws(';', least(split_part(sums, ';', 1)::bigint, ends_at), split_part(sums, ';', 2)::bigint + counts::integer,
      split_part(sums, ';', 3)::bigint + uses, split_part(sums, ';', 4)::bigint + 1, substring(sums FROM '^(?:[^;]*;){4}(.*)$')) END;
-- Whether a refill is due that the counters have not had. One that carries over is owed only if refills are applied up to when it was counted.
CREATE FUNCTION latchkey.is_owed(remaining bigint, refilled_at bigint, due_at bigint, carried bigint, carried_since bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE RETURN latchkey.is_due(remaining, refilled_at, due_at)
  AND (carried IS NULL OR carried_since IS NOT DISTINCT FROM refilled_at);

-- The sums after a refill over held uses: what it brought pays for what comes back of holds that are older. Raises that came before the
-- oldest are forgotten.
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

-- The sums once uses are set: nothing of what is held comes back.
CREATE FUNCTION latchkey.sums_after_set(sums text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN sums IS NOT NULL THEN concat_ws(';', split_part(sums, ';', 1), split_part(sums, ';', 2), 0, split_part(sums, ';', 4),
    split_part(sums, ';', 4), '', split_part(sums, ';', 7)) END;
CREATE FUNCTION latchkey.drop_text(sums text, mark text, names jsonb) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN names IS NOT NULL THEN split_part(sums, ';', 4) || mark
    || coalesce((SELECT string_agg(n.name || '|', '' ORDER BY n.place) FROM jsonb_array_elements_text(names) WITH ORDINALITY n (name, place)), '') END;
-- The sums once windows are forgotten, all but some or some by name: nothing comes back to them.
CREATE FUNCTION latchkey.sums_after_drops(sums text, kept jsonb, dropped jsonb) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN sums || coalesce(CASE WHEN sums NOT LIKE '%;' THEN ',' ELSE '' END
    || nullif(concat_ws(',', latchkey.drop_text(sums, '-', kept), latchkey.drop_text(sums, '+', dropped)), ''), '');

-- Whether units may still come back to a window that may have been emptied meanwhile. Those of the workspace are not among those that stay.
CREATE FUNCTION latchkey.is_returnable(drops text, of_window text, is_passing boolean, number bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE RETURN NOT EXISTS (
  SELECT FROM unnest(string_to_array(drops, ',')) d (text)
    CROSS JOIN LATERAL (SELECT substring(d.text FROM '^[0-9]+([+-])') = '-' AS is_kept) k
  WHERE substring(d.text FROM '^[0-9]+')::bigint > number AND NOT (k.is_kept AND is_passing)
    AND (of_window = ANY (string_to_array(substring(d.text FROM '^[0-9]+[+-](.*)$'), '|'))) <> k.is_kept);

-- Units that were used of each limit of a hold, null where one is named that it has not. Slots all come back.
CREATE FUNCTION latchkey.used_units(limits text[], names text[], costs bigint[], takes_rest boolean) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $function$
DECLARE
  used bigint[] := '{}';
  unit text;
  of_window text;
  place integer;
  named integer := 0;
  held bigint;
BEGIN
  FOREACH unit IN ARRAY limits LOOP
    of_window := substring(unit FROM '/([^=]+)=');
    IF latchkey.is_slots(of_window) THEN
      used := used || 0::bigint;
      CONTINUE;
    END IF;
    place := array_position(names, substring(of_window FROM '[^:]*$'));
    named := named + (place IS NOT NULL)::integer;
    held := split_part(split_part(unit, '=', 2), ':', 1);
    used := used || CASE WHEN held = 0 THEN 0 WHEN place IS NOT NULL THEN costs[place] WHEN takes_rest THEN held ELSE 0 END;
  END LOOP;
  RETURN CASE WHEN named >= cardinality(names) THEN used END;
END
$function$;

-- What is answered to a step whose hold has ended before, from what is remembered of that.
CREATE FUNCTION latchkey.repeated(step latchkey.hold_step, stored text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $function$
DECLARE
  words text[] := string_to_array(stored, ' ');
BEGIN
  -- It ended by itself.
  IF cardinality(words) = 1 THEN RETURN 'expired'; END IF;
  IF step.kind = 'end' AND coalesce(step.uses, words[13]::bigint) = words[3]::bigint AND coalesce(nullif(array_to_string(
      latchkey.used_units(words[16:], step.names, step.costs, step.takes_rest), ','), ''), '-') = words[4] THEN
    RETURN 'repeat ' || stored;
  END IF;
  RETURN 'conflict';
END
$function$;

-- A window after units come back to where they were taken from: nowhere, where that is over.
CREATE FUNCTION latchkey.after_return(stored text, of_window text, held_at bigint, rate bigint, units bigint, now_at bigint) RETURNS text
LANGUAGE plpgsql IMMUTABLE AS $function$
DECLARE
  kind text[] := regexp_match(of_window, '${KIND}');
  stored_at bigint := split_part(stored, ':', 1);
  used bigint := split_part(stored, ':', 2);
  earlier bigint[] := string_to_array(nullif(split_part(stored, ':', 3), ''), ',');
  duration bigint := kind[2];
  passed bigint := greatest(now_at, stored_at) - held_at;
  groups bigint;
BEGIN
  CASE kind[1]
    WHEN '' THEN
      IF stored_at = held_at THEN used := greatest(0, used - units); END IF;
    WHEN 'c' THEN
      used := greatest(0, used - units);
    WHEN 's' THEN
      groups := stored_at / latchkey.ceil_div(duration, 16) - held_at / latchkey.ceil_div(duration, 16);
      IF groups = 0 THEN
        used := greatest(0, used - units);
      ELSIF groups BETWEEN 1 AND cardinality(earlier) THEN
        earlier[groups] := greatest(0, earlier[groups] - units);
      END IF;
    WHEN 't' THEN
      -- Compared before it is multiplied, for that may be too much.
      IF passed < latchkey.ceil_div(units * duration, rate) THEN
        used := greatest(0, used - (units * duration - greatest(passed, 0) * rate));
      END IF;
    ELSE
      RETURN stored;
  END CASE;
  RETURN stored_at || ':' || used || coalesce(':' || array_to_string(earlier, ','), '');
END
$function$;

-- From when on nothing counts any more of a limit to which units came back.
CREATE FUNCTION latchkey.ends_after_return(stored text, of_window text, rate bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN split_part(stored, ':', 1)::bigint + (SELECT CASE k.kind[1] WHEN 't' THEN latchkey.ceil_div(split_part(stored, ':', 2)::bigint, rate)
      WHEN 's' THEN k.kind[2]::bigint + latchkey.ceil_div(k.kind[2]::bigint, 16) - 1 ELSE k.kind[2]::bigint END
    FROM (SELECT regexp_match(of_window, '${KIND}') AS kind) k);
`;
