import {
  afterTaking,
  type LimitFigures,
  limitAt,
  resetAt,
  roomOf,
} from "../rules/limit-algorithm.js";
import type { LimitState } from "../rules/limit-state.js";
import type { DueRefill } from "../rules/refill.js";
import { decideSpend } from "../rules/usage.js";
import type { EpochMs } from "../time.js";
import type { Expectation } from "./change.js";
import { applyRefill, type Usage } from "./counters.js";

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
  /** The store's own, to write to. */
  memo?: unknown;
}

/** What changes from one verification to the next. */
export interface ChargeMoment {
  /** Unix epoch ms. */
  readonly now: EpochMs;
  readonly refill: DueRefill | null;
  /** Makes a repeat harmless: the result is remembered under this id, where the caller gave one. */
  readonly request?: ChargeRequest | undefined;
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
}

/** What became of a plan that was evaluated. Only `charged` in mode `commit` moved a counter. */
export interface AppliedCharge {
  readonly kind: "charged" | "rate-limited" | "usage-exceeded";
  /** Uses left afterwards, with a due refill shown; null for unlimited. */
  readonly remaining: number | null;
  /** One reading for each of the plan's limits, in the plan's order. */
  readonly limits: readonly LimitReading[];
}

/** What became of a plan. */
export type ChargeResult =
  /** What moved: the revision, or the index in `confirms` of a record. The revision is compared first, then each record. */
  | { readonly kind: "stale"; readonly moved: "revision" | number }
  /** The request id was used for another question. */
  | { readonly kind: "conflict" }
  | AppliedCharge;

/** What a store holds of everything a plan takes from, once all that the plan confirms was found to hold. */
export interface ChargeState {
  /** As `uses` of the plan says. `NO_USES` where that record does not exist, `UNLIMITED_USES` where uses are not counted. */
  readonly usage: Usage;
  /** The stored window of each of the plan's limits, in the plan's order; null where none is stored. */
  readonly windows: readonly (LimitState | null)[];
  /** What is remembered under the request id, expired or not. */
  readonly remembered: RememberedCharge | null;
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
    return { result: remembered.result, next: null };
  }
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
  const result: AppliedCharge = { kind, remaining, limits: readings };
  if (mode === "peek") return { result, next: null };
  const { refilledAt, lastRefillAt } = usage;
  const isUsed = isCharged && (usage !== state.usage || remaining !== usage.remaining);
  if (!isUsed && request === undefined && windows === null) return { result, next: null };
  return {
    result,
    next: {
      // Without a spread, with which a warm verification that counts uses takes 8 % longer in memory.
      usage: isUsed ? { remaining, refilledAt, lastRefillAt } : state.usage,
      windows: windows ?? state.windows,
      remember:
        request === undefined
          ? null
          : { fingerprint: request.fingerprint, until: request.rememberUntil, result },
    },
  };
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
