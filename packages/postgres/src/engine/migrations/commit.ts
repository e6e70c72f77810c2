/**
 * Finds every row by its index, one by one, whatever row counts the planner expects: the best plan for the average workspace would scan
 * all records of a large one. Where these settings leave a choice, `OFFSET 0` keeps the planner from joining, and rows to delete are
 * named by their place, at which the locks hold them.
 */
export const BY_INDEX =
  "SET plan_cache_mode = force_generic_plan SET enable_hashjoin = off SET enable_mergejoin = off SET enable_material = off SET enable_seqscan = off SET enable_bitmapscan = off";

/**
 * Applies a change of a workspace, all of it or nothing, as one statement. Mirrors `KeyStore.commit`; `change_usage` mirrors
 * `changeUsage` in packages/core/src/store/counters.ts.
 *
 * Changes of one workspace take turns: they lock its row first. So what is judged holds until it is written, sizes of lists are exact,
 * and no two changes can wait for each other. Charges do not take that lock. They meet a change only at the counters and the windows that
 * it changes, which both lock in the same order; `add_statistics` meets it at records, in the order of their ids.
 *
 * `change` is a `Change` in JSON, with kinds as numbers, bodies as text and names in hexadecimal. Answers a `CommitResult` in JSON, or
 * `{"kind": "corrupt"}`.
 */
