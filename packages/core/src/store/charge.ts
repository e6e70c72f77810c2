import {
  type HeldLimit,
  type Hold,
  type HoldSums,
  NO_HOLDS,
  slotsIdOf,
  sumsWith,
} from "../rules/hold.js";
import { decideSpend } from "../rules/keys/usage.js";
import {
  afterTaking,
  type LimitFigures,
  limitAt,
  resetAt,
  roomOf,
} from "../rules/limit-algorithm.js";
import type { LimitState } from "../rules/limit-state.js";
import type { DueRefill } from "../rules/refill.js";
import { type EpochMs, LAST_INSTANT, type SpanMs } from "../time.js";
import type { Expectation } from "./change.js";
import { applyRefill, type Usage } from "./counters.js";
import type { ChargeCounts } from "./statistics.js";

/** One limit that a charge takes from. */
export interface LimitCharge extends LimitFigures {
  readonly name: string;
  /** Decided and counted as if it refused, and refuses nobody. */
  readonly shadow: boolean;
  /** Units to take: a whole number >= 0. */
  readonly cost: number;
  /** Name of its state, which no limit of another algorithm or duration has: printable ASCII without spaces and without `=`. */
  readonly window: string;
  /**
   * Whose counters hold the window: an index in `confirms`. A record that does not exist counts nothing. Null: the workspace
   * keeps it, until `KEPT_AFTER_END_MS` after its end, so that a clock that is set back does not open it again. When that is goes by the clock of
   * the store or the machine, never by `now`: a caller whose clock is ahead ends nothing for others.
   */
  readonly owner: number | null;
}

/**
 * What does not change from one verification to the next while key and question stay the same. It is made once and used
 * many times, so a store may keep with it what it makes of it.
 */
export interface ChargePlan {
  readonly workspaceId: string;
  /** The revision of the workspace that the decision was made on; null: whatever it is. */
  readonly revision: number | null;
  /**
   * The records that the decision was made on. A request is remembered beside the first of them; whether it still is when that
   * record was deleted and is written again, is open.
   */
  readonly confirms: readonly Expectation[];
  /** `peek` evaluates everything and moves nothing. */
  readonly mode: "commit" | "peek";
  /** Uses to take: a whole number >= 0. */
  readonly cost: number;
  /** Whose uses: an index in `confirms`; one that does not exist has none left. Null: uses are not counted. */
  readonly uses: number | null;
  /** In the order in which they are evaluated. No two name the same window. */
  readonly limits: readonly LimitCharge[];
  /** Where some of it is only held; absent: all of it is taken for good. */
  readonly hold?: HoldPlan | undefined;
  /** What is counted in the same step, also where nothing is charged: `peek` moves no counter, and counts. Only for a store that `countsInStep`. */
  readonly counts?: ChargeCounts | undefined;
  /** The store's own, to write to. */
  memo?: unknown;
}

/** What of a charge is held, until somebody says what it came to. */
export interface HoldPlan {
  /** `all`: uses and units of every limit. `slots`: those of concurrent limits; the rest is taken for good. */
  readonly keeps: "all" | "slots";
  readonly ttl: SpanMs;
  /** Slots are held for this long instead; null: there are none. */
  readonly slotTtl: SpanMs | null;
  /** The hold is beside the counters of the first of `confirms`, as many as these are: how many may be open beside each. */
  readonly most: readonly number[];
}

/** What changes from one verification to the next. */
export interface ChargeMoment {
  /** Unix epoch ms. */
  readonly now: EpochMs;
  readonly refill: DueRefill | null;
  /** Makes a repeat harmless: the result is remembered under this id, where the caller gave one. */
  readonly request?: ChargeRequest | undefined;
  /** What the plan holds is held under this id: printable ASCII without spaces. */
  readonly holdId?: string | undefined;
}

/** What makes the repeat of a verification harmless, when the answer to the first was lost. */
export interface ChargeRequest {
  /** Digest of the caller's id of the request: base64url. */
  readonly id: string;
  /** Digest of the question: the same id with another question is a conflict. */
  readonly fingerprint: string;
  /** Unix epoch ms, by the caller's clock, until which the result is remembered at least. It is forgotten by the store's clock. */
  readonly rememberUntil: EpochMs;
}

/** What became of an earlier charge under the same request id. */
export interface RememberedCharge {
  readonly fingerprint: string;
  /** Unix epoch ms from which on it counts as forgotten. */
  readonly until: EpochMs;
  readonly result: AppliedCharge;
}

/** A limit as a charge leaves it. */
export interface LimitReading {
  readonly name: string;
  readonly limit: number;
  /** Units that a request could still take: a whole number >= 0. */
  readonly remaining: number;
  /** Unix epoch ms at which all of the limit is left, if nothing else is taken; of a fixed one the edge of its window. */
  readonly resetAt: EpochMs;
  /** Whether this limit refused, or would have, were it no shadow. */
  readonly exceeded: boolean;
  /** What it was read from. */
  readonly state: LimitState;
  /** Of a concurrent limit that refused: the first instant at which enough slots have ended, once that was looked for. */
  readonly admitsAt?: EpochMs;
}

