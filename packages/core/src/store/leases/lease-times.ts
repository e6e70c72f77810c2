import { MAX_LEASE_MS } from "../../rules/lease.js";
import type { SpanMs } from "../../time.js";

/**
 * How long leases are in a workspace, in any process. It is in the record of the workspace's state, which every commit expects, so that
 * every change knows how long to wait.
 *
 * @see packages/core/decisions/0051-leases-end-before-a-change-resolves.md
 */
export interface LeaseTimes {
  /** The longest lease that a process may have from now on; 0: none. */
  readonly grant: SpanMs;
  /** How long a change waits for leases before it resolves. */
  readonly wait: SpanMs;
}

/** Those in the body of a record; null if there are none, or they are damaged. */
export function leaseTimesIn(body: unknown): LeaseTimes | null {
  const { leases } = Object(body) as { readonly leases?: unknown };
  const { grant, wait } = Object(leases) as Readonly<Record<string, unknown>>;
  return isSpan(grant) && isSpan(wait) ? { grant, wait } : null;
}

function isSpan(value: unknown): value is SpanMs {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_LEASE_MS;
}
