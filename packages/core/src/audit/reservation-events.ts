import { type Hold, isSlotsOfAnother } from "../rules/hold.js";
import type { EpochMs } from "../time.js";
import type { Emit } from "./emitter.js";

/** Emits the events of expired reservations when their end is noticed. `emit`: null without a listener. */
export function emitExpired(
  emit: Emit | null,
  workspaceId: string,
  expired: readonly Hold[],
  at: EpochMs,
): void {
  if (emit === null) return;
  for (const hold of expired) {
    if (isSlotsOfAnother(hold)) continue;
    const about = { workspaceId, at, durationMs: 0, ...whoseOf(hold) };
    emit({ type: "reservation.expired", ...about, expiredAt: hold.expiresAt });
  }
}

/** The reservation, the key and the identity in the events of a hold. */
export function whoseOf({ id: reservationId, keyId, identityId }: Hold) {
  return { reservationId, keyId, ...(identityId !== null && { identityId }) };
}
