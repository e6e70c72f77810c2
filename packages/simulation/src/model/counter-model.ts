import type { ChargeMoment, ChargePlan, ChargeResult, UsageChange } from "@latchkey/core";

/** Units taken in a window. */
export interface ModelWindow {
  readonly startedAt: number;
  readonly used: number;
}

/** Uses of a record, and its windows. */
export interface ModelCounter {
  remaining: number | null;
  refilledAt: number;
  lastRefillAt: number | null;
  readonly windows: Map<string, ModelWindow>;
}

/** What is remembered of a request. */
export interface RememberedResult {
  readonly fingerprint: string;
  readonly until: number;
  readonly result: ChargeResult;
}

/** The part of a counter that changes of configuration move. */
export type ChangedUses = Pick<ModelCounter, "remaining" | "refilledAt" | "lastRefillAt">;

/**
 * What a charge comes to whose plan holds. It is carried out.
 *
 * @param counter - Null: the plan takes no uses, or the record that has them is gone.
 * @param windows - Of each limit, those among which its window is; undefined: the record that has them is gone.
 */
export function chargeOf(
  plan: ChargePlan,
  counter: ModelCounter | null,
  windows: readonly (Map<string, ModelWindow> | undefined)[],
  now: number,
  refill: ChargeMoment["refill"],
): Extract<ChargeResult, { readonly limits: unknown }> {
  const gone = plan.uses === null ? null : 0;
  const uses = refilled(counter ?? { remaining: gone, refilledAt: 0, lastRefillAt: null }, refill);
  const open = plan.limits.map(({ window, duration }, place): ModelWindow => {
    const start = Math.floor(now / duration) * duration;
    const stored = windows[place]?.get(window);
    return stored !== undefined && stored.startedAt >= start
      ? stored
      : { startedAt: start, used: 0 };
  });
  const tooMany = plan.limits.map(
    ({ limit, cost }, place) => (open[place]?.used as number) + cost > limit,
  );
  const isSpent = uses.remaining !== null && (uses.remaining === 0 || plan.cost > uses.remaining);
  const kind = tooMany.includes(true) ? "rate-limited" : isSpent ? "usage-exceeded" : "charged";
  const took = kind === "charged";
  const left = uses.remaining === null || !took ? uses.remaining : uses.remaining - plan.cost;
  const limits = plan.limits.map(({ name, limit, duration, cost, window }, place) => {
    const { startedAt, used } = open[place] as ModelWindow;
    const after = took ? used + cost : used;
    if (took && plan.mode === "commit" && cost > 0)
      windows[place]?.set(window, { startedAt, used: after });
    return {
      name,
      limit,
      remaining: Math.max(0, limit - after),
      resetAt: startedAt + duration,
      exceeded: tooMany[place] === true,
      state: { at: startedAt, used: after, earlier: [] },
    };
  });
  if (took && plan.mode === "commit" && counter !== null)
    Object.assign(counter, uses, { remaining: left });
  return { kind, remaining: left, limits };
}

/** Uses after a change of configuration, or why they do not change. */
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

function refilled(before: ChangedUses, due: ChargeMoment["refill"]): ChangedUses {
  const { remaining, refilledAt, lastRefillAt } = before;
  if (due === null || remaining === null || refilledAt >= due.dueAt)
    return { remaining, refilledAt, lastRefillAt };
  const { amount, dueAt } = due;
  return { remaining: Math.max(remaining, amount), refilledAt: dueAt, lastRefillAt: dueAt };
}