/** What became of a plan that was evaluated. Only `charged` in mode `commit` moved a counter. */
export interface AppliedCharge {
  readonly kind: "charged" | "rate-limited" | "usage-exceeded";
  /** Uses left afterwards, with a due refill shown; null for unlimited. */
  readonly remaining: number | null;
  /** One reading for each of the plan's limits, in the plan's order. */
  readonly limits: readonly LimitReading[];
  /** Of a plan that holds, where it was charged. */
  readonly hold?: OpenHold | undefined;
  /**
   * True: this is what an earlier charge under the same request id came to, whether or not anybody got its answer, and nothing moved now.
   * Absent from the charge that moved it, and from what is remembered.
   */
  readonly isRepeat?: true | undefined;
  /** The store was not asked: never answered by one. */
  readonly leased?: true | undefined;
}

/** What is told of a hold that was taken. */
export interface OpenHold {
  readonly id: string;
  readonly expiresAt: EpochMs;
}

/** What became of a plan. */
export type ChargeResult =
  /** What moved: the revision, or the index in `confirms` of a record. The revision is compared first, then each record. */
  | { readonly kind: "stale"; readonly moved: "revision" | number }
  /** The request id was used for another question. */
  | { readonly kind: "conflict" }
  /**
   * What is beside the counters of a record, by its index in `confirms`, has to be settled first: a hold there is over, or a refill is due
   * that `settle` alone works out. Nothing moved.
   */
  | { readonly kind: "unsettled"; readonly record: number }
  /** As many holds are open beside a record as may be. */
  | { readonly kind: "too-many-holds"; readonly record: number }
  | AppliedCharge;

/** What a store holds of everything a plan takes from, once all that the plan confirms was found to hold. */
export interface ChargeState {
  /** As `uses` of the plan says. `NO_USES` where that record does not exist, `UNLIMITED_USES` where uses are not counted. */
  readonly usage: Usage;
  /** The stored window of each of the plan's limits, in the plan's order; null where none is stored. */
  readonly windows: readonly (LimitState | null)[];
  /** What is remembered under the request id, expired or not. */
  readonly remembered: RememberedCharge | null;
  /** What is held beside each of `confirms`, in their order; absent where nothing is beside any of them. */
  readonly holds?: readonly (HoldSums | undefined)[] | undefined;
}

/** A result, and what to store; null for nothing. */
export interface ChargeStep {
  readonly result: Exclude<ChargeResult, { kind: "stale" }>;
  readonly next: ChargeWrite | null;
}

/** The counters to store, and what to remember of the request. */
export interface ChargeWrite {
  /** The same object where there is nothing to store. */
  readonly usage: Usage;
  /** In the order of the plan's limits: the same object, or null, where there is nothing to store. */
  readonly windows: readonly (LimitState | null)[];
  readonly remember: RememberedCharge | null;
  /** What is held from now on; absent where nothing is. */
  readonly held?: NewHolds | undefined;
}

/** Holds to store, and what is held afterwards beside each of the records that they are beside. */
export interface NewHolds {
  readonly holds: readonly Hold[];
  readonly sums: readonly HoldSums[];
}

const CONFLICT: ChargeStep = { result: { kind: "conflict" }, next: null };

/**
 * The atomic step of a verification, as a pure function: apply a due refill, then take every unit of a limit and every use, or
 * none. Limits refuse before uses do; a shadow refuses nobody, and nothing is taken from it where it would have. A store calls
 * it, or does in its own language exactly what it does, after it has confirmed what the plan expects: so no memory outlives a
 * revocation.
 *
 * A request id that is remembered for the same question gets the remembered result, and nothing is taken again.
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
  let windows: (LimitState | null)[] | null = null;
  const { remaining } = isCharged ? spend : usage;
  const readings = limits.map((limit, at) => {
    const exceeded = isExceeded(current[at] as LimitState, limit);
    const isTaken = isCharged && limit.cost > 0 && !exceeded;
    const after = afterTaking(current[at] as LimitState, limit, isTaken ? limit.cost : 0);
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

/** Without a spread, with which a warm verification that counts uses takes 8 % longer in memory. */
function withRemaining(
  { refilledAt, lastRefillAt, holds }: Usage,
  remaining: number | null,
): Usage {
  return holds === undefined
    ? { remaining, refilledAt, lastRefillAt }
    : { remaining, refilledAt, lastRefillAt, holds };
}

/** The first record beside which something has to be settled before anything is decided; -1 for none. */
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

/**
 * The holds of a charge.
 *
 * @param readings - The limits, as the charge leaves them.
 * @returns The index of a record beside which no more may be open, where there is one.
 */
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
      usesOf: own > 0 && usage.remaining !== null ? uses : null,
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

/** What is held of limits: of concurrent ones, or of all others. */
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
    const rate = algorithm === "token-bucket" ? limit : 0;
    held.push({ window, owner, units: exceeded ? 0 : cost, at: state.at, rate });
  }
  return held;
}

/** Whether a limit that stands so has no room for its cost. */
function isExceeded(current: LimitState, limit: LimitCharge): boolean {
  return limit.cost > roomOf(current, limit);
}

/** What is shown of a limit that stands so. @param state - At the instant of the charge. */
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

/** The moment at which a plan that only looks sees each limit as it is stored: the time of a limit never goes back. */
export const AS_STORED: ChargeMoment = Object.freeze({ now: 0, refill: null });

/**
 * The state that a plan which took nothing at {@link AS_STORED} has read; null where none is stored, or nothing is taken. The earliest
 * groups that are empty are left out: a state that was written anew has none.
 */
export function stateOfReading({ state }: LimitReading): LimitState | null {
  const { at, used, earlier } = state;
  const last = earlier.findLastIndex((count) => count > 0);
  if (used === 0 && last === -1) return null;
  return last === earlier.length - 1 ? state : { at, used, earlier: earlier.slice(0, last + 1) };
}
