import { type Change, EMPTY_CHANGE, type Usage, type UsageChange } from "@latchkey/core";

/** An empty change with these fields. */
export function aChange(fields: Partial<Change>): Change {
  return { ...EMPTY_CHANGE, ...fields };
}

/**
 * Changes that give the use counter of a record exactly the wanted state. If refills are applied up to the same instant, only the
 * number is set. Otherwise the first change resets the counter to its beginning, and the second applies the last refill, then
 * sets what is left.
 */
export function setUsage(present: Usage, wanted: Usage): readonly UsageChange[] {
  const { remaining, refilledAt, lastRefillAt } = wanted;
  const set = { kind: "set", remaining } as const;
  if (present.refilledAt === refilledAt && present.lastRefillAt === lastRefillAt)
    return present.remaining === remaining ? [] : [{ due: null, operation: set, restartsAt: null }];
  const due = lastRefillAt === null ? null : { amount: 1, dueAt: lastRefillAt };
  return [
    { due: null, operation: { kind: "set", remaining: 0 }, restartsAt: 0 },
    { due, operation: set, restartsAt: refilledAt },
  ];
}
