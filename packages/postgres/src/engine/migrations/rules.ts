/**
 * The rules of a charge, each one expression that the planner puts in the place of its call. They mirror `applyRefill`, `decideWindow`
 * and `decideSpend` of core. Null stands for unlimited uses, for no refill, and for a window that is not stored. They are parsed when they
 * are made, so that no `search_path` means anything to them: one of their own would keep them from being put in place.
 */
export const RULES = `
CREATE FUNCTION latchkey.is_due(remaining bigint, refilled_at bigint, due_at bigint) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN coalesce(remaining IS NOT NULL AND due_at > refilled_at, false);
CREATE FUNCTION latchkey.refilled(remaining bigint, amount bigint, is_due boolean) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN is_due THEN greatest(remaining, amount) ELSE remaining END;
-- Whether a window is stored as one was written. What is no number at all fails, which says the same.
CREATE FUNCTION latchkey.is_window(stored text) RETURNS boolean LANGUAGE sql IMMUTABLE
  RETURN coalesce(split_part(stored, ':', 1)::bigint >= 0 AND split_part(stored, ':', 2)::bigint >= 0, true);
-- A window that a clock ahead has opened counts until it ends.
CREATE FUNCTION latchkey.window_start(stored text, now_at bigint, duration bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN greatest(now_at - now_at % duration, split_part(stored, ':', 1)::bigint);
CREATE FUNCTION latchkey.window_used(stored text, starts_at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE split_part(stored, ':', 1)::bigint WHEN starts_at THEN split_part(stored, ':', 2)::bigint ELSE 0 END;
-- Limits refuse before uses do.
CREATE FUNCTION latchkey.decision(is_limited boolean, remaining bigint, cost bigint) RETURNS text LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN is_limited THEN 'rate-limited' WHEN remaining = 0 OR cost > remaining THEN 'usage-exceeded' ELSE 'charged' END;
-- What is shown of uses and of a window: nothing is taken by a refusal.
CREATE FUNCTION latchkey.after(decision text, before bigint, change bigint) RETURNS bigint LANGUAGE sql IMMUTABLE
  RETURN CASE decision WHEN 'charged' THEN before + change ELSE before END;
`;
