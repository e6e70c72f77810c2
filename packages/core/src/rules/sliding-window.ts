import { ceilDiv } from "../lib/whole.js";
import type { EpochMs, SpanMs } from "../time.js";
import {
  type LimitFigures,
  type LimitKind,
  type LimitState,
  MOST_EARLIER,
  NONE_EARLIER,
} from "./limit-state.js";

/** Length of a group in ms: p = ⌈duration / 16⌉. */
function groupLength(duration: SpanMs): SpanMs {
  return ceilDiv(duration, MOST_EARLIER);
}

/** Number of the group of an instant: group i is the span [i × p, (i + 1) × p). */
function groupOf(at: EpochMs, length: SpanMs): number {
  return (at - (at % length)) / length;
}

function lastInstantOf(group: number, length: SpanMs): EpochMs {
  return (group + 1) * length - 1;
}

/**
 * The units that count at `now`. A group of units counts until its last instant is `duration` ms ago. So every unit of the span
 * (now − duration, now] counts, and no unit counts that is older than that by more than a group.
 *
 * A clock that is set back frees nothing: time does not go back before the latest instant at which something was taken.
 */
export function slidingAt(
  stored: LimitState | null,
  { duration }: Pick<LimitKind, "duration">,
  now: EpochMs,
): LimitState {
  if (stored === null) return { at: now, used: 0, earlier: NONE_EARLIER };
  const at = Math.max(now, stored.at);
  const length = groupLength(duration);
  const since = at - duration + 1;
  const first = since <= 0 ? 0 : groupOf(since, length);
  const latest = groupOf(stored.at, length);
  if (latest < first) return { at, used: 0, earlier: NONE_EARLIER };
  const counting = latest - first;
  const earlier =
    stored.earlier.length > counting ? stored.earlier.slice(0, counting) : stored.earlier;
  const passed = groupOf(at, length) - latest;
  if (passed === 0) return { at, used: stored.used, earlier };
  const empty = new Array<number>(passed - 1).fill(0);
  return { at, used: 0, earlier: [...empty, stored.used, ...earlier] };
}

/** Units left for a request at the instant of `current`, as {@link slidingAt} returns it; negative if the limit was lowered. */
export function slidingRoom({ used, earlier }: LimitState, { limit }: LimitFigures): number {
  let room = limit - used;
  for (const count of earlier) room -= count;
  return room;
}

/** The first instant at which `cost` units fit if nothing else is taken, maybe later than any `Date`. They must not fit into `current`. */
export function slidingAdmitsAt(current: LimitState, limit: LimitFigures, cost: number): EpochMs {
  const { duration } = limit;
  const counts = [current.used, ...current.earlier];
  let before = counts.length;
  for (
    let missing = cost - slidingRoom(current, limit);
    missing > 0;
    missing -= counts[before] ?? 0
  )
    before -= 1;
  const length = groupLength(duration);
  return lastInstantOf(groupOf(current.at, length) - before, length) + duration;
}

/** The first instant after the group of `at`. */
export function slidingGroupEnd(at: EpochMs, duration: SpanMs): EpochMs {
  const length = groupLength(duration);
  return (groupOf(at, length) + 1) * length;
}

/** Gives units that were taken at `at` back to their group. A group that no longer counts gets nothing. */
export function slidingAfterReturn(
  state: LimitState,
  { duration }: Pick<LimitKind, "duration">,
  at: EpochMs,
  units: number,
): LimitState {
  const length = groupLength(duration);
  const before = groupOf(state.at, length) - groupOf(at, length);
  if (before === 0) return { ...state, used: Math.max(0, state.used - units) };
  const earlier = state.earlier.map((count, index) =>
    index + 1 === before ? Math.max(0, count - units) : count,
  );
  return { ...state, earlier };
}

/** Ms after which no unit counts any more, wherever in its group it was taken. */
export function slidingRefillMs(duration: SpanMs): SpanMs {
  return duration + ceilDiv(duration, MOST_EARLIER) - 1;
}

/**
 * The same state without its latest groups if they are empty, because all their units came back: the latest group is then one that is not
 * empty, as if the returned units had never been taken. If all groups are empty, the state is returned unchanged.
 */
export function slidingWithoutEmpty(
  state: LimitState,
  { duration }: Pick<LimitKind, "duration">,
): LimitState {
  const before = state.earlier.findIndex((count) => count > 0);
  if (state.used > 0 || before === -1) return state;
  const length = groupLength(duration);
  return {
    at: lastInstantOf(groupOf(state.at, length) - before - 1, length),
    used: state.earlier[before] as number,
    earlier: state.earlier.slice(before + 1),
  };
}

/** The groups before the latest, the oldest first: the last instant of each, and its units. Empty groups are left out. */
export function slidingGroups(
  { at, earlier }: LimitState,
  { duration }: Pick<LimitKind, "duration">,
): readonly { readonly now: EpochMs; readonly cost: number }[] {
  const length = groupLength(duration);
  const latest = groupOf(at, length);
  return earlier
    .map((cost, index) => ({ now: lastInstantOf(latest - index - 1, length), cost }))
    .filter(({ cost }) => cost > 0)
    .reverse();
}
