import type { AppliedCharge, ChargeMoment, ChargePlan, UsageChange } from "@latchkey/core";

/** Units taken in a window. */
export interface ModelWindow {
  readonly startedAt: number;
  readonly used: number;
  /** Identity of the window: another token means that it was emptied, or replaced by another window. */
  readonly token: object;
}

/** Maps the uses left before a step to those left after it. */
export type UsesStep = (left: number | null) => number | null;

/** The uses and windows of a record. */
export interface ModelCounter {
  remaining: number | null;
  refilledAt: number;
  lastRefillAt: number | null;
  readonly windows: Map<string, ModelWindow>;
  /** The uses at first, and all steps since. */
  readonly first: number | null;
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

/** The step of a refill. */
export function raisedTo(amount: number): UsesStep {
  return (left) => (left === null ? null : Math.max(left, amount));
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
  if (due !== null && isOwed(counter, due)) steps.push(raisedTo(due.amount));
  if (operation.kind === "set") steps.push(() => operation.remaining);
  else if (operation.kind !== "keep")
    steps.push(lessBy(() => (operation.kind === "decrement" ? operation.by : -operation.by)));
}

/**
 * Applies a charge whose confirmations hold, and returns its result.
 *
 * @param counter - Null: the plan takes no uses, or the record that has them is deleted.
 * @param windows - For each limit, the windows that include its own; undefined: the record that has them is deleted.
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
  const open = plan.limits.map(({ window, duration, algorithm }, place): ModelWindow => {
    const start = Math.floor(now / duration) * duration;
    const stored = windows[place]?.get(window);
    const { token = {}, startedAt = 0, used = 0 } = stored ?? {};
    if (algorithm === "concurrent") return { startedAt: Math.max(now, startedAt), used, token };
    return stored !== undefined && stored.startedAt >= start
      ? stored
      : { startedAt: start, used: 0, token: {} };
  });
  const tooMany = plan.limits.map(
    ({ limit, cost }, place) => (open[place]?.used as number) + cost > limit,
  );
  const isSpent = uses.remaining !== null && (uses.remaining === 0 || plan.cost > uses.remaining);
  const kind = tooMany.includes(true) ? "rate-limited" : isSpent ? "usage-exceeded" : "charged";
  const took = kind === "charged";
  const left = uses.remaining === null || !took ? uses.remaining : uses.remaining - plan.cost;
  const limits = plan.limits.map(({ name, limit, duration, cost, window, algorithm }, place) => {
    const { startedAt, used, token } = open[place] as ModelWindow;
    const after = took ? used + cost : used;
    if (took && plan.mode === "commit" && cost > 0)
      windows[place]?.set(window, { startedAt, used: after, token });
    return {
      name,
      limit,
      remaining: Math.max(0, limit - after),
      resetAt: algorithm === "concurrent" && after === 0 ? startedAt : startedAt + duration,
      exceeded: tooMany[place] === true,
      state: { at: startedAt, used: after, earlier: [] },
    };
  });
  if (took && plan.mode === "commit" && counter !== null) {
    if (refill !== null && isOwed(counter, refill)) counter.steps.push(raisedTo(refill.amount));
    counter.steps.push(lessBy(cost));
    Object.assign(counter, uses, { remaining: left });
  }
  return { kind, remaining: left, limits };
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
  { dueAt }: NonNullable<ChargeMoment["refill"]>,
): boolean {
  return remaining !== null && refilledAt < dueAt;
}

function refilled(before: ChangedUses, due: ChargeMoment["refill"]): ChangedUses {
  const { remaining, refilledAt, lastRefillAt } = before;
  if (due === null || remaining === null || !isOwed(before, due))
    return { remaining, refilledAt, lastRefillAt };
  const { amount, dueAt } = due;
  return { remaining: Math.max(remaining, amount), refilledAt: dueAt, lastRefillAt: dueAt };
}
