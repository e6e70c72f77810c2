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
    const { id: reservationId, keyId, identityId, expiresAt: expiredAt } = hold;
    const whose = { reservationId, keyId, ...(identityId !== null && { identityId }) };
    emit({ type: "reservation.expired", workspaceId, at, durationMs: 0, ...whose, expiredAt });
  }
}
