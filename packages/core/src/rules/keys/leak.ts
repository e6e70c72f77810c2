import type { EpochMs } from "../../time.js";
import { isExpired } from "./lifecycle.js";
import { DEAD_SINCE } from "./rotation.js";

/** What to do with leaked keys. */
export const LEAK_POLICIES = ["disable", "report", "delete", "rotate"] as const;

/** One of {@link LEAK_POLICIES}. */
export type LeakPolicy = (typeof LEAK_POLICIES)[number];

/**
 * What to do with a leaked key: what the policy says, or `disable` if that is not possible. A key can be rotated if its owner can
 * fetch the secret of a successor, and deleted if an audit log remembers it, so that a repeated report gets the same answer.
 *
 * @see packages/core/decisions/0046-leaks-are-remembered-by-the-audit-log.md
 */
export function decideLeak(
  policy: LeakPolicy,
  { canRotate, keepsAuditLog }: { readonly canRotate: boolean; readonly keepsAuditLog: boolean },
): LeakPolicy {
  const isPossible = { disable: true, report: true, delete: keepsAuditLog, rotate: canRotate };
  return isPossible[policy] ? policy : "disable";
}

/** Whether nothing can revive a key, whatever clock a process has: it was rotated, and its expiry is not later than {@link DEAD_SINCE}. */
export function isDeadForGood({
  rotatedTo,
  expires,
}: {
  readonly rotatedTo: string | null;
  readonly expires: EpochMs | null;
}): boolean {
  return rotatedTo !== null && isExpired(expires, DEAD_SINCE);
}
