import { KEPT_AFTER_END_MS } from "@latchkey/core";

/** What a charge and the end of a hold do with rows that expire: windows without an owner, requests, and ends of holds. */
export const PASSING = `
-- Windows and requests may have no row to lock. The first number keeps clear of locks that other programs take.
CREATE FUNCTION latchkey.lock_names(workspace_id text, names text[]) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(1818326891, l.number)
    FROM (SELECT DISTINCT hashtext(workspace_id || ' ' || n.name) AS number FROM unnest(names) n (name) ORDER BY 1) l;
END
$function$;

-- In plpgsql, which keeps its plans: a statement in an SQL function is planned anew by each call.
-- Windows, requests and ends of holds are kept until a day after their end, so that a clock that is set back still finds them. This goes
-- by the clock of the server, however far ahead or behind the caller's is. More rows are deleted than written. It comes last: no
-- transaction waits for a lock while it holds those of rows that it deletes.
CREATE FUNCTION latchkey.forget_passed(server_at bigint, most integer) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  DELETE FROM latchkey.passing p USING (
    SELECT q.workspace, q.name FROM latchkey.passing q WHERE q.until < server_at - ${KEPT_AFTER_END_MS}
    ORDER BY q.until LIMIT most FOR UPDATE SKIP LOCKED
  ) ended WHERE p.workspace = ended.workspace AND p.name = ended.name;
END
$function$;

CREATE FUNCTION latchkey.pass(in_workspace integer, of_name text, ends_at bigint, new_value text)
RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  INSERT INTO latchkey.passing (until, workspace, name, value) VALUES (ends_at, in_workspace, of_name, new_value)
    ON CONFLICT (workspace, name) DO UPDATE SET until = excluded.until, value = excluded.value;
END
$function$;
`;
