import type { AppliedCharge, ChargeMoment, ChargePlan, UsageChange } from "@latchkey/core";
import { afterTaking, type ModelWindow, readLimit } from "./limit-model.js";

/** Maps the uses left before a step to those left after it. */
export type UsesStep = (left: number | null) => number | null;

/** The uses and windows of a record. */
export interface ModelCounter {
  remaining: number | null;
  refilledAt: number;
  lastRefillAt: number | null;
  readonly windows: Map<string, ModelWindow>;
  /** The uses at first, and all steps since. */
  first: number | null;
  readonly steps: UsesStep[];
}

/** The remembered result of a request id. */
export interface RememberedResult {
  readonly fingerprint: string;
  readonly until: number;
  readonly result: AppliedCharge;
}

/** The part of a counter that configuration changes can change. */
export type ChangedUses = Pick<ModelCounter, "remaining" | "refilledAt" | "lastRefillAt">;

/** The counter of a new record. */
export function newCounter({ remaining, refilledAt, lastRefillAt }: ChangedUses): ModelCounter {
  const first = remaining;
  return { remaining, refilledAt, lastRefillAt, windows: new Map(), first, steps: [] };
}

/** The step of a refill. With `carry`, it adds units, up to the amount. */
export function raisedBy({ amount, carry }: NonNullable<ChargeMoment["refill"]>): UsesStep {
  return (left) =>
    left === null ? null : Math.max(left, Math.min(amount, left + (carry?.units ?? amount)));
}

function lessBy(cost: () => number): UsesStep {
  return (left) => (left === null ? null : left - cost());
}

/** Computes the uses of a counter again, from the first step on. */
export function recount(counter: ModelCounter): void {
  counter.remaining = counter.steps.reduce((left, step) => step(left), counter.first);
}

/** Adds the steps of a configuration change. */
export function noteChange(counter: ModelCounter, { due, operation }: UsageChange): void {
  const { steps } = counter;
  if (due !== null && isOwed(counter, due)) steps.push(raisedBy(due));
  if (operation.kind === "set") steps.push(() => operation.remaining);
  else if (operation.kind !== "keep")
    steps.push(lessBy(() => (operation.kind === "decrement" ? operation.by : -operation.by)));
}

/**
 * Applies a charge whose confirmations hold, and returns its result.
 *
 * @param counter - Null: the plan takes no uses, or the record that has them is deleted.
 * @param windows - For each limit, the windows that include its own; undefined: the record that has them is deleted. Changes them.
 * @param cost - How many uses this charge counts for, now and in later recounts.
 */
export function chargeOf(
  plan: ChargePlan,
  counter: ModelCounter | null,
  windows: readonly (Map<string, ModelWindow> | undefined)[],
  now: number,
  refill: ChargeMoment["refill"],
  cost: () => number = () => plan.cost,
): AppliedCharge {
  const gone = plan.uses === null ? null : 0;
  const uses = refilled(counter ?? { remaining: gone, refilledAt: 0, lastRefillAt: null }, refill);
  const readings = plan.limits.map((limit, place) => {
    const reading = readLimit(windows[place]?.get(limit.window), limit, now);
    return { limit, reading, exceeded: limit.cost > reading.room };
  });
  const isSpent = uses.remaining !== null && (uses.remaining === 0 || plan.cost > uses.remaining);
  const isLimited = readings.some(({ limit, exceeded }) => exceeded && !limit.shadow);
  const kind = isLimited ? "rate-limited" : isSpent ? "usage-exceeded" : "charged";
  const took = kind === "charged";
  const left = uses.remaining === null || !took ? uses.remaining : uses.remaining - plan.cost;
  const isReserved = plan.mode === "commit" && plan.hold?.keeps === "all";
  const limits = readings.map(({ limit, reading, exceeded }, place) => {
    const isTaken = took && !exceeded && limit.cost > 0;
    const after = isTaken ? afterTaking(reading, limit, isReserved) : reading.now;
    if (isTaken && plan.mode === "commit") put(windows[place], limit.window, after);
    const { at, used, earlier, room, fullAt } = readLimit(after, limit, now);
    return {
      name: limit.name,
      limit: limit.limit,
      remaining: Math.max(0, room),
      resetAt: fullAt,
      exceeded,
      state: { at, used, earlier },
    };
  });
  if (took && plan.mode === "commit" && counter !== null) {
    if (refill !== null && isOwed(counter, refill)) counter.steps.push(raisedBy(refill));
    counter.steps.push(lessBy(cost));
    Object.assign(counter, uses, { remaining: left });
  }
  return { kind, remaining: left, limits };
}

/** Writes a window. One that is there stays the same object: it is another one only after it was emptied. */
function put(windows: Map<string, ModelWindow> | undefined, name: string, after: ModelWindow) {
  windows?.set(name, Object.assign(windows.get(name) ?? {}, after));
}

/** Uses after a configuration change, or the reason why it is refused. */
export function usesAfter(
  before: ChangedUses,
  change: UsageChange | undefined,
): ChangedUses | "unlimited" | "insufficient" | "overflow" {
  const { remaining, refilledAt, lastRefillAt } = before;
  if (change === undefined) return { remaining, refilledAt, lastRefillAt };
  const { due, operation, restartsAt } = change;
  const uses = refilled(before, due);
  if (operation.kind === "set") uses.remaining = operation.remaining;
  else if (operation.kind !== "keep") {
    if (uses.remaining === null) return "unlimited";
    const by = operation.kind === "increment" ? operation.by : -operation.by;
    if (uses.remaining + by < 0) return "insufficient";
    if (uses.remaining + by > Number.MAX_SAFE_INTEGER) return "overflow";
    uses.remaining += by;
  }
  if (restartsAt !== null) {
    uses.refilledAt = restartsAt;
    if (uses.lastRefillAt !== null && uses.lastRefillAt > restartsAt) uses.lastRefillAt = null;
  }
  return uses;
}

/** Whether a due refill has not been made yet. */
export function isOwed(
  { remaining, refilledAt }: ChangedUses,
  { dueAt, carry }: NonNullable<ChargeMoment["refill"]>,
): boolean {
  // What is carried over may have been counted before another refill.
  const isOld = typeof carry?.since === "number" && carry.since !== refilledAt;
  return remaining !== null && refilledAt < dueAt && !isOld;
}

function refilled(before: ChangedUses, due: ChargeMoment["refill"]): ChangedUses {
  const { remaining, refilledAt, lastRefillAt } = before;
  if (due === null || remaining === null || !isOwed(before, due))
    return { remaining, refilledAt, lastRefillAt };
  return { remaining: raisedBy(due)(remaining), refilledAt: due.dueAt, lastRefillAt: due.dueAt };
}
