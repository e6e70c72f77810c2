import type { EpochMs, SpanMs } from "../time.js";

/** How long a write is remembered by its `idempotencyKey`: a day. */
export const REMEMBERED_MS: SpanMs = 86_400_000;

/** How much longer it is kept, by the clock of the store: clocks of processes may differ by as much. */
const MARGIN_MS: SpanMs = 86_400_000;

/** Whether a write is still remembered. Exactly a day after it, to the ms, it is not. `at`: when it was first called. */
export function isRemembered(at: EpochMs, now: EpochMs): boolean {
  return now - at < REMEMBERED_MS;
}

/**
 * Whether a remembered write may be deleted: its day is over by the caller's clock, and was over a day ago by the store's own clock. So no
 * wrong clock makes the store forget a write that others still count on.
 *
 * @param storedAt - When it was written, by the store's own clock.
 * @see packages/core/decisions/0034-sweeps-go-by-the-stores-clock.md
 */
export function mayBeForgotten(
  { at, storedAt }: { readonly at: EpochMs; readonly storedAt: EpochMs },
  now: EpochMs,
  storeNow: EpochMs,
): boolean {
  return !isRemembered(at, now) && storeNow - storedAt >= REMEMBERED_MS + MARGIN_MS;
}
