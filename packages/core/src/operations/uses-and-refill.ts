import { badRequest } from "../errors.js";
import { dueRefill, type Refill, refillAfter } from "../rules/refill.js";
import { applyRefill, type Usage, type UsageChange } from "../store/counters.js";
import type { EpochMs } from "../time.js";

/** New uses of a key or an identity. Undefined leaves a field as it is, null clears it. */
export interface UsesUpdate {
  readonly remaining?: number | null | undefined;
  readonly refill?: Refill | null | undefined;
}

/** What a setting of uses writes, and what it found. */
export interface UsesSetting {
  /** Uses left before, with a refill that is due; null for unlimited. */
  readonly remainingBefore: number | null;
  /** Undefined: nothing of the counter is set. */
  readonly usage: UsageChange | undefined;
  /** Whether refills start anew that a clock put ahead of now: a change, also where uses and refill are set to what they are. */
  readonly restartsRefills: boolean;
  /** Undefined: it stays as it is. Uses without a limit lose theirs. */
  readonly refill: Refill | null | undefined;
}

/**
 * Decides what a setting of `remaining` and `refill` writes.
 *
 * Refills start anew from here, also where a clock that was ahead said that they are applied up to a later instant. What fell
 * due before follows the rule that held then.
 *
 * @throws LatchkeyError `BAD_REQUEST` for a refill of uses without a limit.
 */
export function settingOfUses(
  { usage, refill }: { readonly usage: Usage; readonly refill: Refill | null },
  wanted: UsesUpdate,
  now: EpochMs,
): UsesSetting {
  const due = dueRefill(refill, now);
  const remainingBefore = applyRefill(usage, due).remaining;
  const remaining = wanted.remaining === undefined ? remainingBefore : wanted.remaining;
  if (remaining === null && wanted.refill !== undefined && wanted.refill !== null)
    throw badRequest([{ path: "refill", message: "needs remaining" }]);
  const after = refillAfter(wanted.refill === undefined ? refill : wanted.refill, remaining);
  const isSet = wanted.remaining !== undefined || wanted.refill !== undefined;
  const operation: UsageChange["operation"] =
    wanted.remaining === undefined
      ? { kind: "keep" }
      : { kind: "set", remaining: wanted.remaining };
  return {
    remainingBefore,
    usage: isSet ? { due, operation, restartsAt: now } : undefined,
    restartsRefills: isSet && isAhead(usage, now),
    refill: after === refill ? undefined : after,
  };
}

/** Whether a clock that was ahead has applied refills that are not due yet. */
export function isAhead({ refilledAt, lastRefillAt }: Usage, now: EpochMs): boolean {
  return refilledAt > now || (lastRefillAt ?? 0) > now;
}
