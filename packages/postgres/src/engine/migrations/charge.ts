/**
 * The atomic step of a verification, as one statement: it confirms what the decision rested on, applies a due refill, then takes
 * every window unit and every use, or none. Mirrors `applyCharge` in packages/core/src/store/charge.ts.
 *
 * Rows are locked before anything that rests on them is read, and always in this order: workspace that is new, windows and
 * requests by a lock on their name (they may have no row yet), counters by their number. Each statement of a function sees what
 * was committed before that statement: records are read after the locks, so that whoever changed a record along with its
 * counters is seen wholly or not at all. Counters that nothing is taken from are only read: a verification of a key without
 * limits writes nothing.
 *
 * `handles` are numbers of counters that the caller knows. Where a record has others by now, nothing is done, and the
 * answer is "moved" and the right ones.
 *
 * Parameters: `revision` null for any; `versions` -1 for no such record, -2 for any version; `uses` and `owners` are places in
 * `ids` from 1 on, `owners` 0 for the workspace; `about` is what to remember of the limits, one line, opaque here.
 *
 * Answers: "stale 0" for the revision, "stale <place>", "moved <numbers>", "conflict", "corrupt", "repeat <what was remembered>",
 * or "charged", "rate-limited" or "usage-exceeded" and, each after a space, uses left or "-", and <start>:<used> for each limit.
 */
