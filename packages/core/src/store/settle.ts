import {
  type HeldLimit,
  type Hold,
  type HoldSums,
  heldUses,
  isLease,
  isReturnable,
  isSlotsOfAnother,
  NO_HOLDS,
  slotsIdOf,
  usesAfterRaises,
} from "../rules/hold.js";
import type { LimitState } from "../rules/limit-state.js";
import { isSlotWindow, kindOfWindow, limitNameOf } from "../rules/limit-state.js";
import type { DueRefill } from "../rules/refill.js";
import { afterReturn, endsAfterReturn } from "../rules/returned-units.js";
import { type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import type { RecordAddress } from "./change.js";
import { applyRefill, UNLIMITED_USES, type Usage } from "./counters.js";
import type { StatisticsSubject } from "./statistics.js";

/** How long the end of a hold is remembered, so that a repeat returns the same. */
export const REMEMBER_END_MS: SpanMs = 3_600_000;

/** Most expired holds that one step ends. */
export const MOST_ENDED_AT_ONCE = 100;

/** A step that changes holds. */
export type HoldStep =
  /** Ends a hold. `uses`: null for all. `rest`: unnamed limits were used completely. `isAlone`: other expired holds stay. */
  | {
      readonly kind: "end";
      readonly id: string;
      readonly uses: number | null;
      readonly limits: readonly UsedLimit[];
      readonly rest: boolean;
      readonly isAlone?: boolean | undefined;
    }
  /** Makes a hold last for `ttl` from now on; null: its first duration. */
  | { readonly kind: "renew"; readonly id: string; readonly ttl: SpanMs | null }
  /** Ends the expired holds of a record, and applies its due refill. */
  | { readonly kind: "refresh"; readonly of: RecordAddress; readonly refill: DueRefill | null }
  /** Replaces the holds of a record, for a copy: nothing is taken or returned. `sums`: null for none. */
  | {
      readonly kind: "restore";
      readonly of: RecordAddress;
      readonly sums: HoldSums | null;
      readonly holds: readonly Hold[];
    };

/** Ends a hold. */
export type EndStep = Extract<HoldStep, { readonly kind: "end" }>;

/** When a {@link HoldStep} is done, and what it is based on. */
export interface HoldMoment {
  /** Unix epoch ms, by the caller's clock. */
  readonly now: EpochMs;
  /** The revision that the step is based on; null: any. */
  readonly revision: number | null;
  /** Subjects for which the uses charged by an end are counted in the same step, as `EXTRA_USES`. Only for a store that `countsInStep`. */
  readonly counts?: readonly StatisticsSubject[] | undefined;
}

/** The used units of a limit. */
export interface UsedLimit {
  readonly name: string;
  /** A whole number >= 0. */
  readonly cost: number;
}

/** The used units of a hold. */
export interface UsedUnits {
  readonly uses: number;
  /** In the order of its limits; slots are always freed. */
  readonly limits: readonly number[];
}

/** How a hold ended. */
export interface EndedHold {
  readonly hold: Hold;
  readonly used: UsedUnits;
  /** The use counter that it took from, after the end and without holds; null if unlimited or deleted. */
  readonly usage: Usage | null;
  readonly endedAt: EpochMs;
}

/** The memory of a hold that has ended. `ended`: null if it expired. */
export interface RememberedEnd {
  readonly ended: EndedHold | null;
  /** Unix epoch ms from which on it may be forgotten. */
  readonly until: EpochMs;
}

/** Result of a {@link HoldStep}. */
export type HoldResult =
  /** The revision has changed. Nothing was done. */
  | { readonly kind: "stale" }
  /** `isRepeat`: it was ended before, with the same figures. */
  | ({ readonly kind: "ended"; readonly isRepeat: boolean } & EndedHold)
  | { readonly kind: "renewed"; readonly hold: Hold }
  | { readonly kind: "restored" }
  /**
   * Expired holds were ended. If the step was an end, they belong to the same counters, and nothing else was done: repeat the step.
   * `hasMore`: there is more to do.
   */
  | { readonly kind: "refreshed"; readonly expired: readonly Hold[]; readonly hasMore: boolean }
  /** No hold and no remembered end has this id. */
  | { readonly kind: "unknown" }
  /** It was ended before, with other figures; `renew`: with any figures. */
  | { readonly kind: "conflict" }
  /** It has expired; `hold`: just now. */
  | { readonly kind: "expired"; readonly hold: Hold | null }
  /** More was used than it holds. */
  | { readonly kind: "over"; readonly hold: Hold }
  /** It holds nothing of a named limit. */
  | { readonly kind: "unnamed"; readonly hold: Hold };

/** A hold with the counters of its records; null for deleted ones. */
export interface FoundHold<Counters> {
  readonly hold: Hold;
  readonly counters: readonly (Counters | null)[];
}

/** A store's access to its holds, after it checked the revision. `Counters` stands for the counters of a record. No method may fail half way. */
export interface HoldBook<Counters> {
  /** Null if there is none. */
  find(id: string): FoundHold<Counters> | null;
  remembered(id: string): RememberedEnd | null;
  remember(id: string, end: RememberedEnd): void;
  put(hold: Hold): void;
  /** Writes a hold, new or not, and adds it to the counters of its record at index `place`. */
  attach(hold: Hold, place: number, counters: Counters): void;
  /** Removes a hold from counters, and deletes it if no others have it. */
  detach(found: FoundHold<Counters>, counters: Counters): void;
  remove(id: string): void;
  /** Counters of a record; null for none. */
  counters(of: RecordAddress): Counters | null;
  /** The holds of counters that have expired by `now`, at most `limit`, ordered by their end, then by id. */
  over(counters: Counters, now: EpochMs, limit: number): readonly FoundHold<Counters>[];
  /** The lowest number of a hold of counters; null for none. */
  oldest(counters: Counters): number | null;
  /** The earliest end of a hold of counters; null for none. */
  nextEnd(counters: Counters): EpochMs | null;
  usage(counters: Counters): Usage;
  setUsage(counters: Counters, usage: Usage): void;
  /** `counters`: null for a window of the workspace. */
  window(counters: Counters | null, name: string): LimitState | null;
  /** `endsAt`: Unix epoch ms; the workspace keeps the window at least until then. */
  setWindow(counters: Counters | null, name: string, state: LimitState, endsAt: EpochMs): void;
}

/** Carries out a {@link HoldStep}, atomically. A store that cannot call JavaScript reimplements this. */
export function applyHoldStep<Counters>(
  book: HoldBook<Counters>,
  step: HoldStep,
  now: EpochMs,
): HoldResult {
  if (step.kind === "refresh") return refresh(book, step, now);
  if (step.kind === "restore") return restore(book, step);
  const found = book.find(step.id);
  // A reservation is gone with its key. A lease still returns its units to the identity.
  if (found === null || (found.counters[0] === null && !isLease(found.hold)))
    return endedBefore(book, step);
  const { hold } = found;
  const slots = book.find(slotsIdOf(hold.id));
  if (hold.expiresAt <= now) {
    // Slots never last longer than the hold that they came with.
    for (const each of slots === null ? [found] : [slots, found]) expire(book, each, now);
    return { kind: "expired", hold };
  }
  if (step.kind === "renew") return renew(book, found, slots, step.ttl, now);
  const used = usedOf(hold, step);
  if (used === null) return { kind: "unnamed", hold };
  if (
    used.uses > hold.uses ||
    used.limits.some((units, at) => units > (hold.limits[at]?.units ?? 0))
  )
    return { kind: "over", hold };
  const others = step.isAlone === true || isLease(hold) ? [] : found.counters;
  const beside = others.filter((each) => each !== null);
  if (beside.some((each) => isOver(book, each, now)))
    return { kind: "refreshed", expired: endOver(book, beside, now).expired, hasMore: true };
  if (slots !== null) giveBack(book, slots, NOTHING_USED, now);
  giveBack(book, found, used, now);
  const owner = hold.usesOf === null ? null : (found.counters[hold.usesOf] ?? null);
  const { remaining, refilledAt, lastRefillAt } =
    owner === null ? UNLIMITED_USES : book.usage(owner);
  const usage = remaining === null ? null : { remaining, refilledAt, lastRefillAt };
  book.remember(hold.id, {
    ended: { hold, used, usage, endedAt: now },
    until: now + REMEMBER_END_MS,
  });
  return { kind: "ended", isRepeat: false, hold, used, usage, endedAt: now };
}

const NOTHING_USED: UsedUnits = { uses: 0, limits: [] };

function endedBefore<Counters>(
  book: HoldBook<Counters>,
  step: Extract<HoldStep, { readonly id: string }>,
): HoldResult {
  const known = book.remembered(step.id);
  if (known === null) return { kind: "unknown" };
  if (known.ended === null) return { kind: "expired", hold: null };
  const used = step.kind === "end" ? usedOf(known.ended.hold, step) : null;
  const isSame =
    used?.uses === known.ended.used.uses &&
    used.limits.every((units, at) => units === known.ended?.used.limits[at]);
  return isSame ? { kind: "ended", isRepeat: true, ...known.ended } : { kind: "conflict" };
}

/** The used units according to an end; null if it names a limit without held units, or slots, which are always freed. */
function usedOf(
  { uses, limits }: Hold,
  asked: Pick<EndStep, "uses" | "limits" | "rest">,
): UsedUnits | null {
  let named = 0;
  const units = limits.map(({ window, units: held }) => {
    if (isSlotWindow(window)) return 0;
    const limit = asked.limits.find(({ name }) => name === limitNameOf(window));
    if (limit !== undefined) named += 1;
    if (held === 0) return 0;
    return limit?.cost ?? (asked.rest ? held : 0);
  });
  return named < asked.limits.length ? null : { uses: asked.uses ?? uses, limits: units };
}

function renew<Counters>(
  book: HoldBook<Counters>,
  { hold, counters }: FoundHold<Counters>,
  slots: FoundHold<Counters> | null,
  ttl: SpanMs | null,
  now: EpochMs,
): HoldResult {
  const areOver = slots !== null && slots.hold.expiresAt <= now;
  if (areOver) expire(book, slots, now);
  const renewed = [hold, ...(slots === null || areOver ? [] : [slots.hold])].map((each) => ({
    ...each,
    expiresAt: Math.min(now + spanOf(each, ttl), LAST_INSTANT),
  }));
  for (const each of renewed) {
    book.put(each);
    for (const { owner, window } of each.limits) {
      // The workspace deletes windows that have long ended: renewed slots must not be among them.
      const state = owner === null && isSlotWindow(window) ? book.window(null, window) : null;
      if (state !== null)
        book.setWindow(null, window, { ...state, at: Math.max(state.at, now) }, each.expiresAt);
    }
  }
  for (const each of counters) if (each !== null) settleSums(book, each);
  return { kind: "renewed", hold: renewed[0] as Hold };
}

/** For how long a renewed hold lasts: slots no longer than the shortest duration of their limits. */
function spanOf({ ttl, limits }: Hold, wanted: SpanMs | null): SpanMs {
  if (wanted === null) return ttl;
  const longest = limits.map(({ window }) =>
    isSlotWindow(window) ? kindOfWindow(window)?.duration : null,
  );
  return Math.min(wanted, ...longest.map((each) => each ?? wanted));
}

function refresh<Counters>(
  book: HoldBook<Counters>,
  { of, refill }: Extract<HoldStep, { kind: "refresh" }>,
  now: EpochMs,
): HoldResult {
  const counters = book.counters(of);
  if (counters === null) return { kind: "refreshed", expired: [], hasMore: false };
  const { expired, hasMore } = endOver(book, [counters], now);
  const usage = book.usage(counters);
  // The oldest hold is looked for only if the refill is due: for that, a store may go through all open holds.
  if (applyRefill(usage, refill) !== usage)
    book.setUsage(counters, applyRefill(usage, refill, book.oldest(counters) ?? 0));
  return { kind: "refreshed", expired, hasMore };
}

function isOver<Counters>(book: HoldBook<Counters>, counters: Counters, now: EpochMs): boolean {
  return (book.usage(counters).holds ?? NO_HOLDS).nextEnd <= now;
}

/** Ends expired holds of counters, the earliest end first, as many as one step may. */
function endOver<Counters>(book: HoldBook<Counters>, all: readonly Counters[], now: EpochMs) {
  const over = new Map<string, FoundHold<Counters>>();
  for (const counters of all)
    for (const found of book.over(counters, now, MOST_ENDED_AT_ONCE + 1))
      over.set(found.hold.id, found);
  const ended = [...over.values()]
    .sort(({ hold: a }, { hold: b }) => a.expiresAt - b.expiresAt || (a.id < b.id ? -1 : 1))
    .slice(0, MOST_ENDED_AT_ONCE);
  for (const found of ended) expire(book, found, now);
  for (const counters of all) settleSums(book, counters);
  return { expired: ended.map(({ hold }) => hold), hasMore: over.size > ended.length };
}

function restore<Counters>(
  book: HoldBook<Counters>,
  { of, sums, holds }: Extract<HoldStep, { kind: "restore" }>,
): HoldResult {
  const counters = book.counters(of);
  if (counters === null) return { kind: "restored" };
  const wanted = new Set(holds.map(({ id }) => id));
  for (const found of book.over(counters, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER))
    if (!wanted.has(found.hold.id)) book.detach(found, counters);
  for (const hold of holds) book.attach(hold, of.kind === "key" ? 0 : 1, counters);
  const { holds: _, ...usage } = book.usage(counters);
  book.setUsage(counters, sums === null ? usage : { ...usage, holds: sums });
  return { kind: "restored" };
}

/** Ends an expired hold as of its end: what a bucket gets back does not depend on when the expiry is noticed. */
function expire<Counters>(book: HoldBook<Counters>, found: FoundHold<Counters>, now: EpochMs) {
  const { hold, counters } = found;
  giveBack(book, found, NOTHING_USED, hold.expiresAt);
  // A hold whose key is gone was already unknown.
  if (!isSlotsOfAnother(hold) && counters[0] !== null)
    book.remember(hold.id, { ended: null, until: now + REMEMBER_END_MS });
}

/** Returns the unused units, and deletes the hold. */
function giveBack<Counters>(
  book: HoldBook<Counters>,
  { hold, counters }: FoundHold<Counters>,
  used: UsedUnits,
  now: EpochMs,
): void {
  book.remove(hold.id);
  for (let index = 0; index < hold.limits.length; index += 1) {
    const held = hold.limits[index] as HeldLimit;
    // The workspace's windows are emptied together with those of the key.
    const owner = counters[held.owner ?? 0] ?? null;
    const sums = owner === null ? undefined : book.usage(owner).holds;
    const holder = held.owner === null ? null : owner;
    const state = held.owner !== null && owner === null ? null : book.window(holder, held.window);
    const kind = kindOfWindow(held.window);
    const number = hold.numbers[held.owner ?? 0] ?? 0;
    if (state === null || kind === null || (sums && !isReturnable(sums, held, number))) continue;
    const units = held.units - (used.limits[index] ?? 0);
    const isLeased = isLease(hold);
    if (units <= 0 && !isLeased) continue;
    const after = afterReturn(state, kind, held, units, now, isLeased);
    book.setWindow(holder, held.window, after, endsAfterReturn(after, kind, held));
  }
  for (let place = 0; place < counters.length; place += 1) {
    const owner = counters[place] ?? null;
    if (owner !== null) giveBackUses(book, owner, hold, place, used.uses);
  }
}

/** Returns uses to counters that no longer have the hold, in one write. */
function giveBackUses<Counters>(
  book: HoldBook<Counters>,
  owner: Counters,
  hold: Hold,
  place: number,
  used: number,
): void {
  const { remaining, refilledAt, lastRefillAt, holds: sums = NO_HOLDS } = book.usage(owner);
  const uses = heldUses(sums, hold, place);
  const { added, raises } = usesAfterRaises(
    sums.raises,
    hold.numbers[place] ?? 0,
    uses > 0 ? uses - used : 0,
  );
  const left = sums.uses - uses;
  // Unless it was the earliest, the earliest end stays the same.
  const nextEnd = hold.expiresAt > sums.nextEnd ? sums.nextEnd : book.nextEnd(owner);
  const holds = nextEnd !== null && {
    nextEnd,
    open: sums.open - (isSlotsOfAnother(hold) ? 0 : 1),
    uses: left,
    next: sums.next,
    setBefore: sums.setBefore,
    raises: left === 0 ? [] : raises,
    drops: sums.drops,
  };
  const usage = {
    remaining: remaining === null ? null : remaining + added,
    refilledAt,
    lastRefillAt,
  };
  book.setUsage(owner, holds ? { ...usage, holds } : usage);
}

/** Writes the earliest end of a hold of counters; removes the totals if there are no holds left. */
function settleSums<Counters>(book: HoldBook<Counters>, counters: Counters): void {
  const { holds = NO_HOLDS, ...usage } = book.usage(counters);
  const nextEnd = book.nextEnd(counters);
  book.setUsage(counters, nextEnd === null ? usage : { ...usage, holds: { ...holds, nextEnd } });
}
