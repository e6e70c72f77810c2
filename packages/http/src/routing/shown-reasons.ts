import type { ErrorReason } from "@latchkey/core";

/**
 * The reasons in error bodies: those of reservations, ceilings, repeated writes and events. The errors that v1 had before them stay as they
 * were, because clients may compare whole bodies.
 */
export const SHOWN_REASONS = [
  "above-ceiling",
  "idempotency-key-reused",
  "no-audit-log",
  "no-token-keys",
  "over-reservation",
  "pruned",
  "reservation-ended",
  "reservation-expired",
  "too-many-keys",
  "too-many-reservations",
  "unknown-position",
  "usage-off",
] as const satisfies readonly ErrorReason[];

/** One of {@link SHOWN_REASONS}. */
export type ShownReason = (typeof SHOWN_REASONS)[number];

const SHOWN: ReadonlySet<string | undefined> = new Set(SHOWN_REASONS);

/** Whether clients see this reason, and the details with it. */
export function isShown(reason: ErrorReason | undefined): reason is ShownReason {
  return SHOWN.has(reason);
}
