import type { LatchkeyEvent } from "@latchkey/core";
import type { Instruments } from "./instruments.js";
import { ATTRIBUTE } from "./names.js";

/** Records the metrics of an event: verdicts, and how reservations ended. Everything else is measured where it happens. */
export function recordEvent(instruments: Instruments, event: LatchkeyEvent): void {
  const { verifications, shadowLimited, verificationDuration, reservations } = instruments.meters();
  if (event.type === "reservation.settled" || event.type === "reservation.expired")
    reservations.add(1, { [ATTRIBUTE.reservationEnd]: event.type.slice("reservation.".length) });
  if (event.type !== "key.verified") return;
  const { code, cached, leased = false, durationMs } = event;
  const api =
    event.code === "NOT_FOUND" ? {} : { [ATTRIBUTE.apiId]: instruments.apiLabel(event.apiId) };
  const labels = { [ATTRIBUTE.code]: code, ...api };
  verifications.add(1, labels);
  if (event.code !== "NOT_FOUND" && event.shadow !== undefined) shadowLimited.add(1, labels);
  verificationDuration.record(durationMs / 1_000, {
    [ATTRIBUTE.code]: code,
    [ATTRIBUTE.cacheHit]: cached,
    [ATTRIBUTE.leased]: leased,
  });
}
