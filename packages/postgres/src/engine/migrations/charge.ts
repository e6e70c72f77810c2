import { LAST_INSTANT } from "@latchkey/core";
import { PASSING } from "./passing.js";

/**
 * The atomic step of verifications, as one statement: each plan confirms the records that its decision rests on, applies a due refill,
 * then takes every window unit and every use, or none. Mirrors `applyCharge` in packages/core/src/store/charge.ts. Plans are decided in
 * order, each on what those before it left, and one update writes everything that they took from one record.
 *
 * Rows are locked before anything that rests on them is read, and always in this order: a new workspace, windows and requests by a lock
 * on their name (they may have no row yet), counters by their number. Each statement of a function sees what was committed before that
 * statement: records are read after the locks, so that a change of a record and its counters is seen wholly or not at all. Counters that
 * nothing is taken from are only read: a verification of a key without limits writes nothing.
 *
 * With `is_patient` the first plan waits for its locks. No other plan waits: if another transaction has locked its counters, it is
 * answered "busy", and nothing is done. So one hot key holds up no other, and a plan that waits holds only locks that come earlier in the
 * order above. A plan that takes from windows without an owner, or that remembers a request, is sent alone, or with others that take from
 * the same window and from nothing else.
 *
 * `handles` are the numbers of counters that the caller knows, in ascending order. If a record has others by now, nothing is done, and
 * the answer is "moved" and the right ones.
 *
 * In a plan, `revision` is null for any; `versions` are -1 for no such record, -2 for any version; `uses` and `owners` are places in
 * `ids` from 1 on, `owners` 0 for the workspace; `is_taking` says whether units are taken from counters; `about` is what to remember of
 * the limits, one line, opaque here. In `algorithms`, the units of a bucket that are taken for a lease follow its name:
 * `token-bucket:25`. `algorithms`, `bursts` and `are_shadows` are empty if all limits count in fixed windows and none is a shadow.
 * `due_amount` is null for a refill that carries over: only `settle` computes that. `most` is empty if nothing is held; otherwise that
 * many of the first records are among those that units are taken from, and `slot_ttl` is null if no slots are held.
 *
 * Answers, with the character 1 between them: "stale 0" for the revision, "stale <place>", "moved <numbers>", "busy", "conflict",
 * "corrupt", "unsettled <place>", "full <place>", "repeat <remembered answer>", or "charged", "rate-limited" or "usage-exceeded" and,
 * each after a space, uses left or "-", and <at>:<used> for each limit, with `:<earlier>` if it has any and `!` after a shadow without
 * room, then id and end of the hold.
 */
