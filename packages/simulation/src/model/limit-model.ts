import type { LimitCharge, LimitFigures, LimitState } from "@latchkey/core";

/** Units taken at once. Those of a reservation that has ended are the used ones. */
export interface ModelTaking {
  /** The instant by the limit's time; of a fixed window, its start. */
  readonly at: number;
  units: number;
  /** What had flowed into the bucket by then, in units × duration. */
  readonly flowed: number;
  /** Of a copied bucket, whose inflow was not counted: how many units flow in per duration. */
  readonly rate?: number;
}

/** Everything that was taken from a limit since it was last emptied. */
export interface ModelWindow {
  /** The latest instant at which something was taken; of a fixed window, its start. */
  at: number;
  takings: ModelTaking[];
  /** Of a bucket at `at`, in units × duration. */
  missing: number;
  /** Units of a bucket that leases hold: they do not flow in again. */
  held: number;
  /** What flowed into a bucket since units of it were first reserved, in units × duration; null: none were. */
  inflow: { readonly flowed: number; readonly since: number } | null;
}

/** A limit at an instant. */
interface ModelReading extends LimitState {
  /** Units left. */
  readonly room: number;
  /** When the whole limit is available, if nothing else is taken. */
  readonly fullAt: number;
  /** The window at that instant. */
  readonly now: ModelWindow;
}

const EMPTY: ModelWindow = { at: 0, takings: [], missing: 0, held: 0, inflow: null };

const sumOf = (takings: readonly ModelTaking[]): number =>
  takings.reduce((sum, { units }) => sum + units, 0);

/** Reads a limit: goes through everything that was taken from it. `window`: undefined if that is nothing. */
export function readLimit(
  window: ModelWindow = EMPTY,
  { algorithm, limit, duration, burst }: LimitFigures,
  now: number,
): ModelReading {
  const isFixed = algorithm === "fixed";
  const at = Math.max(isFixed ? now - (now % duration) : now, window.at);
  if (algorithm === "token-bucket") {
    const { held } = window;
    const missing = Math.max(held * duration, window.missing - (at - window.at) * limit);
    const inflow = window.inflow && {
      flowed: window.inflow.flowed + window.missing - missing,
      since: window.inflow.since,
    };
    return {
      ...stateOf(at, missing, held, inflow),
      room: burst - Math.ceil(missing / duration),
      fullAt: at + Math.ceil(missing / limit),
      now: { at, takings: window.takings, missing, held, inflow },
    };
  }
  // A unit of a sliding limit counts until the last instant of its sixteenth is a span ago.
  const length = Math.ceil(duration / 16);
  const groupOf = (instant: number): number => Math.floor(instant / length);
  const endOf = (group: number): number => (group + 1) * length - 1 + duration;
  const takings = window.takings.filter((taking) => {
    if (algorithm === "sliding") return endOf(groupOf(taking.at)) > at;
    return !isFixed || taking.at === at;
  });
  const read = { at, room: limit - sumOf(takings), now: { ...EMPTY, at, takings } };
  if (algorithm !== "sliding") {
    const isFull = algorithm === "concurrent" && sumOf(takings) === 0;
    const fullAt = isFull ? at : at + duration;
    return { ...read, used: sumOf(takings), earlier: [], fullAt };
  }
  const group = groupOf(at);
  const first = Math.max(groupOf(window.takings[0]?.at ?? at), groupOf(at - duration));
  const unitsOf = (one: number) => sumOf(takings.filter((taking) => groupOf(taking.at) === one));
  const counting = Array.from({ length: group - first }, (_, place) => group - 1 - place);
  const earlier = takings.length === 0 ? [] : counting.filter((one) => endOf(one) > at);
  const ends = takings.filter(({ units }) => units > 0).map((taking) => endOf(groupOf(taking.at)));
  return {
    ...read,
    used: unitsOf(group),
    earlier: earlier.map(unitsOf),
    fullAt: Math.max(at, ...ends),
    now: { ...read.now, takings: takings.length === 0 ? [] : window.takings },
  };
}

/** The window after units were taken. `isReserved`: whether some may come back. */
export function afterTaking(
  { at, now }: ModelReading,
  { algorithm, duration, cost: units, held }: LimitCharge,
  isReserved: boolean,
): ModelWindow {
  const isCounted = isReserved && algorithm === "token-bucket" && held === undefined;
  const inflow = now.inflow ?? (isCounted ? { flowed: 0, since: at } : null);
  const takings = [...now.takings, { at, units, flowed: inflow?.flowed ?? 0 }];
  const missing = now.missing + units * duration;
  return { at, takings, missing, held: now.held + (held ?? 0), inflow };
}

/** Gives back all but the used ones of units that were taken. A bucket gets back what has not flowed in since. */
export function giveBackUnits(
  window: ModelWindow,
  taking: ModelTaking,
  used: number,
  duration: number,
  now: number,
): void {
  const unused = taking.units - used;
  taking.units = used;
  if (window.inflow === null && taking.rate === undefined) return;
  const flowed =
    taking.rate === undefined
      ? (window.inflow?.flowed ?? 0) - taking.flowed
      : (Math.max(now, window.at) - taking.at) * taking.rate;
  const missing = window.missing - Math.max(0, unused * duration - flowed);
  window.missing = Math.max(window.held * duration, missing);
}

/** Ends a lease of a bucket: what was used counts from now on. `limit`: as it was when the lease was taken. */
export function endLeaseOf(
  window: ModelWindow,
  { units }: ModelTaking,
  used: number,
  limit: LimitFigures,
  now: number,
): void {
  const current = readLimit(window, limit, now).now;
  const missing = Math.max(0, current.missing - (units - used) * limit.duration);
  Object.assign(window, current, { missing, held: Math.max(0, current.held - units) });
}

/** A window with what a reading shows of it. The units of a sixteenth are taken at its beginning. */
export function windowOf({ at, used, earlier }: LimitState, { algorithm, duration }: LimitFigures) {
  if (algorithm === "token-bucket") return { ...EMPTY, at, missing: used };
  const length = Math.ceil(duration / 16);
  const takings = [used, ...earlier].map((units, before) => {
    const began = before === 0 ? at : (Math.floor(at / length) - before) * length;
    return { at: began, units, flowed: 0 };
  });
  return { ...EMPTY, at, takings: takings.reverse() };
}

function stateOf(at: number, used: number, held: number, inflow: ModelWindow["inflow"]) {
  const earlier = inflow === null ? [] : [inflow.flowed, inflow.since];
  return { at, used, earlier: held > 0 || inflow !== null ? [held, ...earlier] : [] };
}
