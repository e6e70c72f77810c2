import { currentWindow, decideWindow, type RateWindow, type WindowDecision } from "../rules/rate-limit.js";
import type { DueRefill } from "../rules/refill.js";
import type { EpochMs, SpanMs } from "../time.js";
import { decideSpend, settleRefill, type Usage, type UsesOwner } from "../rules/usage.js";

/** One limit that a verification takes from, as data. */
export interface LimitCharge {
  /** Whose counter it is: the key's own, or the identity's, shared by all its keys. */
  readonly owner: "key" | "identity";
  /**
   * Whether the limit is part of the owner's configuration, or was made up by one request. A counter is known by
   * owner, name, duration and this: the two kinds count apart, and a store may keep them in different places.
   */
  readonly isConfigured: boolean;
  readonly name: string;
  readonly limit: number;
  readonly durationMs: SpanMs;
  /** Units to take: a whole number >= 0. */
  readonly cost: number;
}

/** What makes the repeat of a verification harmless, when the answer to the first was lost. */
export interface ChargeRequest {
  /** Digest of the caller's id of the request; remembered together with the key. */
  readonly id: string;
  /** Digest of the question: the same id with another question is a conflict. */
  readonly fingerprint: string;
  /** Unix epoch ms until which the result is remembered. */
  readonly rememberUntil: EpochMs;
}

/** What became of an earlier charge of the same key under the same request id. */
export interface RememberedCharge {
  readonly fingerprint: string;
  /** Unix epoch ms from which on it counts as forgotten. */
  readonly until: EpochMs;
  readonly result: SettledCharge;
}

/** All that one verification wants from a store, as data: the plan of one atomic step. */
export interface ChargePlan {
  readonly workspaceId: string;
  readonly keyId: string;
  readonly identityId: string | null;
  /** As in `KeyRecord`: where the counters of the key are, when it shares them. */
  readonly countersId: string | null;
  /** Whose uses `cost` and `refill` are about. An identity that does not exist has none. */
  readonly usesFrom: UsesOwner;
  /** What the store gave along with the loaded key, to find the record again faster. */
  readonly handle?: unknown;
  /** Unix epoch ms, handed in by the caller. */
  readonly now: EpochMs;
  /** What the decision was made on. When any of it moved, nothing is taken. */
  readonly expects: {
    readonly keyVersion: number;
    /** Null: there was no identity, or it no longer existed. */
    readonly identityVersion: number | null;
    readonly epoch: number;
  };
  /** `look` evaluates everything and writes nothing. */
  readonly mode: "take" | "look";
  /** Uses to spend: a whole number >= 0. */
  readonly cost: number;
  readonly refill: DueRefill | null;
  /** In the order in which they are evaluated. No two name the same counter. */
  readonly limits: readonly LimitCharge[];
  /** Under which the result is remembered, where the caller gave an id. */
  readonly request?: ChargeRequest | undefined;
}

/** What a store holds of everything a plan touches. */
export interface ChargeState {
  readonly keyVersion: number;
  readonly identityVersion: number | null;
  readonly epoch: number;
  /** Of the key, or of the identity, as the plan says; `NO_USES` where that identity does not exist. */
  readonly usage: Usage;
  /** The stored window of each of the plan's limits, in the plan's order; null where none is stored. */
  readonly windows: readonly (RateWindow | null)[];
  /** What is remembered under the plan's request id, expired or not. */
  readonly remembered?: RememberedCharge | null;
}

/** A limit as a verification leaves it. */
export interface LimitReading {
  readonly name: string;
  readonly limit: number;
  /** Units left in the window: a whole number >= 0. */
  readonly remaining: number;
  /** Unix epoch ms at which the next window opens. */
  readonly resetAt: EpochMs;
  /** Whether this limit refused. */
  readonly exceeded: boolean;
}

/** What became of a plan that was evaluated. Only `charged` in mode `take` moved a counter. */
export interface SettledCharge {
  readonly kind: "charged" | "rate-limited" | "usage-exceeded";
  /** Uses left afterwards, with a due refill shown; null for unlimited. */
  readonly remaining: number | null;
  /** One reading for each of the plan's limits, in the plan's order. */
  readonly limits: readonly LimitReading[];
}

/** What became of a plan. */
export type ChargeResult =
  /** Key, identity or epoch moved, or the key is gone: decide again on fresh records. */
  | { readonly kind: "stale" }
  /** The request id was used for another question. */
  | { readonly kind: "conflict" }
  | SettledCharge;

/** A result, and what to store; null where nothing is to be written. */
export interface ChargeStep {
  readonly result: ChargeResult;
  readonly next: ChargeWrite | null;
}