export const COMMIT = `
CREATE FUNCTION latchkey.commit(workspace_id text, change jsonb) RETURNS jsonb LANGUAGE plpgsql ${BY_INDEX} AS $function$
DECLARE
  ws integer;
  failed integer;
  counted bigint[];
  gone bigint[];
  numbered bigint;
  result jsonb;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'latchkey needs READ COMMITTED' USING ERRCODE = 'LK001';
  END IF;
  -- This commit is durable, whatever charges are allowed to lose.
  IF current_setting('synchronous_commit') = 'off' THEN
    PERFORM set_config('synchronous_commit', 'on', true);
  END IF;

  -- 1. Locks.
  SELECT w.seq INTO ws FROM latchkey.workspace w WHERE w.id = workspace_id FOR NO KEY UPDATE;
  IF ws IS NULL THEN
    INSERT INTO latchkey.workspace (id) VALUES (workspace_id) ON CONFLICT DO NOTHING;
    SELECT w.seq INTO ws FROM latchkey.workspace w WHERE w.id = workspace_id FOR NO KEY UPDATE;
  END IF;
  IF change ? 'dropWindows' THEN
    PERFORM latchkey.lock_names(workspace_id, ARRAY(SELECT jsonb_array_elements_text(change -> 'dropWindows')));
  END IF;

  -- 2. Expectations.
  SELECT min(e.place) - 1 INTO failed FROM (
    SELECT o.place, (o.value ->> 0)::smallint AS kind, o.value ->> 1 AS id, (o.value ->> 2)::bigint AS version
    FROM jsonb_array_elements(change -> 'expects') WITH ORDINALITY o (value, place)
  ) e LEFT JOIN latchkey.record r ON r.workspace = ws AND r.kind = e.kind AND r.id = e.id
  WHERE CASE e.version WHEN -1 THEN r.id IS NOT NULL WHEN -2 THEN r.id IS NULL
    ELSE r.version IS DISTINCT FROM e.version END;
  IF failed IS NOT NULL THEN RETURN jsonb_build_object('kind', 'stale', 'index', failed); END IF;

  -- 3. Claims. A name is free if its record is gone, or if the same change releases it.
  IF change ? 'claims' THEN
    WITH wanted AS (
      SELECT o.place, c.* FROM jsonb_array_elements(change -> 'claims') WITH ORDINALITY o (value, place),
        jsonb_to_record(o.value) AS c (kind smallint, index text, value text, id text)
    )
    SELECT min(c.place) - 1 INTO failed FROM wanted c
    LEFT JOIN latchkey.claim h ON h.workspace = ws AND h.kind = c.kind AND h.index = c.index AND h.value = decode(c.value, 'hex')
    LEFT JOIN latchkey.record r ON r.workspace = ws AND r.kind = h.kind AND r.id = h.id
    WHERE EXISTS (SELECT FROM wanted d
        WHERE d.place < c.place AND d.kind = c.kind AND d.index = c.index AND d.value = c.value)
      OR (r.id <> c.id AND NOT EXISTS (
        SELECT FROM jsonb_to_recordset(change -> 'releases') AS f (kind smallint, index text, value text, id text)
        WHERE f.kind = c.kind AND f.index = c.index AND f.value = c.value AND f.id = h.id));
    IF failed IS NOT NULL THEN RETURN jsonb_build_object('kind', 'taken', 'index', failed); END IF;
  END IF;

  -- 4. Counters: all that are changed here are locked at once.
  IF change ?| '{counters,puts,deletes}' THEN
    counted := ARRAY(
      SELECT c.seq FROM latchkey.counters c WHERE c.seq IN (
        SELECT r.counters FROM (
          SELECT a.kind, unnest(ARRAY[a.id, a."sharedWith"]) AS id
          FROM unnest(ARRAY['counters', 'puts', 'deletes']) p (part),
            jsonb_to_recordset(change -> p.part) AS a (kind smallint, id text, usage jsonb, "sharedWith" text)
          WHERE p.part <> 'puts' OR a.usage IS NOT NULL OR a."sharedWith" IS NOT NULL
        ) a, LATERAL (
          SELECT counters FROM latchkey.record WHERE workspace = ws AND kind = a.kind AND id = a.id OFFSET 0
        ) r
      ) ORDER BY c.seq FOR UPDATE);
  END IF;
  result := latchkey.change_counters(ws, coalesce(change -> 'counters', '[]'));
  IF result ->> 'kind' <> 'committed' THEN RETURN result; END IF;

  -- 5. Everything is judged. Records are locked in the order of their ids, as in other functions.
  IF change ?| '{puts,deletes}' THEN
    PERFORM 1 FROM (
      SELECT a.kind, a.id COLLATE "C" AS id FROM unnest(ARRAY['puts', 'deletes']) p (part),
        jsonb_to_recordset(change -> p.part) AS a (kind smallint, id text) ORDER BY 1, 2
    ) a, LATERAL (
      SELECT FROM latchkey.record WHERE workspace = ws AND kind = a.kind AND id = a.id FOR UPDATE
    ) r;
  END IF;
  IF change ? 'releases' THEN
    DELETE FROM latchkey.claim c WHERE c.ctid = ANY (ARRAY(
      SELECT x.ctid FROM jsonb_to_recordset(change -> 'releases') AS f (kind smallint, index text, value text, id text),
      LATERAL (SELECT ctid FROM latchkey.claim WHERE workspace = ws AND kind = f.kind AND index = f.index
        AND value = decode(f.value, 'hex') AND id = f.id OFFSET 0) x));
  END IF;
  -- Lists come first: that of the audit log gives new entries their versions, also those that processes of an earlier schema write.
  IF change ? 'leaves' THEN
    WITH gone AS (
      DELETE FROM latchkey.entry e WHERE e.ctid = ANY (ARRAY(
        SELECT x.ctid FROM jsonb_to_recordset(change -> 'leaves') AS f (list text, owner text, id text),
        LATERAL (SELECT seq FROM latchkey.list WHERE workspace = ws AND name = f.list OFFSET 0) l,
        LATERAL (SELECT ctid FROM latchkey.entry WHERE list = l.seq AND owner = decode(f.owner, 'hex') AND id = f.id OFFSET 0) x
      )) RETURNING e.list, e.owner
    )
    UPDATE latchkey.list l SET size = l.size - g.count
      FROM (SELECT list, count(*) FROM gone WHERE owner = '' GROUP BY list) g WHERE l.seq = g.list;
  END IF;
  IF change ? 'enters' THEN
    INSERT INTO latchkey.list (workspace, name)
      SELECT DISTINCT ws, e.list FROM jsonb_to_recordset(change -> 'enters') AS e (list text)
      WHERE NOT EXISTS (SELECT FROM latchkey.list l WHERE l.workspace = ws AND l.name = e.list);
    WITH added AS (
      INSERT INTO latchkey.entry (list, owner, id)
      SELECT l.seq, decode(e.owner, 'hex'), e.id
      FROM jsonb_to_recordset(change -> 'enters') AS e (list text, owner text, id text)
      JOIN latchkey.list l ON l.workspace = ws AND l.name = e.list
      ON CONFLICT DO NOTHING RETURNING list, owner
    ), resized AS (
      UPDATE latchkey.list l SET size = l.size + a.count,
        last = CASE WHEN l.name <> 'auditEntry' THEN l.last WHEN change ? 'kept' THEN greatest(l.last, (change -> 'kept' ->> 0)::bigint)
          ELSE l.last + a.count END
        FROM (SELECT list, count(*) FROM added WHERE owner = '' GROUP BY list) a WHERE l.seq = a.list
        RETURNING l.name, l.last - a.count AS before
    )
    SELECT z.before INTO numbered FROM resized z WHERE z.name = 'auditEntry';
  END IF;
  IF change ? 'puts' THEN
    WITH put AS MATERIALIZED (
      SELECT p.*, b.counters AS had, CASE WHEN p.kind <> 9 OR change ? 'kept' THEN p.version
          ELSE coalesce(b.version, numbered + count(*) FILTER (WHERE p.kind = 9 AND b.version IS NULL) OVER (ORDER BY p.place))
          END AS becomes,
        CASE WHEN p.usage IS NOT NULL THEN nextval('latchkey.counters_seq_seq') ELSE s.counters END AS given
      FROM ROWS FROM (jsonb_to_recordset(change -> 'puts')
        AS (kind smallint, id text, version bigint, link text, body text, usage jsonb, "sharedWith" text)) WITH ORDINALITY
        AS p (kind, id, version, link, body, usage, "sharedWith", place)
      LEFT JOIN latchkey.record b ON b.workspace = ws AND b.kind = p.kind AND b.id = p.id
      LEFT JOIN latchkey.record s ON s.workspace = ws AND s.kind = p.kind AND s.id = p."sharedWith"
    ), added AS (
      INSERT INTO latchkey.counters (seq, holders, remaining, refilled_at, last_refill_at, holds)
      SELECT given, 1, (usage ->> 0)::bigint, (usage ->> 1)::bigint, (usage ->> 2)::bigint, usage ->> 3 FROM put WHERE usage IS NOT NULL
    ), held AS (
      UPDATE latchkey.counters c SET holders = c.holders + d.by FROM (
        SELECT seq, sum(by) AS by FROM (
          SELECT given AS seq, 1 AS by FROM put WHERE "sharedWith" IS NOT NULL
          UNION ALL SELECT had, -1 FROM put WHERE given IS NOT NULL
        ) each GROUP BY seq
      ) d WHERE c.seq = d.seq AND d.by <> 0
    )
    INSERT INTO latchkey.record AS r (workspace, kind, id, version, link, body, counters)
      SELECT ws, kind, id, becomes, link, body, given FROM put
      ON CONFLICT (workspace, kind, id) DO UPDATE SET version = excluded.version, link = excluded.link, body = excluded.body,
        counters = coalesce(excluded.counters, r.counters);
  END IF;
  IF change ? 'deletes' THEN
    WITH gone AS (
      DELETE FROM latchkey.record r WHERE r.ctid = ANY (ARRAY(
        SELECT x.ctid FROM jsonb_to_recordset(change -> 'deletes') AS d (kind smallint, id text),
        LATERAL (SELECT ctid FROM latchkey.record WHERE workspace = ws AND kind = d.kind AND id = d.id OFFSET 0) x
      )) RETURNING r.counters
    )
    UPDATE latchkey.counters c SET holders = greatest(0, c.holders - g.count)
      FROM (SELECT counters, count(*) FROM gone GROUP BY counters) g WHERE c.seq = g.counters;
  END IF;
  WITH gone AS (DELETE FROM latchkey.counters c WHERE c.seq = ANY (counted) AND c.holders = 0 RETURNING c.seq, c.holds)
    SELECT array_agg(g.seq) INTO gone FROM gone g WHERE g.holds IS NOT NULL;
  -- What such a hold took from other counters comes back when it expires.
  IF gone IS NOT NULL THEN PERFORM latchkey.detach(gone, '{}'); END IF;
  IF change ? 'claims' THEN
    INSERT INTO latchkey.claim (workspace, kind, index, value, id)
      SELECT ws, c.kind, c.index, decode(c.value, 'hex'), c.id
      FROM jsonb_to_recordset(change -> 'claims') AS c (kind smallint, index text, value text, id text)
      ON CONFLICT (workspace, kind, index, value) DO UPDATE SET id = excluded.id;
  END IF;
  IF change ? 'dropWindows' THEN
    DELETE FROM latchkey.passing p
      WHERE p.workspace = ws AND p.name = ANY (ARRAY(SELECT jsonb_array_elements_text(change -> 'dropWindows')));
  END IF;
  IF change ? 'revision' THEN
    UPDATE latchkey.workspace w SET revision = (change -> 'revision' ->> 0)::bigint WHERE w.seq = ws;
  END IF;
  RETURN result;
END
$function$;

-- Changes locked counters in order, each as those before left it. A refusal takes back the others.
CREATE FUNCTION latchkey.change_counters(ws integer, changes jsonb) RETURNS jsonb LANGUAGE plpgsql AS $function$
DECLARE
  each record;
  before latchkey.counters;
  changed jsonb;
  usages jsonb := '[]';
BEGIN
  IF changes = '[]' THEN RETURN jsonb_build_object('kind', 'committed', 'usages', usages); END IF;
  BEGIN
    FOR each IN SELECT o.place - 1 AS index, c.* FROM jsonb_array_elements(changes) WITH ORDINALITY o (value, place),
      jsonb_to_record(o.value) AS c (kind smallint, id text, due jsonb, operation text, number bigint, "restartsAt" bigint,
        keep jsonb, drop jsonb) ORDER BY o.place
    LOOP
      SELECT c.* INTO before FROM latchkey.record r JOIN latchkey.counters c ON c.seq = r.counters
        WHERE r.workspace = ws AND r.kind = each.kind AND r.id = each.id;
      IF before.seq IS NULL OR before.remaining < 0 OR NOT latchkey.are_sums(before.holds) THEN
        changed := jsonb_build_object('kind', 'corrupt');
        RAISE SQLSTATE 'LK002';
      END IF;
      changed := latchkey.change_usage(before, each.due, each.operation, each.number, each."restartsAt");
      IF changed ->> 'kind' <> 'changed' THEN
        changed := jsonb_build_object('kind', 'refused', 'index', each.index, 'reason', changed);
        RAISE SQLSTATE 'LK002';
      END IF;
      changed := changed -> 'usage';
      usages := usages || changed;
      UPDATE latchkey.counters c SET remaining = (changed ->> 'remaining')::bigint,
        refilled_at = (changed ->> 'refilledAt')::bigint, last_refill_at = (changed ->> 'lastRefillAt')::bigint,
        windows = coalesce((SELECT jsonb_object_agg(w.key, w.value) FROM jsonb_each(c.windows) w
          WHERE (each.keep IS NULL OR each.keep ? w.key) AND (each.drop IS NULL OR NOT each.drop ? w.key)), '{}'),
        holds = latchkey.sums_after_drops(changed ->> 'holds', each.keep, each.drop)
        WHERE c.seq = before.seq;
    END LOOP;
  EXCEPTION WHEN SQLSTATE 'LK002' THEN
    RETURN changed;
  END;
  RETURN jsonb_build_object('kind', 'committed', 'usages', usages);
END
$function$;

CREATE FUNCTION latchkey.change_usage(before latchkey.counters, due jsonb, operation text, number bigint, restarts_at bigint)
RETURNS jsonb LANGUAGE plpgsql IMMUTABLE AS $function$
DECLARE
  remaining bigint := before.remaining;
  refilled_at bigint := before.refilled_at;
  last_refill_at bigint := before.last_refill_at;
  sums text := before.holds;
  amount bigint := due ->> 'amount';
  carried bigint := due -> 'carry' ->> 'units';
BEGIN
  IF latchkey.is_owed(remaining, refilled_at, (due ->> 'dueAt')::bigint, carried, (due -> 'carry' ->> 'since')::bigint) THEN
    remaining := latchkey.refilled(remaining, least(amount, remaining + coalesce(carried, amount)), true);
    sums := latchkey.sums_after_refill(sums, before.remaining, remaining, amount, 0);
    refilled_at := (due ->> 'dueAt')::bigint;
    last_refill_at := refilled_at;
  END IF;
  IF operation = 'set' THEN
    remaining := number;
    sums := latchkey.sums_after_set(sums);
  ELSIF operation <> 'keep' THEN
    IF remaining IS NULL THEN RETURN jsonb_build_object('kind', 'unlimited'); END IF;
    IF operation = 'increment' THEN
      IF remaining + number + latchkey.held_uses(sums) > 9007199254740991 THEN
        RETURN jsonb_build_object('kind', 'overflow', 'remaining', remaining);
      END IF;
      remaining := remaining + number;
    ELSE
      IF number > remaining THEN RETURN jsonb_build_object('kind', 'insufficient', 'remaining', remaining); END IF;
      remaining := remaining - number;
    END IF;
  END IF;
  IF restarts_at IS NOT NULL THEN
    IF last_refill_at > restarts_at THEN last_refill_at := NULL; END IF;
    refilled_at := restarts_at;
  END IF;
  RETURN jsonb_build_object('kind', 'changed', 'usage', jsonb_build_object(
    'remaining', remaining, 'refilledAt', refilled_at, 'lastRefillAt', last_refill_at, 'holds', sums));
END
$function$;
`;
