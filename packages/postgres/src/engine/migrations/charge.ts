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
 * `handles` are numbers of counters that the caller knows, in ascending order. Where a record has others by now, nothing is done, and the
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
  another record;
  own latchkey.counters;
  confirmed bigint[];
  counted bigint[];
  place_of integer[];
  remainings bigint[];
  refills bigint[];
  last_refills bigint[];
  windows_of jsonb[];
  moved boolean[];
  is_passing boolean := request IS NOT NULL OR 0 = ANY (owners);
  is_taking boolean := false;
  workspace_seq integer;
  remembered record;
  remaining bigint;
  is_refilled boolean := false;
  starts bigint[];
  units bigint[];
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

  -- 1. Locks. Each counters by a statement of its own: one for a list of numbers would be planned anew each time.
  IF is_passing AND NOT is_peek THEN
    IF NOT EXISTS (SELECT FROM latchkey.workspace w WHERE w.id = workspace_id) THEN
      INSERT INTO latchkey.workspace (id) VALUES (workspace_id) ON CONFLICT DO NOTHING;
    END IF;
    PERFORM latchkey.lock_names(workspace_id, CASE WHEN request IS NULL THEN names ELSE names || request END);
  END IF;
  FOR number IN 1 .. cardinality(names) LOOP
    is_taking := is_taking OR (NOT is_peek AND owners[number] > 0 AND costs[number] > 0);
  END LOOP;
  FOR number IN 1 .. cardinality(handles) LOOP
    own := NULL;
    IF NOT is_peek THEN
      SELECT * INTO own FROM latchkey.counters c WHERE c.seq = handles[number] AND (is_taking OR c.remaining IS NOT NULL)
        FOR NO KEY UPDATE;
    END IF;
    IF own.seq IS NULL AND NOT is_taking THEN
      SELECT * INTO own FROM latchkey.counters c WHERE c.seq = handles[number] AND (is_peek OR c.remaining IS NULL);
    END IF;
    remainings[number] := own.remaining;
    refills[number] := own.refilled_at;
    last_refills[number] := own.last_refill_at;
    windows_of[number] := own.windows;
  END LOOP;

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
    SELECT r.version, r.counters INTO another FROM latchkey.record r
      WHERE r.workspace = workspace_seq AND r.kind = kinds[place] AND r.id = ids[place];
    confirmed[place] := another.version;
    counted[place] := another.counters;
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
    place_of[place] := array_position(handles, counted[place]);
    IF place_of[place] IS NULL OR windows_of[place_of[place]] IS NULL THEN
      RETURN 'moved ' || array_to_string(ARRAY(SELECT DISTINCT c.seq FROM unnest(counted) WITH ORDINALITY c (seq, at)
        WHERE c.seq IS NOT NULL AND (c.at = uses OR c.at = ANY (owners)) ORDER BY c.seq), ',');
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
    remaining := CASE WHEN place IS NULL THEN 0 ELSE remainings[place] END;
    IF remaining < 0 THEN RETURN 'corrupt'; END IF;
    IF remaining IS NOT NULL AND due_at > coalesce(refills[place], 0) THEN
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
      stored := windows_of[place] ->> names[number];
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
      remainings[place] := remaining;
      IF is_refilled THEN
        refills[place] := due_at;
        last_refills[place] := due_at;
      END IF;
      moved[place] := true;
    END IF;
    FOR number IN 1 .. cardinality(names) LOOP
      CONTINUE WHEN costs[number] = 0;
      place := place_of[owners[number]];
      stored := starts[number] || ':' || units[number];
      IF owners[number] = 0 THEN
        PERFORM latchkey.pass(workspace_seq, names[number], starts[number] + durations[number], stored);
      ELSIF place IS NOT NULL THEN
        windows_of[place] := windows_of[place] || jsonb_build_object(names[number], stored);
        moved[place] := true;
      END IF;
    END LOOP;
    FOR number IN 1 .. cardinality(handles) LOOP
      CONTINUE WHEN moved[number] IS NULL;
      UPDATE latchkey.counters c SET remaining = remainings[number], refilled_at = refills[number],
        last_refill_at = last_refills[number], windows = windows_of[number] WHERE c.seq = handles[number];
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