/** The counters as they are to be stored, and what is to be remembered of the request. */
export interface ChargeWrite {
  /** Of whom the plan says. Unchanged, the same object, where nothing is to be stored. */
  readonly usage: Usage;
  /** In the order of the plan's limits; null where nothing is stored. */
  readonly windows: readonly (RateWindow | null)[];
  readonly remember: RememberedCharge | null;
}

const STALE: ChargeStep = { result: { kind: "stale" }, next: null };
const CONFLICT: ChargeStep = { result: { kind: "conflict" }, next: null };

/**
 * The atomic step of a verification, as a pure function: settle a due refill, then take every window slot and
 * every use, or none. Limits refuse before uses do. This is the oracle that every store is tested against.
 *
 * A plan with a request id that is remembered for the same question gets the remembered result, and nothing is
 * taken again; what the plan expects is compared first, so that no memory outlives a revocation.
 *
 * @param state - What is stored of the plan's key, or null when there is no such key.
 */
export function applyCharge(state: ChargeState | null, plan: ChargePlan): ChargeStep {
  if (state === null || !isAsExpected(state, plan)) return STALE;
  const repeated = recall(state, plan);
  if (repeated !== null) return repeated;
  const usage = settleRefill(state.usage, plan.refill);
  const spend = decideSpend(usage.remaining, plan.cost);
  // Plain loops over one list: this function is most of what a verification in memory costs.
  const decisions: WindowDecision[] = [];
  let isLimited = false;
  for (let index = 0; index < plan.limits.length; index += 1) {
    const limit = plan.limits[index] as LimitCharge;
    const decision = decideWindow(state.windows[index] ?? null, limit, limit.cost, plan.now);
    if (decision.kind === "refuse") isLimited = true;
    decisions.push(decision);
  }
  if (isLimited) return refuse(state, plan, "rate-limited", usage, decisions);
  if (spend.kind === "refuse") return refuse(state, plan, "usage-exceeded", usage, decisions);
  return admit(state, plan, usage, spend.remaining, decisions);
}

function recall({ remembered }: ChargeState, { request, now }: ChargePlan): ChargeStep | null {
  if (request === undefined || !remembered || remembered.until <= now) return null;
  if (remembered.fingerprint !== request.fingerprint) return CONFLICT;
  return { result: remembered.result, next: null };
}

function refuse(
  state: ChargeState,
  plan: ChargePlan,
  kind: "rate-limited" | "usage-exceeded",
  usage: Usage,
  decisions: readonly WindowDecision[],
): ChargeStep {
  const limits = plan.limits.map((limit, index) => {
    const window = currentWindow(state.windows[index] ?? null, limit.durationMs, plan.now);
    return readLimit(limit, window, decisions[index]?.kind === "refuse");
  });
  const result: SettledCharge = { kind, remaining: usage.remaining, limits };
  const remember = toRemember(plan, result);
  const next = remember && { usage: state.usage, windows: state.windows, remember };
  return { result, next };
}

function admit(
  state: ChargeState,
  plan: ChargePlan,
  usage: Usage,
  remaining: number | null,
  decisions: readonly WindowDecision[],
): ChargeStep {
  const limits: LimitReading[] = [];
  const windows: (RateWindow | null)[] = [];
  const hasSpent = usage !== state.usage || remaining !== usage.remaining;
  let hasMoved = hasSpent;
  for (let index = 0; index < decisions.length; index += 1) {
    const limit = plan.limits[index] as LimitCharge;
    const { window } = decisions[index] as WindowDecision;
    if (limit.cost > 0) hasMoved = true;
    limits.push(readLimit(limit, window, false));
    windows.push(limit.cost > 0 ? window : (state.windows[index] ?? null));
  }
  const result: SettledCharge = { kind: "charged", remaining, limits };
  const remember = toRemember(plan, result);
  if (plan.mode === "look" || !(hasMoved || remember)) return { result, next: null };
  const after = hasSpent ? { remaining, refilledAt: usage.refilledAt } : state.usage;
  return { result, next: { usage: after, windows, remember } };
}

function toRemember({ mode, request }: ChargePlan, result: SettledCharge): RememberedCharge | null {
  if (request === undefined || mode === "look") return null;
  return { fingerprint: request.fingerprint, until: request.rememberUntil, result };
}

function isAsExpected(state: ChargeState, { expects }: ChargePlan): boolean {
  return (
    state.keyVersion === expects.keyVersion &&
    state.identityVersion === expects.identityVersion &&
    state.epoch === expects.epoch
  );
}

function readLimit(limit: LimitCharge, window: RateWindow, exceeded: boolean): LimitReading {
  return {
    name: limit.name,
    limit: limit.limit,
    remaining: Math.max(0, limit.limit - window.used),
    resetAt: window.startedAt + limit.durationMs,
    exceeded,
  };
}
