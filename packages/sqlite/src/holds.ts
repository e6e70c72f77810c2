import {
  applyHoldStep,
  countedBySettle,
  type EpochMs,
  type FoundHold,
  type Hold,
  type HoldBook,
  type HoldMoment,
  type HoldResult,
  type HoldStep,
  holdText,
  limitStateText,
  parseHold,
  type RecordAddress,
  rememberedEndText,
  slotsIdOf,
} from "@latchkey/core";
import type { Connection } from "./engine/connection.js";
import { findCounters, moveCounters, type StoredCounters, withWindow } from "./engine/counters.js";
import type { Row } from "./engine/database.js";
import type { KeptCounters } from "./engine/memo.js";
import { addressOf } from "./engine/statements.js";
import { endName, findEnd, findWindow, keepExpiring } from "./expiring.js";
import { addStatistics } from "./statistics.js";

/** Numbers of the counters that a hold is beside: the key's and the identity's; null for none. */
type Beside = readonly [first: number | null, second: number | null];

const ALL = Number.MAX_SAFE_INTEGER;

/** Writes a hold, whether or not it exists. */
export function putHold(
  { run }: Connection,
  workspace: number,
  hold: Hold,
  [first, second]: Beside,
): void {
  run.putHold.run(workspace, hold.id, first, second, hold.expiresAt, holdText(hold));
}

/** Applies a step to holds. Call it inside a write transaction. */
export function settle(
  connection: Connection,
  workspaceId: string,
  step: HoldStep,
  moment: HoldMoment,
): HoldResult {
  const { now, revision } = moment;
  const { run, names, memo } = connection;
  if (revision !== null && revision !== memo.revision(workspaceId)) return { kind: "stale" };
  const workspace = names.workspace(workspaceId);
  const moved = new Set<KeptCounters>();
  /** Counters as the memo has them: one object, however often they are looked for. */
  const countersOf = (seq: number | null): KeptCounters | null => {
    if (seq === null) return null;
    const { age, generation } = memo;
    const read = () => ({ seq, age, generation, ...findCounters(connection, seq) });
    return memo.counters(seq) ?? memo.keepCounters(read());
  };
  const move = (counters: KeptCounters, change: Partial<StoredCounters>) =>
    moved.add(Object.assign(counters, change));
  const besideOf = ({ id }: Hold): Beside => {
    const [, first = null, second = null] = run.hold.get(workspace, id) ?? [];
    return [first, second] as Beside;
  };
  const keep = (name: string, until: EpochMs, value: string) =>
    keepExpiring(connection, workspace, name, until, value, now);
  const found = ([value, first, second, id]: Row): FoundHold<KeptCounters> => {
    const hold = parseHold(id as string, value as string);
    const beside = [first, ...(hold.identityId === null ? [] : [second])];
    return { hold, counters: beside.map((seq) => countersOf(seq as number | null)) };
  };
  /** Read ahead by `find`: the row with the slots of the hold it looked for last. */
  let slots: { readonly id: string; readonly row: Row | undefined } | null = null;
  const book: HoldBook<KeptCounters> = {
    // Also reads the slots of the hold, which are looked for next: one statement instead of two.
    find(id) {
      if (slots?.id === id) return slots.row === undefined ? null : found(slots.row);
      const slotsId = slotsIdOf(id);
      const rows = run.holdWithSlots.all(workspace, id, slotsId);
      slots = { id: slotsId, row: rows.find((row) => row[3] === slotsId) };
      const row = rows.find((each) => each[3] === id);
      return row === undefined ? null : found(row);
    },
    remembered: (id) => findEnd(connection, workspace, id),
    remember: (id, end) => keep(endName(id), end.until, rememberedEndText(end)),
    put: (hold) => putHold(connection, workspace, hold, besideOf(hold)),
    attach(hold, place, { seq }) {
      const [first, second] = besideOf(hold);
      putHold(connection, workspace, hold, place === 0 ? [seq, second] : [first, seq]);
    },
    detach({ hold, counters: all }, { seq }) {
      const [first = null, second = null] = all.map((each) =>
        each === null || each.seq === seq ? null : each.seq,
      );
      if (first === null && second === null) run.deleteHold.run(workspace, hold.id);
      else putHold(connection, workspace, hold, [first, second]);
    },
    remove: (id) => run.deleteHold.run(workspace, id),
    counters: (of) => countersOf(seqOf(connection, workspace, of)),
    over: ({ seq }, until, limit) => over(connection, seq, until, limit).map(found),
    oldest({ seq }) {
      const numbers = over(connection, seq, ALL, ALL).map(
        ([value, first, , id]) =>
          parseHold(id as string, value as string).numbers[first === seq ? 0 : 1] ?? 0,
      );
      return numbers.length === 0 ? null : Math.min(...numbers);
    },
    nextEnd({ seq }) {
      return (run.nextEnd.get(seq, seq)?.[0] ?? null) as EpochMs | null;
    },
    usage: ({ usage }) => usage,
    setUsage: (counters, usage) => move(counters, { usage }),
    window(counters, name) {
      if (counters === null) return findWindow(connection, workspace, name);
      return counters.windows.find((each) => each.name === name)?.window ?? null;
    },
    setWindow(counters, name, window, endsAt) {
      if (counters === null) keep(name, endsAt, limitStateText(window));
      else move(counters, { windows: withWindow(counters.windows, name, window) });
    },
  };
  const result = applyHoldStep(book, step, now);
  for (const counters of moved) moveCounters(connection, counters.seq, counters);
  const sums = countedBySettle(moment, result);
  if (sums !== null) addStatistics(connection, workspaceId, sums);
  return result;
}

/** Holds beside the counters of a record, in ascending order of id. */
export function holdsBeside(
  connection: Connection,
  workspaceId: string,
  of: RecordAddress,
  after: string | null,
  limit: number,
): readonly Hold[] {
  return connection.snapshot(() => {
    const { run, names } = connection;
    const workspace = names.workspace(workspaceId);
    const seq = seqOf(connection, workspace, of);
    const beside = [seq, after ?? ""];
    const ids = seq === null ? [] : run.holdIds.all(...beside, ...beside).map(([id]) => id);
    // The texts of holds on other pages are not read.
    const page = JSON.stringify(ids.sort().slice(0, limit));
    return run.holdsById
      .all(page, workspace)
      .map(([id, value]) => parseHold(id as string, value as string));
  });
}

/** Rows of holds beside counters, earliest end first. */
function over({ run }: Connection, seq: number, until: EpochMs, limit: number): readonly Row[] {
  const ofKey = run.overFirst.all(seq, until, limit);
  return ofKey.length > 0 ? ofKey : run.overSecond.all(seq, until, limit);
}

/** Number of the counters of a record; null if it is deleted, or has none. */
function seqOf({ run }: Connection, workspace: number, of: RecordAddress): number | null {
  return (run.find.get(...addressOf(workspace, of))?.[2] ?? null) as number | null;
}
