import { BY_INDEX } from "./commit.js";

/**
 * Adds a batch to sums, and raises the latest use of records. Rows are locked in one order, whatever else is added or committed
 * meanwhile.
 */
export const ADD_STATISTICS = `
CREATE FUNCTION latchkey.add_statistics(workspace_id text, batch jsonb) RETURNS void LANGUAGE plpgsql ${BY_INDEX} AS $function$
DECLARE
  ws integer;
  used record;
BEGIN
  SELECT w.seq INTO ws FROM latchkey.workspace w WHERE w.id = workspace_id;
  IF ws IS NULL THEN
    INSERT INTO latchkey.workspace (id) VALUES (workspace_id) ON CONFLICT DO NOTHING;
    SELECT w.seq INTO ws FROM latchkey.workspace w WHERE w.id = workspace_id;
  END IF;
  FOR used IN SELECT * FROM jsonb_to_recordset(batch -> 'uses') AS u (kind smallint, id text, "usedAt" bigint)
    ORDER BY u.kind, u.id COLLATE "C"
  LOOP
    UPDATE latchkey.record r SET used_at = used."usedAt"
      WHERE r.workspace = ws AND r.kind = used.kind AND r.id = used.id AND (r.used_at IS NULL OR r.used_at < used."usedAt");
  END LOOP;
  INSERT INTO latchkey.statistic AS s (workspace, kind, subject, hour_at, code, count)
    SELECT ws, c.kind, decode(c.subject, 'hex'), c."hourAt", c.code, c.count
    FROM jsonb_to_recordset(batch -> 'counts') AS c (kind smallint, subject text, "hourAt" bigint, code text, count bigint)
    ORDER BY c.kind, c.subject, c."hourAt", c.code
    ON CONFLICT (workspace, kind, subject, hour_at, code) DO UPDATE
      SET count = LEAST(s.count + excluded.count, 9007199254740991);
END
$function$;
`;
