import { KIND_CODE, LAST_INSTANT, MOST_ENDED_AT_ONCE, REMEMBER_END_MS } from "@latchkey/core";
import { BY_INDEX } from "./commit.js";

/** `holdSumsText` of counters without holds. */
const NO_SUMS = "9007199254740991;0;0;0;0;;";

/** How many expired rows a call deletes at most, besides one for each end that it remembers: ends by a plain statement delete none. */
const FORGOTTEN = 256;

/**
 * Applies steps to holds, each on what those before it left. Mirrors `applyHoldStep` in packages/core/src/store/settle.ts.
 *
 * Rows are locked as charges lock them (see charge.ts): windows of the workspace by their names, then the counters of all holds that may
 * end here, by their number. A hold changes only while all counters that it is beside are locked, so it is read once more under these
 * locks. A step that then needs a lock which is not held is answered "busy", and nothing of it is done. With `is_patient` it waits for
 * locks; without it, counters that another transaction has locked are left out, so that one hot key holds up no other.
 *
 * In a step, `kind` is "end", "renew" or "refresh"; `revision` is null for any; `uses` is null for all; `names` are those of limits, in
 * the form of window names; `ttl` is null for that of the hold, and 0 for an end that does not end other holds which are over;
 * `carried` is what a refill that carries over brings, counted from `carried_since`.
 *
 * Answers, with the character 1 between them: "stale", "busy", "unknown", "conflict", "over <hold>", "unnamed <hold>", "renewed <hold>",
 * "expired", or "expired <hold>" for one that ended by itself just now, "repeat <remembered end>", "ended <remembered end>", or
 * "refreshed <0 or 1>", 1 if there is more to do, and a line "<id> <hold>" for each that has ended. An end gets this answer as well if
 * others beside the same counters are over: these have then ended, and the caller asks for the end again. Damaged data is an error.
 */
