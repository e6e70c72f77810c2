/**
 * The rules of a charge, each one expression that the planner inlines. They mirror `applyRefill`, `decideWindow` and `decideSpend` of
 * core. Null stands for unlimited uses, for no refill, and for a window that is not stored. They are parsed when they are created, so
 * that no `search_path` affects them: one of their own would prevent inlining.
 */
export const RULES = `
CREATE FUNCTION latchkey.is_due(remaining bigint, refilled_at bigint, due_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN coalesce(remaining IS NOT NULL AND due_at > refilled_at, false);
CREATE FUNCTION latchkey.refilled(remaining bigint, amount bigint, is_due boolean) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN is_due THEN greatest(remaining, amount) ELSE remaining END;
-- Whether a stored window is valid. Text that is no number fails, which has the same effect.
CREATE FUNCTION latchkey.is_window(stored text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN coalesce(split_part(stored, ':', 1)::bigint >= 0 AND split_part(stored, ':', 2)::bigint >= 0, true);
-- A window that a clock ahead has opened counts until it ends.
CREATE FUNCTION latchkey.window_start(stored text, now_at bigint, duration bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN greatest(now_at - now_at % duration, split_part(stored, ':', 1)::bigint);
CREATE FUNCTION latchkey.window_used(stored text, starts_at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE split_part(stored, ':', 1)::bigint WHEN starts_at THEN split_part(stored, ':', 2)::bigint ELSE 0 END;
-- A quotient rounded up.
CREATE FUNCTION latchkey.ceil_div(dividend bigint, divisor bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN dividend / divisor + CASE dividend % divisor WHEN 0 THEN 0 ELSE 1 END;
-- What is missing from a token bucket at an instant, in units times duration. Compared before it is multiplied: the product may be too
-- large.
CREATE FUNCTION latchkey.bucket_missing(at_stored bigint, missing bigint, now_at bigint, units bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN greatest(now_at - at_stored, 0) >= latchkey.ceil_div(missing, units) THEN 0
    ELSE missing - greatest(now_at - at_stored, 0) * units END;
-- The same for a bucket with leased units: those are missing until the leases end.
CREATE FUNCTION latchkey.leased_bucket_missing(stored text, now_at bigint, units bigint, duration bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN (SELECT latchkey.bucket_missing(split_part(stored, ':', 1)::bigint, split_part(stored, ':', 2)::bigint - l.held, now_at, units) + l.held
    FROM (SELECT split_part(split_part(stored, ':', 3), ',', 1)::bigint * duration AS held OFFSET 0) l);
-- The text after the units of a bucket at an instant, with its colon, if this much is missing then: how many units leases hold and, once
-- units of it were reserved, what has flowed in since an instant. If that count would no longer be a safe integer, it starts anew.
CREATE FUNCTION latchkey.bucket_text(stored text, missing bigint, at_now bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN coalesce(':' || CASE
    WHEN strpos(split_part(stored, ':', 3), ',') = 0 OR missing >= split_part(stored, ':', 2)::bigint THEN nullif(split_part(stored, ':', 3), '')
    WHEN split_part(stored, ':', 2)::bigint - missing > 9007199254740991 - split_part(split_part(stored, ':', 3), ',', 2)::bigint
      THEN split_part(split_part(stored, ':', 3), ',', 1) || ',0,' || at_now::text
    ELSE split_part(split_part(stored, ':', 3), ',', 1) || ','
      || (split_part(split_part(stored, ':', 3), ',', 2)::bigint + split_part(stored, ':', 2)::bigint - missing)::text || ','
      || split_part(split_part(stored, ':', 3), ',', 3) END, '');
-- The same after units were reserved at that instant: inflow is counted from now on.
CREATE FUNCTION latchkey.reserved_text(earlier text, at_now bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN strpos(earlier, ',') > 0 THEN earlier ELSE ':' || coalesce(nullif(ltrim(earlier, ':'), ''), '0') || ',0,' || at_now::text END;
-- The same after units were taken for a lease.
CREATE FUNCTION latchkey.leased_text(earlier text, units bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN ':' || (coalesce(nullif(split_part(ltrim(earlier, ':'), ',', 1), '')::bigint, 0) + units)::text
    || CASE WHEN strpos(earlier, ',') > 0 THEN substr(earlier, strpos(earlier, ',')) ELSE '' END;
-- The part of it that a hold keeps, with its colon: the inflow that the bucket has counted.
CREATE FUNCTION latchkey.flowed_text(earlier text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN coalesce(':' || nullif(split_part(earlier, ',', 2), ''), '');
-- The text after the units of a window, with its colon.
CREATE FUNCTION latchkey.earlier_text(stored text) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN coalesce(':' || nullif(split_part(stored, ':', 3), ''), '');
-- The number of an instant's group in a sliding limit.
CREATE FUNCTION latchkey.sliding_group(instant bigint, duration bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN instant / latchkey.ceil_div(duration, 16);
-- Units of a sliding limit at an instant, by group, the latest first, which is that of the instant itself. Null if none counts.
-- Without a query of its own, which PostgreSQL would plan anew in each call. The planner may evaluate array_fill for a missing state: its
-- bounds must not fail then.
CREATE FUNCTION latchkey.sliding_counts(stored text, at_now bigint, duration bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN latchkey.sliding_group(split_part(stored, ':', 1)::bigint, duration) >= latchkey.sliding_group(greatest(at_now - duration + 1, 0), duration)
    THEN array_fill(0::bigint, ARRAY[least(coalesce(latchkey.sliding_group(at_now, duration) - latchkey.sliding_group(split_part(stored, ':', 1)::bigint, duration), 0), 17)::integer])
      || (string_to_array(split_part(stored, ':', 2) || coalesce(',' || nullif(split_part(stored, ':', 3), ''), ''), ',')::bigint[])
        [1 : (latchkey.sliding_group(split_part(stored, ':', 1)::bigint, duration) - latchkey.sliding_group(greatest(at_now - duration + 1, 0), duration) + 1)::integer] END;
-- Limits refuse before uses do.
CREATE FUNCTION latchkey.decision(is_limited boolean, remaining bigint, cost bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN is_limited THEN 'rate-limited' WHEN remaining = 0 OR cost > remaining THEN 'usage-exceeded' ELSE 'charged' END;
-- What is shown of uses and of a window: a refusal takes nothing.
CREATE FUNCTION latchkey.after(decision text, before bigint, change bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE decision WHEN 'charged' THEN before + change ELSE before END;
`;
