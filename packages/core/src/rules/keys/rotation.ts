import type { EpochMs, SpanMs } from "../../time.js";
import { isExpired } from "./lifecycle.js";

/** Whether a key can be rotated, and when the old one expires. */
export type RotationDecision =
  /** `expires`: when the old key expires, Unix epoch ms. */
  | { readonly kind: "rotate"; readonly expires: EpochMs }
  /** It already has its one successor, whether that is alive or not. */
  | { readonly kind: "rotated-before" }
  | { readonly kind: "expired" };

/**
 * The expiry of a leaked key that was rotated, Unix epoch ms: in 1973, before the time of any clock. This clock may be days ahead, and so may
 * the one that created the key: an expiry of either's now would keep it alive in other processes. An import would take a smaller number for a
 * time in seconds.
 */
export const DEAD_SINCE: EpochMs = 100_000_000_000;

/**
 * Decides a rotation at `now`: the old key stays valid for `graceMs`, but never past its own expiry, and is expired at exactly that
 * instant. A key has at most one successor, ever; an expired key has none. A disabled or used-up key can be rotated: its successor is
 * disabled or used up too.
 *
 * @param graceMs - A whole number of ms. Null for a leaked key: it expires at {@link DEAD_SINCE}.
 * @see packages/core/decisions/0018-rotation.md
 */
export function decideRotation(
  { expires, rotatedTo }: { readonly expires: EpochMs | null; readonly rotatedTo: string | null },
  graceMs: SpanMs | null,
  now: EpochMs,
): RotationDecision {
  // Checked first: after a rotation without grace both apply, and this one says what happened.
  if (rotatedTo !== null) return { kind: "rotated-before" };
  if (isExpired(expires, now)) return { kind: "expired" };
  const until = graceMs === null ? Math.min(now, DEAD_SINCE) : now + graceMs;
  return { kind: "rotate", expires: Math.min(until, expires ?? Number.MAX_SAFE_INTEGER) };
}

/** Whether a new expiry is later than the expiry of a rotated key, which its successor has replaced. An earlier one is allowed. */
export function putsOffRotated(
  rotatedTo: string | null,
  before: EpochMs | null,
  after: EpochMs | null,
): boolean {
  return rotatedTo !== null && before !== null && (after === null || after > before);
}
