import { z } from "zod";
import { instant, listOf, shared, whole } from "./shared.js";

/** Units of limits, by name. */
const costs = listOf(z.strictObject({ name: z.string(), cost: whole() }));

/** Response of keys.settleReservation and keys.releaseReservation. */
export const settled = shared(
  "SettledReservation",
  z.strictObject({
    remaining: whole().nullable(),
    taken: z.strictObject({ uses: whole(), ratelimits: costs }),
  }),
);

/** Response of keys.renewReservation. */
export const renewed = z.strictObject({ expiresAt: instant });

/** An open reservation. */
const reservation = shared(
  "Reservation",
  z.strictObject({
    reservationId: z.string(),
    keyId: z.string(),
    createdAt: instant,
    expiresAt: instant,
    uses: whole(),
    ratelimits: costs,
  }),
);

/** Response of keys.listReservations. */
export const reservationList = z.strictObject({
  reservations: listOf(reservation),
  cursor: z.string().optional(),
});