export const CHARGE = `
CREATE FUNCTION latchkey.charge(
  workspace_id text, expected_revision bigint, now_at bigint, kinds smallint[], ids text[], versions bigint[],
  handles bigint[], cost bigint, uses integer, is_peek boolean,
  names text[], owners integer[], limits bigint[], durations bigint[], costs bigint[],
  due_amount bigint, due_at bigint, request text, fingerprint text, remember_until bigint, about text
) RETURNS text LANGUAGE plpgsql AS $function$
DECLARE
  found_at record;
  row_of latchkey.counters;
  held latchkey.counters[] := '{}';
  moved boolean[] := '{}';
  confirmed bigint[];
  counted bigint[];
  place_of integer[] := '{}';
  is_passing boolean := request IS NOT NULL OR 0 = ANY (owners);
  is_taking boolean := false;
  workspace_seq integer;
  remembered record;
  remaining bigint;
  is_refilled boolean := false;
  starts bigint[] := '{}';
  units bigint[] := '{}';
  starts_at bigint;
  used bigint;
  stored text;
  is_limited boolean := false;
  answer text;
  place integer;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'latchkey needs READ COMMITTED' USING ERRCODE = 'LK001';
  END IF;

  -- 1. Locks.
  IF is_passing AND NOT is_peek THEN
    IF NOT EXISTS (SELECT FROM latchkey.workspace w WHERE w.id = workspace_id) THEN
      INSERT INTO latchkey.workspace (id) VALUES (workspace_id) ON CONFLICT DO NOTHING;
    END IF;
    PERFORM latchkey.lock_names(workspace_id, CASE WHEN request IS NULL THEN names ELSE names || request END);
  END IF;
  IF handles <> '{}' THEN
    IF NOT is_peek THEN
      FOR place IN 1 .. cardinality(names) LOOP
        is_taking := is_taking OR (owners[place] > 0 AND costs[place] > 0);
      END LOOP;
      FOR row_of IN SELECT * FROM latchkey.counters c
        WHERE c.seq = ANY (handles) AND (is_taking OR c.remaining IS NOT NULL)
        ORDER BY c.seq FOR NO KEY UPDATE
      LOOP
        held := held || row_of;
      END LOOP;
    END IF;
    IF cardinality(held) < cardinality(handles) AND NOT is_taking THEN
      FOR row_of IN SELECT * FROM latchkey.counters c
        WHERE c.seq = ANY (handles) AND (is_peek OR c.remaining IS NULL)
      LOOP
        held := held || row_of;
      END LOOP;
    END IF;
  END IF;

  -- 2. What the decision rested on.
  SELECT w.seq, w.revision, a.version AS version_1, a.counters AS counters_1, b.version AS version_2, b.counters AS counters_2
    INTO found_at
    FROM latchkey.workspace w
    LEFT JOIN latchkey.record a ON a.workspace = w.seq AND a.kind = kinds[1] AND a.id = ids[1]
    LEFT JOIN latchkey.record b ON b.workspace = w.seq AND b.kind = kinds[2] AND b.id = ids[2]
    WHERE w.id = workspace_id;
  workspace_seq := found_at.seq;
  IF expected_revision <> coalesce(found_at.revision, 0) THEN RETURN 'stale 0'; END IF;
  confirmed := ARRAY[found_at.version_1, found_at.version_2];
  counted := ARRAY[found_at.counters_1, found_at.counters_2];
  FOR place IN 3 .. cardinality(ids) LOOP
    SELECT r.version, r.counters INTO confirmed[place], counted[place] FROM latchkey.record r
      WHERE r.workspace = workspace_seq AND r.kind = kinds[place] AND r.id = ids[place];
  END LOOP;
  FOR place IN 1 .. cardinality(ids) LOOP
    IF versions[place] = -1 THEN
      IF confirmed[place] IS NOT NULL THEN RETURN 'stale ' || place; END IF;
    ELSIF confirmed[place] IS NULL OR (versions[place] <> -2 AND confirmed[place] <> versions[place]) THEN
      RETURN 'stale ' || place;
    END IF;
  END LOOP;
  FOR place IN 1 .. cardinality(ids) LOOP
    CONTINUE WHEN counted[place] IS NULL OR NOT (uses IS NOT DISTINCT FROM place OR place = ANY (owners));
    FOR number IN 1 .. cardinality(held) LOOP
      IF (held[number]).seq = counted[place] THEN place_of[place] := number; END IF;
    END LOOP;
    IF place_of[place] IS NULL THEN
      RETURN 'moved ' || (SELECT string_agg(DISTINCT c.seq::text, ',') FROM unnest(counted) WITH ORDINALITY c (seq, at)
        WHERE c.at = uses OR c.at = ANY (owners));
    END IF;
  END LOOP;

  -- 3. The repeat of a request.
  IF request IS NOT NULL THEN
    SELECT p.until, p.value INTO remembered FROM latchkey.passing p
      WHERE p.workspace = workspace_seq AND p.name = request;
    IF remembered.until > now_at THEN
      IF split_part(remembered.value, E'\\n', 1) <> fingerprint THEN RETURN 'conflict'; END IF;
      RETURN 'repeat ' || substr(remembered.value, length(fingerprint) + 2);
    END IF;
  END IF;

  -- 4. The uses, with a due refill applied. Null stands for unlimited. A record without counters has none left.
  IF uses IS NOT NULL THEN
    place := place_of[uses];
    remaining := CASE WHEN place IS NULL THEN 0 ELSE (held[place]).remaining END;
    IF remaining < 0 THEN RETURN 'corrupt'; END IF;
    IF remaining IS NOT NULL AND due_at > coalesce((held[place]).refilled_at, 0) THEN
      remaining := greatest(remaining, due_amount);
      is_refilled := true;
    END IF;
  END IF;

  -- 5. The windows that count now.
  FOR number IN 1 .. cardinality(names) LOOP
    starts_at := now_at - now_at % durations[number];
    used := 0;
    IF owners[number] = 0 THEN
      SELECT p.value INTO stored FROM latchkey.passing p
        WHERE p.workspace = workspace_seq AND p.name = names[number];
    ELSE
      place := place_of[owners[number]];
      stored := (held[place]).windows ->> names[number];
    END IF;
    IF stored IS NOT NULL THEN
      IF stored !~ '^\\d{1,16}:\\d{1,16}$' THEN RETURN 'corrupt'; END IF;
      IF split_part(stored, ':', 1)::bigint >= starts_at THEN
        starts_at := split_part(stored, ':', 1)::bigint;
        used := split_part(stored, ':', 2)::bigint;
      END IF;
    END IF;
    starts := starts || starts_at;
    units := units || used;
    IF used + costs[number] > limits[number] THEN is_limited := true; END IF;
  END LOOP;

  -- 6. The decision. Limits refuse before uses do.
  IF is_limited THEN
    answer := 'rate-limited';
  ELSIF remaining = 0 OR cost > remaining THEN
    answer := 'usage-exceeded';
  ELSE
    answer := 'charged';
    remaining := remaining - cost;
    FOR number IN 1 .. cardinality(names) LOOP
      units[number] := units[number] + costs[number];
    END LOOP;
  END IF;
  is_taking := answer = 'charged' AND NOT is_peek;
  answer := answer || ' ' || coalesce(remaining::text, '-');
  FOR number IN 1 .. cardinality(names) LOOP
    answer := answer || ' ' || starts[number] || ':' || units[number];
  END LOOP;

  -- 7. What is written.
  IF is_taking THEN
    IF remaining IS NOT NULL AND place_of[uses] IS NOT NULL AND (is_refilled OR cost > 0) THEN
      place := place_of[uses];
      row_of := held[place];
      row_of.remaining := remaining;
      IF is_refilled THEN
        row_of.refilled_at := due_at;
        row_of.last_refill_at := due_at;
      END IF;
      held[place] := row_of;
      moved[place] := true;
    END IF;
    FOR number IN 1 .. cardinality(names) LOOP
      CONTINUE WHEN costs[number] = 0;
      IF owners[number] = 0 THEN
        PERFORM latchkey.pass(workspace_seq, names[number], starts[number] + durations[number],
          starts[number] || ':' || units[number]);
      ELSIF place_of[owners[number]] IS NOT NULL THEN
        place := place_of[owners[number]];
        row_of := held[place];
        row_of.windows := row_of.windows || jsonb_build_object(names[number], starts[number] || ':' || units[number]);
        held[place] := row_of;
        moved[place] := true;
      END IF;
    END LOOP;
    FOR place IN 1 .. cardinality(held) LOOP
      CONTINUE WHEN moved[place] IS NULL;
      row_of := held[place];
      UPDATE latchkey.counters c SET remaining = row_of.remaining, refilled_at = row_of.refilled_at,
        last_refill_at = row_of.last_refill_at, windows = row_of.windows WHERE c.seq = row_of.seq;
    END LOOP;
  END IF;
  IF request IS NOT NULL AND NOT is_peek THEN
    PERFORM latchkey.pass(workspace_seq, request, remember_until,
      fingerprint || E'\\n' || answer || E'\\n' || about);
  END IF;
  -- Windows and requests are kept until a day after their end, so that a clock that is set back brings none back. More are
  -- forgotten than written. Last of all: nobody waits for a lock while he holds those of rows that he forgets.
  IF is_passing AND NOT is_peek THEN
    DELETE FROM latchkey.passing p USING (
      SELECT q.workspace, q.name FROM latchkey.passing q WHERE q.until < now_at - 86400000
      ORDER BY q.until LIMIT cardinality(names) + 2 FOR UPDATE SKIP LOCKED
    ) ended WHERE p.workspace = ended.workspace AND p.name = ended.name;
  END IF;
  RETURN answer;
END
$function$;

-- Windows and requests may have no row to lock. The first number keeps clear of locks that other programs take.
CREATE FUNCTION latchkey.lock_names(workspace_id text, names text[]) RETURNS void LANGUAGE plpgsql AS $function$
BEGIN
  PERFORM pg_advisory_xact_lock(1818326891, l.number)
    FROM (SELECT DISTINCT hashtext(workspace_id || ' ' || n.name) AS number FROM unnest(names) n (name) ORDER BY 1) l;
END
$function$;

CREATE FUNCTION latchkey.pass(in_workspace integer, of_name text, ends_at bigint, new_value text)
RETURNS void LANGUAGE sql AS $function$
  INSERT INTO latchkey.passing (until, workspace, name, value) VALUES (ends_at, in_workspace, of_name, new_value)
    ON CONFLICT (workspace, name) DO UPDATE SET until = excluded.until, value = excluded.value;
$function$;
`;
