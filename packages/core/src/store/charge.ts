import {
  type HeldLimit,
  type Hold,
  type HoldSums,
  NO_HOLDS,
  slotsIdOf,
  sumsWith,
} from "../rules/hold.js";
import { decideSpend } from "../rules/keys/spend.js";
import { afterTaking, limitAt, resetAt, roomOf } from "../rules/limit-algorithm.js";
import type { LimitFigures, LimitState } from "../rules/limit-state.js";
import type { RateLimit } from "../rules/rate-limit.js";
import type { DueRefill } from "../rules/refill.js";
import { bucketFlowed } from "../rules/token-bucket.js";
import { type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import type { Expectation } from "./change.js";
import { applyRefill, type Usage } from "./counters.js";
import type { EndStep } from "./settle.js";
import type { ChargeCounts } from "./statistics.js";

/** One limit that a charge takes from. */
export interface LimitCharge extends RateLimit {
  /** Units to take: a whole number >= 0. */
  readonly cost: number;
  /** Name of its window, unique to its algorithm and duration: printable ASCII without spaces and `=`. */
  readonly window: string;
  /**
   * Index in `confirms` of the record that owns the window; a record that does not exist counts nothing. Null: the workspace owns it, and
   * keeps it until `KEPT_AFTER_END_MS` after its end, by the clock of the store or the machine, never by `now`: a caller whose clock is
   * ahead must not end it for others.
   */
  readonly owner: number | null;
}

/**
 * The part that stays the same while one key is verified with one question. A plan is made once and used many times, so a store may cache
 * in `memo` what it derives from it.
 */
export interface ChargePlan {
  readonly workspaceId: string;
  /** The revision that the decision is based on; null: any. */
  readonly revision: number | null;
  /**
   * The records that the decision is based on. A request is remembered with the first of them, perhaps even after that record is deleted
   * and written again.
   */
  readonly confirms: readonly Expectation[];
  /** `peek` evaluates everything and changes no counter. */
  readonly mode: "commit" | "peek";
  /** Uses to take: a whole number >= 0. */
  readonly cost: number;
  /** Index in `confirms` of the record whose uses are taken; a missing record has none left. Null: uses are not counted. */
  readonly uses: number | null;
  /** In the order of evaluation, each window once. */
  readonly limits: readonly LimitCharge[];
  /** Present if a part of the charge is only held. */
  readonly hold?: HoldPlan | undefined;
  /** What is counted in the same step, even with `peek`. Only for a store that `countsInStep`. */
  readonly counts?: ChargeCounts | undefined;
  /** A cache for the store. */
  memo?: unknown;
}

/** The part of a charge that is held until it is settled. */
export interface HoldPlan {
  /** `all`: uses and units of every limit. `slots`: those of concurrent limits; the rest is taken for good. */
  readonly keeps: "all" | "slots";
  readonly ttl: SpanMs;
  /** Slots are held for this long instead, but never longer than `ttl`; null: no slots. */
  readonly slotTtl: SpanMs | null;
  /** Most open holds of each record. The hold belongs to the first records of `confirms`, as many as there are numbers here. */
  readonly most: readonly number[];
}

/** The part that changes from one verification to the next. */
export interface ChargeMoment {
  /** Unix epoch ms. */
  readonly now: EpochMs;
  readonly refill: DueRefill | null;
  /** With a `requestId`: the result is remembered, so that a repeat is not charged. */
  readonly request?: ChargeRequest | undefined;
  /** Id of the hold that the plan makes: printable ASCII without spaces. */
  readonly holdId?: string | undefined;
  /**
   * Ends a hold in the same step, before all else, as `settle` does at the revision of the plan. Only for plans in mode `commit` that count
   * nothing.
   */
  readonly ends?: EndStep | undefined;
}

/** Identifies a verification, so that a repeat is not charged again. */
export interface ChargeRequest {
  /** Digest of the `requestId`: base64url. */
  readonly id: string;
  /** Digest of the question: the same id with another question is a conflict. */
  readonly fingerprint: string;
  /** Unix epoch ms, by the caller's clock: the result is remembered at least until then. It is deleted by the store's clock. */
  readonly rememberUntil: EpochMs;
}

/** Result of an earlier charge with the same request id. */
export interface RememberedCharge {
  readonly fingerprint: string;
  /** Unix epoch ms from which on it counts as forgotten. */
  readonly until: EpochMs;
  readonly result: AppliedCharge;
}

/** A limit after a charge. */
export interface LimitReading {
  readonly name: string;
  readonly limit: number;
  /** Units that a request could still take: a whole number >= 0. */
  readonly remaining: number;
  /**
   * Unix epoch ms at which the whole limit is available, if nothing else is taken; for a fixed one, the end of its window; for a concurrent
   * one, the latest possible end of its slots until they are looked up.
   */
  readonly resetAt: EpochMs;
  /** Whether this limit refused; for a shadow limit, whether it would have. */
  readonly exceeded: boolean;
  /** The state that this was read from. */
  readonly state: LimitState;
  /** For a concurrent limit that refused or was only read, once it was looked up: when enough slots have ended. */
  readonly admitsAt?: EpochMs;
}

/** Result of evaluating a plan. Only `charged` in mode `commit` changed counters. */
export interface AppliedCharge {
  readonly kind: "charged" | "rate-limited" | "usage-exceeded";
  /** Uses left afterwards, including a due refill; null for unlimited. */
  readonly remaining: number | null;
  /** One reading for each of the plan's limits, in the plan's order. */
  readonly limits: readonly LimitReading[];
  /** Only if the plan was charged and holds something. */
  readonly hold?: Pick<Hold, "id" | "expiresAt"> | undefined;
  /** True: the remembered result of an earlier charge with the same request id: nothing changed now. Otherwise absent. */
  readonly isRepeat?: true | undefined;
  /** Decided by a lease; no store returns this. */
  readonly leased?: true | undefined;
  /** For how many more verifications units were taken, which do not count here; no store returns this. @internal */
  readonly ahead?: number | undefined;
}

/** Result of a plan. */
export type ChargeResult =
  /** What has changed: the revision, which is compared first, or a record by its index in `confirms`. */
  | { readonly kind: "stale"; readonly moved: "revision" | number }
  /** The request id was used for another question. */
  | { readonly kind: "conflict" }
  /**
   * Nothing changed: call `settle` for a record first, by its index in `confirms`. One of its holds has expired, or it has holds and a due
   * refill.
   */
  | { readonly kind: "unsettled"; readonly record: number }
  /** The record has as many open holds as allowed. */
  | { readonly kind: "too-many-holds"; readonly record: number }
  | AppliedCharge;

/** The stored state of everything that a plan takes from, after the store has confirmed the plan. */
export interface ChargeState {
  /** Counter of the record of `uses`: `NO_USES` if it does not exist, `UNLIMITED_USES` if uses are not counted. */
  readonly usage: Usage;
  /** The stored window of each of the plan's limits, in the plan's order; null for none. */
  readonly windows: readonly (LimitState | null)[];
  /** What is remembered under the request id, expired or not. */
  readonly remembered: RememberedCharge | null;
  /** Totals of the holds of each of `confirms`, in order; absent if there are none. */
  readonly holds?: readonly (HoldSums | undefined)[] | undefined;
}

/** A result, and what to store; null for nothing. */
export interface ChargeStep {
  readonly result: Exclude<ChargeResult, { kind: "stale" }>;
  readonly next: ChargeWrite | null;
}

/** What to store. */
export interface ChargeWrite {
  /** The same object if there is nothing to store. */
  readonly usage: Usage;
  /** In the order of the plan's limits: the same object, or null, if there is nothing to store. */
  readonly windows: readonly (LimitState | null)[];
  readonly remember: RememberedCharge | null;
  /** New holds, if any. */
  readonly held?: NewHolds | undefined;
}

/** Holds to store, and the new totals of each of their records. */
export interface NewHolds {
  readonly holds: readonly Hold[];
  readonly sums: readonly HoldSums[];
}

const CONFLICT: ChargeStep = { result: { kind: "conflict" }, next: null };

/**
 * The atomic step of a verification, as a pure function: applies a due refill, then takes all units and uses, or none. Limits refuse before
 * uses do. A shadow limit never refuses; if it would have, nothing is taken from it. A store calls this, or does exactly this in its own
 * language, after it has confirmed what the plan expects, so that no cache outlives a revocation.
 *
 * A request id that is remembered for the same question gets the remembered result; nothing is taken again.
 */
export function applyCharge(
  state: ChargeState,
  plan: ChargePlan,
  moment: ChargeMoment,
): ChargeStep {
  const { remembered } = state;
  const { limits, mode } = plan;
  const { request, now } = moment;
  if (request !== undefined && remembered !== null && remembered.until > now) {
    if (remembered.fingerprint !== request.fingerprint) return CONFLICT;
    return { result: { ...remembered.result, isRepeat: true }, next: null };
  }
  const unsettled = unsettledRecord(state, plan, moment);
  if (unsettled !== -1) return { result: { kind: "unsettled", record: unsettled }, next: null };
  const usage = applyRefill(state.usage, moment.refill);
  const spend = decideSpend(usage.remaining, plan.cost);
  const current = limits.map((limit, index) => limitAt(state.windows[index] ?? null, limit, now));
  const isLimited = limits.some(
    (limit, at) => !limit.shadow && isExceeded(current[at] as LimitState, limit),
  );
  const kind = isLimited ? "rate-limited" : spend.kind === "spend" ? "charged" : "usage-exceeded";
  const isCharged = kind === "charged";
  const isReserved = plan.hold?.keeps === "all" && mode !== "peek";
  let windows: (LimitState | null)[] | null = null;
  const { remaining } = isCharged ? spend : usage;
  const readings = limits.map((limit, at) => {
    const exceeded = isExceeded(current[at] as LimitState, limit);
    const isTaken = isCharged && limit.cost > 0 && !exceeded;
    const after = afterTaking(
      current[at] as LimitState,
      limit,
      isTaken ? limit.cost : 0,
      isReserved && limit.held === undefined,
    );
    if (isTaken) {
      windows ??= state.windows.slice();
      windows[at] = after;
    }
    return readLimit(limit, after, exceeded);
  });
  let result: AppliedCharge = { kind, remaining, limits: readings };
  if (mode === "peek") return { result, next: null };
  let held: NewHolds | undefined;
  if (isCharged && plan.hold !== undefined) {
    const taken = takeHolds(state, plan, plan.hold, moment, readings);
    if (typeof taken === "number")
      return { result: { kind: "too-many-holds", record: taken }, next: null };
    held = taken;
    const [{ id, expiresAt }] = held.holds as readonly [Hold];
    result = { kind, remaining, limits: readings, hold: { id, expiresAt } };
  }
  const isUsed = isCharged && (usage !== state.usage || remaining !== usage.remaining);
  if (!isUsed && request === undefined && windows === null && held === undefined)
    return { result, next: null };
  return {
    result,
    next: {
      usage: isUsed ? withRemaining(usage, remaining) : state.usage,
      windows: windows ?? state.windows,
      remember:
        request === undefined
          ? null
          : { fingerprint: request.fingerprint, until: request.rememberUntil, result },
      held,
    },
  };
}

/** No spread: it makes a warm verification that counts uses 8 % slower in memory. */
function withRemaining(
  { refilledAt, lastRefillAt, holds }: Usage,
  remaining: number | null,
): Usage {
  return holds === undefined
    ? { remaining, refilledAt, lastRefillAt }
    : { remaining, refilledAt, lastRefillAt, holds };
}

/** Index of the first record that must be settled before anything is decided; -1 for none. */
function unsettledRecord(
  { usage, holds }: ChargeState,
  { uses }: ChargePlan,
  { now, refill }: ChargeMoment,
): number {
  const over =
    holds === undefined ? -1 : holds.findIndex((sums) => sums !== undefined && sums.nextEnd <= now);
  if (over !== -1 || refill === null || uses === null) return over;
  const { remaining, refilledAt } = usage;
  if (remaining === null || refilledAt >= refill.dueAt) return -1;
  return refill.carry !== undefined || (usage.holds?.uses ?? 0) > 0 ? uses : -1;
}

/** The holds of a charge, or the index of a record that has as many open ones as allowed. `readings`: the limits after the charge. */
function takeHolds(
  { usage, holds: before }: ChargeState,
  { confirms, cost, uses, limits }: ChargePlan,
  { keeps, ttl, slotTtl, most }: HoldPlan,
  { now, holdId: id = "" }: ChargeMoment,
  readings: readonly LimitReading[],
): NewHolds | number {
  const sums: HoldSums[] = [];
  for (let place = 0; place < most.length; place += 1) {
    const own = before?.[place] ?? NO_HOLDS;
    if (own.open >= (most[place] as number)) return place;
    sums.push(own);
  }
  const holds: Hold[] = [];
  const take = (holdId: string, span: SpanMs, own: number, areSlots: boolean) => {
    const hold: Hold = {
      id: holdId,
      keyId: confirms[0]?.id as string,
      identityId: most.length > 1 ? (confirms[1]?.id ?? null) : null,
      createdAt: now,
      expiresAt: Math.min(now + span, LAST_INSTANT),
      ttl: span,
      uses: own,
      usesOf: usage.remaining !== null ? uses : null,
      numbers: sums.map(({ next }) => next),
      limits: heldLimits(limits, readings, areSlots),
    };
    holds.push(hold);
    for (let place = 0; place < sums.length; place += 1)
      sums[place] = sumsWith(sums[place] as HoldSums, hold, hold.usesOf === place ? own : 0);
  };
  if (keeps === "all") take(id, ttl, cost, false);
  if (slotTtl !== null) take(keeps === "all" ? slotsIdOf(id) : id, Math.min(ttl, slotTtl), 0, true);
  return { holds, sums };
}

/** The held units of concurrent limits (`areSlots`), or of all others. */
function heldLimits(
  limits: readonly LimitCharge[],
  readings: readonly LimitReading[],
  areSlots: boolean,
): readonly HeldLimit[] {
  const held: HeldLimit[] = [];
  for (let index = 0; index < limits.length; index += 1) {
    const { window, owner, algorithm, cost, limit } = limits[index] as LimitCharge;
    if (cost === 0 || (algorithm === "concurrent") !== areSlots) continue;
    const { state, exceeded } = readings[index] as LimitReading;
    const [rate, flowed] =
      algorithm === "token-bucket" ? [limit, bucketFlowed(state)] : [0, undefined];
    const taken = { window, owner, units: exceeded ? 0 : cost, at: state.at, rate };
    held.push(flowed === undefined ? taken : { ...taken, flowed });
  }
  return held;
}

/** Whether a limit in this state has no room for its cost. */
function isExceeded(current: LimitState, limit: LimitCharge): boolean {
  return limit.cost > roomOf(current, limit);
}

/** The reading of a limit in this state. `state`: at the instant of the charge. */
export function readLimit(
  limit: LimitFigures & { readonly name: string },
  state: LimitState,
  exceeded: boolean,
): LimitReading {
  return {
    name: limit.name,
    limit: limit.limit,
    remaining: Math.max(0, roomOf(state, limit)),
    resetAt: resetAt(state, limit),
    exceeded,
    state,
  };
}

/** The moment at which a `peek` reads each limit exactly as stored. */
export const AS_STORED: ChargeMoment = Object.freeze({ now: 0, refill: null });
