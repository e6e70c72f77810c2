import type { EpochMs, SpanMs } from "../time.js";

/** Units of one limit in a {@link Hold}. */
export interface HeldLimit {
  /** Name of its state. */
  readonly window: string;
  /** Whose counters it is among: the place of a record beside which the hold is; null: the workspace keeps it. */
  readonly owner: number | null;
  /** A whole number >= 1; 0: of a shadow that had no room, of which any number may be said to be used, and none is. */
  readonly units: number;
  /** `at` of the state that they were taken from, just after. */
  readonly at: EpochMs;
  /** Units that flow into a token bucket per `duration`; 0 for others. */
  readonly rate: number;
}

/**
 * Units that were taken for a while: by whom, until when, and from what. They count as used like all others; when the hold ends, what
 * was not used goes back to where it came from.
 *
 * @see packages/core/decisions/0038-holds-stand-beside-counters.md
 */
export interface Hold {
  /** `rsv_…`, with `.s` behind it for the slots of one that holds other units too; `lse_…` of units that a process took ahead. */
  readonly id: string;
  readonly keyId: string;
  readonly identityId: string | null;
  readonly createdAt: EpochMs;
  /** From this instant on it has ended. */
  readonly expiresAt: EpochMs;
  /** What it was held for at first, and is again when it is renewed without a span. */
  readonly ttl: SpanMs;
  /** Uses that were asked for: a whole number >= 0. */
  readonly uses: number;
  /** Whose uses were taken: the place of a record; null where they were unlimited. */
  readonly usesOf: number | null;
  /** Its number among the holds beside each record. */
  readonly numbers: readonly number[];
  readonly limits: readonly HeldLimit[];
}

/** What refills brought while uses were held: it pays for what comes back of holds that are older. */
export interface Raise {
  /** Holds with a lower number were open then. */
  readonly before: number;
  /** Units that may still come back without paying: a refill that carries over had room for them. */
  readonly free: number;
  /** Units that the refill would not have brought, had they come back before it. */
  readonly units: number;
}

/** What counters know of the holds beside them. */
export interface HoldSums {
  /** The earliest instant at which one of them ends by itself. */
  readonly nextEnd: EpochMs;
  /** How many reservations are open. */
  readonly open: number;
  /** Uses that are held here and may come back. */
  readonly uses: number;
  /** Number of the next hold. */
  readonly next: number;
  /** The uses were set after holds with a lower number were taken: nothing of them comes back. */
  readonly setBefore: number;
  /** In the order of the refills. */
  readonly raises: readonly Raise[];
  /** Limits that were emptied meanwhile: nothing comes back to them of older holds. */
  readonly drops: readonly WindowDrop[];
}

/** Limits that were emptied, or are gone. */
export interface WindowDrop {
  /** Holds with a lower number were open then. */
  readonly before: number;
  /** Names of states: those that were emptied, or with `isKept` all but these. */
  readonly windows: readonly string[];
  readonly isKept: boolean;
}

/** Of counters beside which nothing is held. */
export const NO_HOLDS: HoldSums = Object.freeze({
  nextEnd: Number.MAX_SAFE_INTEGER,
  open: 0,
  uses: 0,
  next: 0,
  setBefore: 0,
  raises: Object.freeze([]),
  drops: Object.freeze([]),
});

const SLOTS = ".s";
const LEASE = "lse_";

/** Ids of leases are below it, those of reservations above. */
export const LAST_LEASE_ID = `${LEASE}~`;

/** Whether a hold is of units that a process took ahead. It never ends by itself: whoever ends it for that process counts all of it as used. */
export function isLease({ id }: Pick<Hold, "id">): boolean {
  return id.startsWith(LEASE);
}

/** The id of the slots of a reservation that holds other units as well: they last for a shorter time. */
export function slotsIdOf(id: string): string {
  return id + SLOTS;
}

/** Whether a hold is that of the slots of another. */
export function isSlotsOfAnother({ id }: Pick<Hold, "id">): boolean {
  return id.endsWith(SLOTS);
}

/** The sums after a hold was taken. @param uses - That it holds here. */
export function sumsWith(sums: HoldSums, hold: Hold, uses: number): HoldSums {
  // Field by field: each reservation comes by here.
  return {
    nextEnd: Math.min(sums.nextEnd, hold.expiresAt),
    open: sums.open + (isSlotsOfAnother(hold) ? 0 : 1),
    uses: sums.uses + uses,
    next: sums.next + 1,
    setBefore: sums.setBefore,
    raises: sums.raises,
    drops: sums.drops,
  };
}

/** Uses that a hold has here and that may come back. @param place - Of the record among those beside which the hold is. */
export function heldUses(sums: HoldSums, hold: Hold, place: number): number {
  return hold.usesOf === place && (hold.numbers[place] ?? 0) >= sums.setBefore ? hold.uses : 0;
}

/** Whether units of a limit may still come back. @param number - Of the hold, beside the counters that the sums are of. */
export function isReturnable({ drops }: HoldSums, held: HeldLimit, number: number): boolean {
  return drops.every(({ before, windows, isKept }) => {
    const isOld = before > number && !(isKept && held.owner === null);
    return !isOld || windows.includes(held.window) === isKept;
  });
}

/**
 * What becomes of uses that come back: refills that were made since pay for themselves first, the oldest first. 100 of daily 100, 50
 * held, midnight, 10 used: the refill raised 50, so of the 40 that come back none is added, and 100 remain.
 *
 * @param number - Of the hold that they come from.
 * @returns Uses to add, and what is left of the raises.
 */
export function usesAfterRaises(
  raises: readonly Raise[],
  number: number,
  units: number,
): { readonly added: number; readonly raises: readonly Raise[] } {
  if (raises.length === 0) return { added: units, raises };
  let added = units;
  const left = raises.map((raise) => {
    if (raise.before <= number) return raise;
    const free = Math.min(raise.free, added);
    const paid = Math.min(raise.units, added - free);
    added -= paid;
    // What is beyond the free units and those that pay comes back in full.
    return { ...raise, free: raise.free - free, units: raise.units - paid };
  });
  return { added, raises: left };
}

/**
 * The raises with that of one more refill. Those that came before every open hold are forgotten.
 *
 * @param oldest - The lowest number of an open hold; 0 where that is not known.
 */
export function raisesWith(
  { raises, next }: HoldSums,
  { free, units }: Omit<Raise, "before">,
  oldest: number,
): readonly Raise[] {
  const kept = raises.filter(({ before }) => before > oldest);
  return [...kept, { before: next, free, units }];
}
