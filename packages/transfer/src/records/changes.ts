import type { Change, CounterChange, RecordAddress, Usage } from "@latchkey/core";

/** A change that does nothing but what is given. */
export function aChange(fields: Partial<Change>): Change {
  return {
    expects: [],
    puts: [],
    deletes: [],
    claims: [],
    releases: [],
    enters: [],
    leaves: [],
    counters: [],
    dropWindows: [],
    raisesRevision: false,
    ...fields,
  };
}

/**
 * Two changes after which the use counter of a record is exactly what is wanted, whatever it was: the first takes it back to the
 * beginning, the second applies the last refill that happened, then sets what is left.
 */
export function setUsage(
  { kind, id }: RecordAddress,
  { remaining, refilledAt, lastRefillAt }: Usage,
): readonly CounterChange[] {
  const due = lastRefillAt === null ? null : { amount: 1, dueAt: lastRefillAt };
  return [
    { kind, id, usage: { due: null, operation: { kind: "set", remaining: 0 }, restartsAt: 0 } },
    { kind, id, usage: { due, operation: { kind: "set", remaining }, restartsAt: refilledAt } },
  ];
}