export const SETTLE = `
CREATE FUNCTION latchkey.settle(workspace_id text, steps latchkey.hold_step[], is_patient boolean) RETURNS text
LANGUAGE plpgsql AS $function$
DECLARE
  step latchkey.hold_step;
  ws integer;
  found_revision bigint;
  needed bigint[] := '{}';
  passing text[] := '{}';
  -- For each counters row, as the steps leave it.
  seqs bigint[] := '{}';
  remainings bigint[];
  refills bigint[];
  last_refills bigint[];
  windows_of jsonb[];
  sums_of text[];
  own record;
  own_seq bigint;
  slot integer;
  have_moved boolean[];
  -- How many ends are remembered.
  ends integer := 0;
  -- Of a step: the holds that it ends, and what was used of the one that it names.
  ending text[];
  touched integer[];
  hold latchkey.hold;
  words text[];
  used bigint[];
  is_over boolean;
  used_uses bigint;
  used_slot integer;
  ended text;
  remembered_until bigint;
  -- By the clock of the server.
  kept_until bigint;
  -- Of a hold: what comes back.
  unit record;
  place integer;
  beside integer[];
  number bigint;
  back bigint;
  stored text;
  parts text[];
  raises text[];
  raised bigint[];
  paid bigint;
  -- A hold that is over gives back as of its end.
  back_at bigint;
  ends_at bigint;
  server_at bigint := extract(epoch FROM clock_timestamp()) * 1000;
  answer text;
  answers text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'latchkey needs READ COMMITTED' USING ERRCODE = 'LK001';
  END IF;

  -- 1. Locks.
  SELECT w.seq INTO ws FROM latchkey.workspace w WHERE w.id = workspace_id;
  FOREACH step IN ARRAY steps LOOP
    own_seq := NULL;
    IF step.kind = 'refresh' THEN
      SELECT r.counters INTO own_seq FROM latchkey.record r WHERE r.workspace = ws AND r.kind = step.of_kind AND r.id = step.of_id;
      ending := latchkey.over(own_seq, step.now_at);
    ELSE
      ending := ARRAY[step.id, step.id || '.s'];
      IF step.kind = 'end' AND step.ttl IS NULL AND NOT starts_with(step.id, 'lse_') THEN
        ending := ending || latchkey.over_beside(ws, step.id, step.now_at);
      END IF;
    END IF;
    needed := needed || own_seq;
    FOR hold IN SELECT h.* FROM latchkey.hold h WHERE h.workspace = ws AND h.id = ANY (ending) LOOP
      needed := needed || hold.first || hold.second;
      passing := passing || latchkey.passing_of(hold.value);
    END LOOP;
  END LOOP;
  IF passing <> '{}' THEN PERFORM latchkey.lock_names(workspace_id, passing); END IF;
  FOR own_seq IN SELECT DISTINCT n.seq FROM unnest(needed) n (seq) WHERE n.seq IS NOT NULL ORDER BY 1 LOOP
    IF is_patient THEN
      SELECT c.* INTO own FROM latchkey.counters c WHERE c.seq = own_seq FOR NO KEY UPDATE;
    ELSE
      SELECT c.* INTO own FROM latchkey.counters c WHERE c.seq = own_seq FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    CONTINUE WHEN own.seq IS NULL;
    slot := cardinality(seqs) + 1;
    seqs[slot] := own_seq;
    remainings[slot] := own.remaining;
    refills[slot] := own.refilled_at;
    last_refills[slot] := own.last_refill_at;
    windows_of[slot] := own.windows;
    sums_of[slot] := own.holds;
    IF own.remaining < 0 OR NOT latchkey.are_sums(own.holds) THEN
      RAISE 'what is held is damaged' USING ERRCODE = '22000';
    END IF;
  END LOOP;
  SELECT w.revision INTO found_revision FROM latchkey.workspace w WHERE w.seq = ws;

  FOREACH step IN ARRAY steps LOOP
    <<doing>>
    BEGIN
      IF step.revision <> coalesce(found_revision, 0) THEN
        answer := 'stale';
        EXIT doing;
      END IF;

      -- 2. The holds that the step is about.
      used := '{}';
      used_uses := 0;
      touched := '{}';
      remembered_until := step.now_at + ${REMEMBER_END_MS};
      kept_until := remembered_until + greatest(server_at - step.now_at, 0);
      IF step.kind = 'refresh' THEN
        SELECT r.counters INTO own_seq FROM latchkey.record r WHERE r.workspace = ws AND r.kind = step.of_kind AND r.id = step.of_id;
        ending := latchkey.over(own_seq, step.now_at);
        answer := 'refreshed ' || (cardinality(ending) > ${MOST_ENDED_AT_ONCE})::integer;
        ending := ending[1 : ${MOST_ENDED_AT_ONCE}];
        IF own_seq IS NULL THEN EXIT doing; END IF;
        touched := ARRAY[array_position(seqs, own_seq)];
      ELSE
        SELECT h.* INTO hold FROM latchkey.hold h WHERE h.workspace = ws AND h.id = step.id
          AND (h.first IS NOT NULL OR starts_with(h.id, 'lse_'));
        IF hold.id IS NULL THEN
          -- A write, though it changes nothing: see the function charge.
          SELECT p.value INTO stored FROM latchkey.passing p WHERE p.workspace = ws AND p.name = '  ' || step.id FOR SHARE;
          answer := CASE WHEN stored IS NULL THEN 'unknown' ELSE latchkey.repeated(step, stored) END;
          EXIT doing;
        END IF;
        -- Its counters are not locked: it may be gone by now.
        IF hold.first <> ALL (seqs) THEN
          answer := 'busy';
          EXIT doing;
        END IF;
        ending := ARRAY[step.id, step.id || '.s'];
        words := string_to_array(hold.value, ' ');
        IF NOT latchkey.is_hold(hold.value, words) THEN RAISE 'a hold is damaged' USING ERRCODE = '22000'; END IF;
        IF hold.expires_at <= step.now_at THEN
          answer := 'expired ' || hold.value;
        ELSIF step.kind = 'end' THEN
          SELECT u.used, u.is_over INTO used, is_over FROM latchkey.used_units(words[9:], step.names, step.costs, step.takes_rest) u;
          used_uses := coalesce(step.uses, words[6]::bigint);
          IF used IS NULL THEN
            answer := 'unnamed ' || hold.value;
            EXIT doing;
          END IF;
          IF used_uses > words[6]::bigint OR is_over THEN
            answer := 'over ' || hold.value;
            EXIT doing;
          END IF;
          answer := 'ended';
          -- A hold that a process took ahead waits for no other.
          IF step.ttl IS NULL AND NOT starts_with(step.id, 'lse_') AND EXISTS (
            SELECT FROM unnest(seqs, sums_of) c (seq, sums)
            WHERE c.seq IN (hold.first, hold.second) AND split_part(c.sums, ';', 1)::bigint <= step.now_at
          ) THEN
            answer := 'refreshed 1';
            ending := (latchkey.over_beside(ws, step.id, step.now_at))[1 : ${MOST_ENDED_AT_ONCE}];
            touched := ARRAY[array_position(seqs, hold.first)];
            IF hold.second IS NOT NULL THEN touched := touched || array_position(seqs, hold.second); END IF;
          END IF;
        ELSE
          answer := 'renewed';
        END IF;
      END IF;
      IF array_position(touched, NULL) IS NOT NULL OR EXISTS (
        SELECT FROM latchkey.hold h WHERE h.workspace = ws AND h.id = ANY (ending)
          AND (h.first <> ALL (seqs) OR h.second <> ALL (seqs) OR NOT latchkey.passing_of(h.value) <@ passing)
      ) THEN
        answer := 'busy';
        EXIT doing;
      END IF;

      FOR hold IN SELECT h.* FROM latchkey.hold h WHERE h.workspace = ws AND h.id = ANY (ending) ORDER BY h.expires_at, h.id LOOP
        words := string_to_array(hold.value, ' ');
        IF NOT latchkey.is_hold(hold.value, words) THEN RAISE 'a hold is damaged' USING ERRCODE = '22000'; END IF;
        beside := ARRAY[array_position(seqs, hold.first), array_position(seqs, hold.second)];
        touched := touched || beside;
        back_at := least(step.now_at, hold.expires_at);
        IF step.kind = 'renew' AND back_at < hold.expires_at THEN
          IF EXISTS (SELECT FROM latchkey.units_of(words[9:]) u WHERE u.units + u.held_at + u.rate < 0) THEN
            RAISE 'a hold is damaged' USING ERRCODE = '22000';
          END IF;
          ends_at := least(step.now_at + least(coalesce(step.ttl, words[5]::bigint),
            (SELECT min(u.duration) FROM latchkey.units_of(words[9:]) u WHERE u.mark = 'c' AND step.ttl IS NOT NULL)), ${LAST_INSTANT});
          words[4] := ends_at;
          stored := array_to_string(words, ' ');
          UPDATE latchkey.hold h SET expires_at = ends_at, value = stored WHERE h.workspace = ws AND h.id = hold.id;
          -- The workspace deletes windows that ended long ago: slots that are renewed have not.
          UPDATE latchkey.passing p SET until = ends_at + server_at - step.now_at,
              value = greatest(split_part(p.value, ':', 1)::bigint, step.now_at) || ':' || split_part(p.value, ':', 2)
            WHERE p.workspace = ws AND p.name IN (SELECT u.of_window FROM latchkey.units_of(words[9:]) u WHERE u.owner = '-' AND u.mark = 'c');
          ending := array_remove(ending, hold.id);
          IF hold.id = step.id THEN answer := 'renewed ' || stored; END IF;
          CONTINUE;
        END IF;

        -- 3. The unused units of limits.
        FOR unit IN SELECT u.* FROM latchkey.units_of(words[9:]) u WHERE u.mark IS NOT NULL LOOP
          place := CASE unit.owner WHEN '1' THEN 2 ELSE 1 END;
          slot := beside[place];
          back := unit.units - CASE WHEN hold.id = step.id THEN coalesce(used[unit.number], 0) ELSE 0 END;
          CONTINUE WHEN (back = 0 AND NOT starts_with(hold.id, 'lse_')) OR (slot IS NULL AND unit.owner <> '-');
          number := coalesce(nullif(split_part(words[8], ',', place), ''), '0');
          CONTINUE WHEN split_part(sums_of[slot], ';', 7) <> ''
            AND NOT latchkey.is_returnable(split_part(sums_of[slot], ';', 7), unit.of_window, unit.owner = '-', number);
          IF unit.owner = '-' THEN
            SELECT p.value INTO stored FROM latchkey.passing p WHERE p.workspace = ws AND p.name = unit.of_window;
          ELSE
            stored := windows_of[slot] ->> unit.of_window;
          END IF;
          CONTINUE WHEN stored IS NULL;
          IF NOT latchkey.is_window(stored) THEN RAISE 'a window is damaged' USING ERRCODE = '22000'; END IF;
          IF unit.mark = 't' AND starts_with(hold.id, 'lse_') THEN
            stored := latchkey.after_lease(stored, unit.duration, unit.rate, unit.units, back, back_at);
          ELSE
            stored := latchkey.after_return(split_part(stored, ':', 1)::bigint, split_part(stored, ':', 2)::bigint, split_part(stored, ':', 3),
              unit.mark, unit.duration, unit.held_at, unit.rate, back, back_at, latchkey.flowed_before(words[8 + unit.number]));
          END IF;
          IF unit.owner = '-' THEN
            PERFORM latchkey.pass(ws, unit.of_window,
              latchkey.ends_after_return(stored, unit.mark, unit.duration, unit.rate) + server_at - step.now_at, stored);
          ELSE
            windows_of[slot] := windows_of[slot] || jsonb_build_object(unit.of_window, stored);
          END IF;
        END LOOP;

        -- 4. The unused uses: refills since then are paid for first, the oldest first.
        FOR place IN 1 .. 2 LOOP
          slot := beside[place];
          CONTINUE WHEN slot IS NULL;
          parts := string_to_array(coalesce(sums_of[slot], '${NO_SUMS}'), ';');
          number := coalesce(nullif(split_part(words[8], ',', place), ''), '0');
          back := 0;
          IF words[7] = (place - 1)::text AND number >= parts[5]::bigint THEN
            parts[3] := parts[3]::bigint - words[6]::bigint;
            back := words[6]::bigint - CASE WHEN hold.id = step.id THEN used_uses ELSE 0 END;
          END IF;
          raises := string_to_array(parts[6], ',');
          FOR at IN 1 .. cardinality(raises) LOOP
            raised := string_to_array(raises[at], '/');
            IF cardinality(raised) <> 3 THEN RAISE 'what is held is damaged' USING ERRCODE = '22000'; END IF;
            CONTINUE WHEN raised[1] <= number;
            paid := least(raised[3], back - least(raised[2], back));
            raises[at] := concat_ws('/', raised[1], raised[2] - least(raised[2], back), raised[3] - paid);
            back := back - paid;
          END LOOP;
          parts[2] := parts[2]::bigint - (hold.id NOT LIKE '%.s')::integer;
          parts[6] := CASE parts[3] WHEN '0' THEN '' ELSE array_to_string(raises, ',') END;
          remainings[slot] := remainings[slot] + back;
          sums_of[slot] := array_to_string(parts, ';');
        END LOOP;
        IF answer = 'ended' AND hold.id = step.id THEN
          used_slot := beside[nullif(words[7], '-')::integer + 1];
          ended := hold.value;
        ELSIF hold.id NOT LIKE '%.s' AND hold.first IS NOT NULL THEN
          -- A hold whose key is gone was already unknown.
          PERFORM latchkey.pass(ws, '  ' || hold.id, kept_until, remembered_until::text);
          ends := ends + 1;
        END IF;
        IF starts_with(answer, 'refreshed') THEN answer := answer || E'\\n' || hold.id || ' ' || hold.value; END IF;
      END LOOP;
      DELETE FROM latchkey.hold h WHERE h.workspace = ws AND h.id = ANY (ending);
      FOR slot IN SELECT DISTINCT t.slot FROM unnest(touched) t (slot) WHERE t.slot IS NOT NULL LOOP
        SELECT least((SELECT h.expires_at FROM latchkey.hold h WHERE h.first = seqs[slot] ORDER BY h.expires_at LIMIT 1),
          (SELECT h.expires_at FROM latchkey.hold h WHERE h.second = seqs[slot] ORDER BY h.expires_at LIMIT 1)) INTO ends_at;
        sums_of[slot] := ends_at || substring(coalesce(sums_of[slot], '${NO_SUMS}') FROM ';.*$');
        have_moved[slot] := true;
      END LOOP;

      -- 5. A due refill, and what is remembered.
      IF step.kind = 'refresh' THEN
        slot := array_position(seqs, own_seq);
        IF latchkey.is_owed(remainings[slot], refills[slot], step.due_at, step.carried, step.carried_since) THEN
          back := remainings[slot];
          remainings[slot] := latchkey.refilled(back, least(step.due_amount, back + coalesce(step.carried, step.due_amount)), true);
          refills[slot] := step.due_at;
          last_refills[slot] := step.due_at;
          sums_of[slot] := latchkey.sums_after_refill(sums_of[slot], back, remainings[slot], step.due_amount, latchkey.oldest(own_seq));
        END IF;
      ELSIF answer = 'ended' THEN
        words := ARRAY[remainings[used_slot], refills[used_slot], last_refills[used_slot]]::text[];
        stored := concat_ws(' ', remembered_until, step.now_at, used_uses, coalesce(nullif(array_to_string(used, ','), ''), '-'),
          array_to_string(words, ' ', '-'), ended);
        PERFORM latchkey.pass(ws, '  ' || step.id, kept_until, stored);
        answer := 'ended ' || stored;
        ends := ends + 1;
      END IF;
    END doing;
    answers := concat_ws(E'\\x01', answers, answer);
  END LOOP;

  FOR slot IN 1 .. cardinality(seqs) LOOP
    CONTINUE WHEN have_moved[slot] IS NULL;
    UPDATE latchkey.counters c SET remaining = remainings[slot], refilled_at = refills[slot],
      last_refill_at = last_refills[slot], windows = windows_of[slot], holds = sums_of[slot] WHERE c.seq = seqs[slot];
  END LOOP;
  IF ends > 0 THEN PERFORM latchkey.forget_passed(server_at, ends + ${FORGOTTEN}); END IF;
  RETURN answers;
END
$function$;

-- Holds that are over beside counters, earliest first, at most one more than a step ends.
CREATE FUNCTION latchkey.over(own_seq bigint, now_at bigint) RETURNS text[] LANGUAGE plpgsql STABLE AS $function$
BEGIN
  RETURN ARRAY(SELECT o.id FROM (
    (SELECT h.expires_at, h.id FROM latchkey.hold h WHERE h.first = own_seq AND h.expires_at <= now_at
      ORDER BY h.expires_at, h.id LIMIT ${MOST_ENDED_AT_ONCE + 1})
    UNION ALL
    (SELECT h.expires_at, h.id FROM latchkey.hold h WHERE h.second = own_seq AND h.expires_at <= now_at
      ORDER BY h.expires_at, h.id LIMIT ${MOST_ENDED_AT_ONCE + 1})
  ) o ORDER BY o.expires_at, o.id LIMIT ${MOST_ENDED_AT_ONCE + 1});
END
$function$;

-- Holds that are over beside the counters of a hold, earliest first, at most one more than a step ends.
CREATE FUNCTION latchkey.over_beside(ws integer, hold_id text, now_at bigint) RETURNS text[] LANGUAGE plpgsql STABLE AS $function$
BEGIN
  RETURN ARRAY(SELECT o.id FROM latchkey.hold h
    CROSS JOIN LATERAL unnest(latchkey.over(h.first, now_at) || latchkey.over(h.second, now_at)) e (id)
    JOIN latchkey.hold o ON o.workspace = ws AND o.id = e.id
    WHERE h.workspace = ws AND h.id = hold_id
    GROUP BY o.id, o.expires_at ORDER BY o.expires_at, o.id LIMIT ${MOST_ENDED_AT_ONCE + 1});
END
$function$;

-- Makes exactly these holds the holds beside the counters of a record, for a copy: nothing is taken, and nothing given back.
CREATE FUNCTION latchkey.restore(workspace_id text, of_revision bigint, of_kind smallint, of_id text, sums text, holds jsonb) RETURNS text
LANGUAGE plpgsql AS $function$
DECLARE
  ws integer;
  found_revision bigint;
  own_seq bigint;
BEGIN
  -- These take turns, like changes of a workspace.
  SELECT w.seq, w.revision INTO ws, found_revision FROM latchkey.workspace w WHERE w.id = workspace_id FOR NO KEY UPDATE;
  IF of_revision <> coalesce(found_revision, 0) THEN RETURN 'stale'; END IF;
  SELECT r.counters INTO own_seq FROM latchkey.record r WHERE r.workspace = ws AND r.kind = of_kind AND r.id = of_id;
  PERFORM FROM latchkey.counters c WHERE c.seq = own_seq FOR NO KEY UPDATE;
  IF own_seq IS NULL THEN RETURN 'restored'; END IF;
  PERFORM latchkey.detach(ARRAY[own_seq], ARRAY(SELECT h.id FROM jsonb_to_recordset(holds) AS h (id text)));
  INSERT INTO latchkey.hold AS h (expires_at, first, second, workspace, id, value)
    SELECT g.ends, CASE of_kind WHEN ${KIND_CODE.key} THEN own_seq END, CASE of_kind WHEN ${KIND_CODE.key} THEN NULL ELSE own_seq END, ws, g.id, g.value
    FROM jsonb_to_recordset(holds) AS g (id text, ends bigint, value text) ORDER BY g.id
    ON CONFLICT (workspace, id) DO UPDATE SET expires_at = excluded.expires_at, value = excluded.value,
      first = coalesce(excluded.first, h.first), second = coalesce(excluded.second, h.second);
  UPDATE latchkey.counters c SET holds = sums WHERE c.seq = own_seq;
  RETURN 'restored';
END
$function$;

-- Detaches holds from counters, all but some. A hold that is beside no other counters is deleted.
CREATE FUNCTION latchkey.detach(gone bigint[], kept text[]) RETURNS void LANGUAGE plpgsql ${BY_INDEX} AS $function$
BEGIN
  DELETE FROM latchkey.hold h WHERE h.first = ANY (gone) AND (h.second IS NULL OR h.second = ANY (gone)) AND h.id <> ALL (kept);
  DELETE FROM latchkey.hold h WHERE h.second = ANY (gone) AND h.first IS NULL AND h.id <> ALL (kept);
  UPDATE latchkey.hold h SET first = NULL WHERE h.first = ANY (gone) AND h.id <> ALL (kept);
  UPDATE latchkey.hold h SET second = NULL WHERE h.second = ANY (gone) AND h.id <> ALL (kept);
END
$function$;

-- The lowest number of a hold beside counters.
CREATE FUNCTION latchkey.oldest(own_seq bigint) RETURNS bigint LANGUAGE sql STABLE
  RETURN (SELECT coalesce(min(o.number), 0) FROM (
    SELECT split_part(split_part(h.value, ' ', 8), ',', 1)::bigint AS number FROM latchkey.hold h WHERE h.first = own_seq
    UNION ALL SELECT split_part(split_part(h.value, ' ', 8), ',', 2)::bigint FROM latchkey.hold h WHERE h.second = own_seq
  ) o);
`;
