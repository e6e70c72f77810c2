import type { EpochMs, SpanMs } from "../time.js";

/** Units of one limit in a {@link Hold}. */
export interface HeldLimit {
  readonly window: string;
  /** Index of the record of the hold that owns the window; null: the workspace owns it. */
  readonly owner: number | null;
  /** A whole number >= 1, or 0 for a shadow limit without room: it accepts any cost and charges none. */
  readonly units: number;
  /** `at` of the limit's state right after they were taken. */
  readonly at: EpochMs;
  /** Units that flow into a token bucket per `duration`; otherwise 0. */
  readonly rate: number;
  /** The bucket's inflow counter right after they were taken. Absent: it did not count its inflow, or the limit is no token bucket. */
  readonly flowed?: number | undefined;
}

/**
 * Uses and units taken for a limited time, by a reservation or a lease. They count as used; when the hold ends, the unused rest is
 * returned.
 *
 * @see packages/core/decisions/0038-holds-stand-beside-counters.md
 */
export interface Hold {
  /** `rsv_…` of a reservation (`rsv_….s` of its concurrent slots if it holds other units too); `lse_…` of a lease. */
  readonly id: string;
  readonly keyId: string;
  readonly identityId: string | null;
  readonly createdAt: EpochMs;
  /** It has ended from this instant on. */
  readonly expiresAt: EpochMs;
  /** Its first duration, and the default when it is renewed. */
  readonly ttl: SpanMs;
  /** Uses that it was made for: a whole number >= 0. */
  readonly uses: number;
  /** Index of the record that owns the uses, even if none were taken; null if they were unlimited. */
  readonly usesOf: number | null;
  /** Its number among the holds of each record. */
  readonly numbers: readonly number[];
  readonly limits: readonly HeldLimit[];
}

/** What a refill added while uses were held. It is set off against uses that older holds return. */
export interface Raise {
  /** Holds with a lower number were open then. */
  readonly before: number;
  /** Uses that may still be returned in full: a refill that carries over had room for them. */
  readonly free: number;
  /** Uses that the refill would not have added, had they been returned before it. */
  readonly units: number;
}

/** Totals of the holds of a record, kept with its counters. */
export interface HoldSums {
  /** When the first of them ends by itself. */
  readonly nextEnd: EpochMs;
  /** How many reservations and leases are open. A reservation and its slots count as one. */
  readonly open: number;
  /** Held uses that may be returned. */
  readonly uses: number;
  /** Number of the next hold. */
  readonly next: number;
  /** Uses were set after holds with a lower number were made: those return no uses. */
  readonly setBefore: number;
  /** In the order of the refills. */
  readonly raises: readonly Raise[];
  /** Limits that were reset or removed meanwhile: older holds return nothing to them. */
  readonly drops: readonly WindowDrop[];
}

/** Limits that were reset or removed. */
export interface WindowDrop {
  /** Holds with a lower number were open then. */
  readonly before: number;
  /** Names of the windows that were dropped, or with `isKept` of those that were not. */
  readonly windows: readonly string[];
  readonly isKept: boolean;
}

/** The sums of counters without holds. */
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

/** Ids of leases sort below it, ids of reservations above it. */
export const LAST_LEASE_ID = `${LEASE}~`;

/**
 * Whether a hold is a lease: units that a process took ahead. A lease never ends by itself; if another process ends it, all of it counts as
 * used.
 */
export function isLease({ id }: Pick<Hold, "id">): boolean {
  return id.startsWith(LEASE);
}

/** The id of the hold with a reservation's concurrent slots, if the reservation holds other units too: slots last for a shorter time. */
export function slotsIdOf(id: string): string {
  return id + SLOTS;
}

/** Whether a hold has the concurrent slots of another hold. */
export function isSlotsOfAnother({ id }: Pick<Hold, "id">): boolean {
  return id.endsWith(SLOTS);
}

/** The sums after a hold was taken. `uses`: how many it holds here. */
export function sumsWith(sums: HoldSums, hold: Hold, uses: number): HoldSums {
  // Field by field, because every reservation runs this.
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

/** Uses of this record that a hold may still return. `place`: index of the record among the records of the hold. */
export function heldUses(sums: HoldSums, hold: Hold, place: number): number {
  return hold.usesOf === place && (hold.numbers[place] ?? 0) >= sums.setBefore ? hold.uses : 0;
}

/** Whether a hold may still return its units of a limit. `number`: the hold's number among the holds that the sums count. */
export function isReturnable({ drops }: HoldSums, held: HeldLimit, number: number): boolean {
  return drops.every(({ before, windows, isKept }) => {
    const isOld = before > number && !(isKept && held.owner === null);
    return !isOld || windows.includes(held.window) === isKept;
  });
}

/**
 * Decides how many returned uses are added. They are first set off against the refills made since, the oldest first. Example: 100 uses,
 * refilled to 100 daily. 50 are held over midnight, and 10 of them are used. The refill raised the uses by 50, so none of the 40 returned
 * uses is added, and 100 remain.
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
    // Only the paid units are lost: the free ones, and any beyond, come back in full.
    return { ...raise, free: raise.free - free, units: raise.units - paid };
  });
  return { added, raises: left };
}

/** The raises with a new one, and without those older than every open hold. `oldest`: the lowest number of an open hold; 0 if unknown. */
export function raisesWith(
  { raises, next }: HoldSums,
  { free, units }: Omit<Raise, "before">,
  oldest: number,
): readonly Raise[] {
  const kept = raises.filter(({ before }) => before > oldest);
  return [...kept, { before: next, free, units }];
}