export const CHARGE = `
CREATE FUNCTION latchkey.charge(plans latchkey.plan[], is_patient boolean) RETURNS text LANGUAGE plpgsql AS $function$
DECLARE
  plan latchkey.plan;
  before latchkey.plan;
  handle bigint;
  waits boolean := is_patient;
  slot integer;
  -- For each counters row that a plan names, as the plans leave it.
  seqs bigint[] := '{}';
  are_locked boolean[];
  remainings bigint[];
  refills bigint[];
  last_refills bigint[];
  windows_of jsonb[];
  sums_of text[];
  have_moved boolean[];
  own_remaining bigint;
  own_refill bigint;
  own_last_refill bigint;
  own_windows jsonb;
  own_sums text;
  -- The records that a plan confirms.
  another record;
  workspace_seq integer;
  found_revision bigint;
  confirmed bigint[];
  counted bigint[];
  -- The sums of holds beside each.
  held text[];
  remembered record;
  remaining bigint;
  is_refilled boolean;
  -- The state of each limit: at, units used, those of earlier groups or of leases, and by how much a cost is too high.
  starts bigint[];
  units bigint[];
  earlier bigint[];
  earlier_texts text[];
  excess bigint;
  algorithm text;
  is_shadow boolean;
  -- Whether it is a shadow without room.
  are_over boolean[];
  ends_at bigint;
  stored text;
  is_limited boolean;
  decision text;
  is_taken boolean;
  -- The hold: its limits as text, slots apart from others.
  unit text;
  slots_text text;
  units_text text;
  own_ttl bigint;
  own_uses bigint;
  identity integer;
  is_more boolean;
  is_passing boolean := false;
  server_at bigint := extract(epoch FROM clock_timestamp()) * 1000;
  -- By how much the clock of the server is ahead of the caller's.
  ahead bigint;
  answer text;
  answers text;
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE 'latchkey needs READ COMMITTED' USING ERRCODE = 'LK001';
  END IF;

  -- 1. Locks, each counters row by a statement of its own: one for a list of numbers would be planned anew each time.
  FOREACH plan IN ARRAY plans LOOP
    IF (plan.request IS NOT NULL OR 0 = ANY (plan.owners)) AND NOT plan.is_peek THEN
      is_passing := true;
      IF NOT EXISTS (SELECT FROM latchkey.workspace w WHERE w.id = plan.workspace_id) THEN
        INSERT INTO latchkey.workspace (id) VALUES (plan.workspace_id) ON CONFLICT DO NOTHING;
      END IF;
      PERFORM latchkey.lock_names(plan.workspace_id,
        CASE WHEN plan.request IS NULL THEN plan.names ELSE plan.names || plan.request END);
    END IF;
    FOREACH handle IN ARRAY plan.handles LOOP
      slot := coalesce(array_position(seqs, handle), cardinality(seqs) + 1);
      CONTINUE WHEN are_locked[slot];
      seqs[slot] := handle;
      own_windows := NULL;
      IF plan.is_peek THEN
        NULL;
      ELSIF waits THEN
        SELECT c.remaining, c.refilled_at, c.last_refill_at, c.windows, c.holds
          INTO own_remaining, own_refill, own_last_refill, own_windows, own_sums FROM latchkey.counters c
          WHERE c.seq = handle AND (plan.is_taking OR c.remaining IS NOT NULL) FOR NO KEY UPDATE;
      ELSE
        SELECT c.remaining, c.refilled_at, c.last_refill_at, c.windows, c.holds
          INTO own_remaining, own_refill, own_last_refill, own_windows, own_sums FROM latchkey.counters c
          WHERE c.seq = handle AND (plan.is_taking OR c.remaining IS NOT NULL) FOR NO KEY UPDATE SKIP LOCKED;
      END IF;
      are_locked[slot] := own_windows IS NOT NULL;
      IF own_windows IS NULL AND NOT plan.is_taking THEN
        SELECT c.remaining, c.refilled_at, c.last_refill_at, c.windows, c.holds
          INTO own_remaining, own_refill, own_last_refill, own_windows, own_sums FROM latchkey.counters c
          WHERE c.seq = handle AND (plan.is_peek OR c.remaining IS NULL);
      END IF;
      CONTINUE WHEN own_windows IS NULL;
      remainings[slot] := own_remaining;
      refills[slot] := own_refill;
      last_refills[slot] := own_last_refill;
      windows_of[slot] := own_windows;
      sums_of[slot] := own_sums;
    END LOOP;
    waits := false;
  END LOOP;

  FOREACH plan IN ARRAY plans LOOP
    <<deciding>>
    BEGIN
      ahead := server_at - plan.now_at;
      -- 2. The records that the decision rests on. Consecutive plans that confirm the same records see the same.
      IF before.ids IS DISTINCT FROM plan.ids OR before.kinds <> plan.kinds OR before.workspace_id <> plan.workspace_id THEN
        SELECT w.seq, w.revision, ARRAY[a.version, b.version], ARRAY[a.counters, b.counters],
            ARRAY[(SELECT c.holds FROM latchkey.counters c WHERE c.seq = a.counters), (SELECT c.holds FROM latchkey.counters c WHERE c.seq = b.counters)]
          INTO workspace_seq, found_revision, confirmed, counted, held
          FROM latchkey.workspace w
          LEFT JOIN latchkey.record a ON a.workspace = w.seq AND a.kind = plan.kinds[1] AND a.id = plan.ids[1]
          LEFT JOIN latchkey.record b ON b.workspace = w.seq AND b.kind = plan.kinds[2] AND b.id = plan.ids[2]
          WHERE w.id = plan.workspace_id;
        FOR place IN 3 .. cardinality(plan.ids) LOOP
          SELECT r.version, r.counters, c.holds INTO another FROM latchkey.record r LEFT JOIN latchkey.counters c ON c.seq = r.counters
            WHERE r.workspace = workspace_seq AND r.kind = plan.kinds[place] AND r.id = plan.ids[place];
          confirmed[place] := another.version;
          counted[place] := another.counters;
          held[place] := another.holds;
        END LOOP;
        before := plan;
      END IF;
      IF plan.revision <> coalesce(found_revision, 0) THEN
        answer := 'stale 0';
        EXIT deciding;
      END IF;
      FOR place IN 1 .. cardinality(plan.ids) LOOP
        IF (CASE plan.versions[place] WHEN -1 THEN confirmed[place] IS NOT NULL WHEN -2 THEN confirmed[place] IS NULL
            ELSE plan.versions[place] IS DISTINCT FROM confirmed[place] END) THEN
          answer := 'stale ' || place;
          EXIT deciding;
        END IF;
      END LOOP;
      FOR place IN 1 .. cardinality(plan.ids) LOOP
        CONTINUE WHEN counted[place] IS NULL OR NOT
          (plan.uses IS NOT DISTINCT FROM place OR place = ANY (plan.owners) OR place <= cardinality(plan.most));
        slot := array_position(seqs, counted[place]);
        CONTINUE WHEN are_locked[slot];
        IF slot IS NULL OR NOT counted[place] = ANY (plan.handles) THEN
          answer := 'moved ' || array_to_string(ARRAY(SELECT DISTINCT c.seq FROM unnest(counted) WITH ORDINALITY c (seq, at)
            WHERE c.seq IS NOT NULL AND (c.at = plan.uses OR c.at = ANY (plan.owners) OR c.at <= cardinality(plan.most)) ORDER BY c.seq), ',');
          EXIT deciding;
        ELSIF windows_of[slot] IS NULL OR plan.is_taking OR NOT (plan.is_peek OR remainings[slot] IS NULL) THEN
          answer := 'busy';
          EXIT deciding;
        END IF;
      END LOOP;

      -- 3. A repeated request.
      IF plan.request IS NOT NULL THEN
        SELECT p.until, p.value INTO remembered FROM latchkey.passing p
          WHERE p.workspace = workspace_seq AND p.name = plan.request;
        -- By the caller's clock: the row is kept by the clock of the server, perhaps for longer.
        stored := split_part(remembered.value, E'\\n', 1);
        IF coalesce(nullif(split_part(stored, ' ', 2), '')::bigint, remembered.until) > plan.now_at THEN
          -- A write, though it changes nothing: where commits wait to be durable, the repeat is not answered before the first is.
          IF NOT plan.is_peek THEN
            PERFORM FROM latchkey.passing p WHERE p.workspace = workspace_seq AND p.name = plan.request FOR NO KEY UPDATE;
          END IF;
          answer := CASE WHEN split_part(stored, ' ', 1) <> plan.fingerprint THEN 'conflict'
            ELSE 'repeat ' || substr(remembered.value, length(stored) + 2) END;
          EXIT deciding;
        END IF;
      END IF;

      -- 4. Holds that are over have to be settled first.
      FOR place IN 1 .. cardinality(plan.ids) LOOP
        slot := array_position(seqs, counted[place]);
        IF slot IS NOT NULL THEN held[place] := sums_of[slot]; END IF;
        CONTINUE WHEN held[place] IS NULL;
        IF NOT latchkey.are_sums(held[place]) THEN
          answer := 'corrupt';
          EXIT deciding;
        ELSIF split_part(held[place], ';', 1)::bigint <= plan.now_at THEN
          answer := 'unsettled ' || place;
          EXIT deciding;
        END IF;
      END LOOP;

      -- 5. The uses, with a due refill applied. A record without counters has no uses left.
      remaining := NULL;
      is_refilled := false;
      slot := NULL;
      IF plan.uses IS NOT NULL THEN
        slot := array_position(seqs, counted[plan.uses]);
        remaining := CASE WHEN slot IS NULL THEN 0 ELSE remainings[slot] END;
        IF remaining < 0 THEN
          answer := 'corrupt';
          EXIT deciding;
        END IF;
        is_refilled := latchkey.is_due(remaining, coalesce(refills[slot], 0), plan.due_at);
        IF is_refilled AND (plan.due_amount IS NULL OR latchkey.held_uses(sums_of[slot]) > 0) THEN
          answer := 'unsettled ' || plan.uses;
          EXIT deciding;
        END IF;
        remaining := latchkey.refilled(remaining, plan.due_amount, is_refilled);
      END IF;

      -- 6. The windows that count now.
      is_limited := false;
      FOR number IN 1 .. cardinality(plan.names) LOOP
        IF plan.owners[number] = 0 THEN
          SELECT p.value INTO stored FROM latchkey.passing p
            WHERE p.workspace = workspace_seq AND p.name = plan.names[number];
        ELSE
          stored := windows_of[array_position(seqs, counted[plan.owners[number]])] ->> plan.names[number];
        END IF;
        IF NOT latchkey.is_window(stored) THEN
          answer := 'corrupt';
          EXIT deciding;
        END IF;
        algorithm := coalesce(plan.algorithms[number], 'fixed');
        earlier_texts[number] := '';
        IF algorithm = 'fixed' THEN
          starts[number] := latchkey.window_start(stored, plan.now_at, plan.durations[number]);
          units[number] := latchkey.window_used(stored, starts[number]);
          excess := units[number] + plan.costs[number] - plan.limits[number];
        ELSIF algorithm = 'concurrent' THEN
          starts[number] := greatest(plan.now_at, split_part(stored, ':', 1)::bigint);
          units[number] := coalesce(split_part(stored, ':', 2)::bigint, 0);
          excess := units[number] + plan.costs[number] - plan.limits[number];
        ELSE
          starts[number] := greatest(plan.now_at, split_part(stored, ':', 1)::bigint);
          IF algorithm = 'sliding' THEN
            earlier := coalesce(latchkey.sliding_counts(stored, starts[number], plan.durations[number]), '{0}');
            units[number] := earlier[1];
            earlier_texts[number] := coalesce(':' || nullif(array_to_string(earlier[2:], ','), ''), '');
            excess := plan.costs[number] - plan.limits[number];
            FOR place IN 1 .. cardinality(earlier) LOOP excess := excess + earlier[place]; END LOOP;
          ELSE
            earlier_texts[number] := latchkey.earlier_text(stored);
            IF earlier_texts[number] = '' THEN
              units[number] := coalesce(latchkey.bucket_missing(split_part(stored, ':', 1)::bigint, split_part(stored, ':', 2)::bigint,
                plan.now_at, plan.limits[number]), 0);
            ELSE
              units[number] := latchkey.leased_bucket_missing(stored, plan.now_at, plan.limits[number], plan.durations[number]);
              earlier_texts[number] := latchkey.bucket_text(stored, units[number], starts[number]);
            END IF;
            excess := plan.costs[number] + latchkey.ceil_div(units[number], plan.durations[number]) - plan.bursts[number];
          END IF;
        END IF;
        is_shadow := coalesce(plan.are_shadows[number], false);
        are_over[number] := excess > 0 AND is_shadow;
        is_limited := is_limited OR (excess > 0 AND NOT is_shadow);
      END LOOP;

      -- 7. The decision, what is taken, and the answer.
      decision := latchkey.decision(is_limited, remaining, plan.cost);
      is_taken := decision = 'charged' AND NOT plan.is_peek;
      IF is_taken THEN
        FOR place IN 1 .. cardinality(plan.most) LOOP
          IF split_part(held[place], ';', 2)::bigint >= plan.most[place] THEN
            answer := 'full ' || place;
            EXIT deciding;
          END IF;
        END LOOP;
      END IF;
      remaining := latchkey.after(decision, remaining, -plan.cost);
      IF is_taken AND slot IS NOT NULL AND remaining IS NOT NULL AND (is_refilled OR plan.cost > 0) THEN
        remainings[slot] := remaining;
        IF is_refilled THEN
          refills[slot] := plan.due_at;
          last_refills[slot] := plan.due_at;
        END IF;
        have_moved[slot] := true;
      END IF;
      answer := decision || ' ' || coalesce(remaining::text, '-');
      slots_text := '';
      units_text := '';
      FOR number IN 1 .. cardinality(plan.names) LOOP
        algorithm := plan.algorithms[number];
        units[number] := latchkey.after(decision, units[number], CASE WHEN are_over[number] THEN 0
          WHEN algorithm LIKE 'token-bucket%' THEN least(plan.costs[number], plan.bursts[number]) * plan.durations[number]
          ELSE plan.costs[number] END);
        IF decision = 'charged' AND plan.costs[number] > 0 AND NOT are_over[number] AND algorithm LIKE 'token-bucket%' THEN
          IF split_part(algorithm, ':', 2) <> '' THEN
            earlier_texts[number] := latchkey.leased_text(earlier_texts[number], split_part(algorithm, ':', 2)::bigint);
          ELSIF is_taken AND plan.keeps_all AND plan.most <> '{}' THEN
            earlier_texts[number] := latchkey.reserved_text(earlier_texts[number], starts[number]);
          END IF;
        END IF;
        stored := starts[number] || ':' || units[number] || earlier_texts[number];
        answer := answer || ' ' || stored || CASE WHEN are_over[number] THEN '!' ELSE '' END;
        CONTINUE WHEN NOT is_taken OR plan.costs[number] = 0;
        IF plan.most <> '{}' THEN
          unit := concat(' ', coalesce(nullif(plan.owners[number], 0) - 1 || '', '-'), '/', plan.names[number], '=',
            CASE WHEN are_over[number] THEN 0 ELSE plan.costs[number] END, ':',
            starts[number], ':', CASE WHEN algorithm LIKE 'token-bucket%' THEN plan.limits[number] ELSE 0 END,
            CASE WHEN algorithm LIKE 'token-bucket%' THEN latchkey.flowed_text(earlier_texts[number]) END);
          IF algorithm = 'concurrent' THEN
            slots_text := slots_text || unit;
          ELSE
            units_text := units_text || unit;
          END IF;
        END IF;
        CONTINUE WHEN are_over[number];
        IF plan.owners[number] = 0 THEN
          ends_at := starts[number] + CASE WHEN algorithm LIKE 'token-bucket%' THEN latchkey.ceil_div(units[number], plan.limits[number])
            WHEN algorithm = 'sliding' THEN plan.durations[number] + latchkey.ceil_div(plan.durations[number], 16) ELSE plan.durations[number] END;
          PERFORM latchkey.pass(workspace_seq, plan.names[number], ends_at + ahead, stored);
        ELSE
          slot := array_position(seqs, counted[plan.owners[number]]);
          CONTINUE WHEN slot IS NULL;
          windows_of[slot] := windows_of[slot] || jsonb_build_object(plan.names[number], stored);
          have_moved[slot] := true;
        END IF;
      END LOOP;
      -- 8. The holds: everything but slots, then slots.
      IF is_taken AND plan.most <> '{}' THEN
        identity := CASE WHEN cardinality(plan.most) > 1 THEN 2 END;
        FOR kind IN 1 .. 2 LOOP
          own_ttl := CASE kind WHEN 1 THEN plan.ttl ELSE least(plan.ttl, plan.slot_ttl) END;
          CONTINUE WHEN CASE kind WHEN 1 THEN NOT plan.keeps_all ELSE plan.slot_ttl IS NULL END;
          ends_at := least(plan.now_at + own_ttl, ${LAST_INSTANT});
          is_more := kind = 2 AND plan.keeps_all;
          own_uses := CASE kind WHEN 1 THEN plan.cost ELSE 0 END;
          IF NOT is_more THEN answer := concat_ws(' ', answer, plan.hold_id, ends_at); END IF;
          INSERT INTO latchkey.hold (expires_at, first, second, workspace, id, value)
            SELECT ends_at, counted[1], counted[identity], workspace_seq, plan.hold_id || CASE WHEN is_more THEN '.s' ELSE '' END,
              concat_ws(' ', plan.ids[1], coalesce(plan.ids[identity], '-'), plan.now_at, ends_at, own_ttl, own_uses,
                CASE WHEN remaining IS NOT NULL THEN (plan.uses - 1)::text ELSE '-' END,
                concat_ws(',', latchkey.number_of(held[1]), CASE WHEN identity IS NOT NULL THEN latchkey.number_of(held[2]) END))
              || CASE kind WHEN 1 THEN units_text ELSE slots_text END
            WHERE coalesce(counted[1], counted[identity]) IS NOT NULL;
          FOR place IN 1 .. cardinality(plan.most) LOOP
            held[place] := latchkey.sums_with(held[place], ends_at, NOT is_more,
              CASE WHEN plan.uses = place AND remaining IS NOT NULL THEN own_uses ELSE 0 END);
            slot := array_position(seqs, counted[place]);
            CONTINUE WHEN slot IS NULL;
            sums_of[slot] := held[place];
            have_moved[slot] := true;
          END LOOP;
        END LOOP;
      END IF;
      IF plan.request IS NOT NULL AND NOT plan.is_peek THEN
        PERFORM latchkey.pass(workspace_seq, plan.request, plan.remember_until + greatest(ahead, 0),
          plan.fingerprint || ' ' || plan.remember_until || E'\\n' || answer || E'\\n' || plan.about);
      END IF;
    END deciding;
    answers := concat_ws(E'\\x01', answers, answer);
  END LOOP;

  FOR slot IN 1 .. cardinality(seqs) LOOP
    CONTINUE WHEN have_moved[slot] IS NULL;
    UPDATE latchkey.counters c SET remaining = remainings[slot], refilled_at = refills[slot],
      last_refill_at = last_refills[slot], windows = windows_of[slot], holds = sums_of[slot] WHERE c.seq = seqs[slot];
  END LOOP;
  IF is_passing THEN PERFORM latchkey.forget_passed(server_at, cardinality(plan.names) + 2); END IF;
  RETURN answers;
END
$function$;
${PASSING}`;
