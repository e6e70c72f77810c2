import { nothing, onKey, onReservation } from "./action.js";
import { sometimesAgain, sometimesUnits } from "./limits.js";

/** Actions that make, end, renew and list reservations. */
export const HOLD_ACTIONS = {
  reserve: onKey(
    30,
    (random) => ({
      cost: random.pick([0, 1, 1, 2]),
      ttl: random.pick([1_000, 2_000, 5_000]),
      ...sometimesUnits(random),
      ...sometimesAgain(random),
      ...(random.chance(25) && { requestId: random.pick(["s0", "s1", "r0"]) }),
    }),
    async (latchkey, key, { cost, ttl, units, requestId }, world, call) => {
      const reserved = await latchkey.reserve({
        key: key.secret,
        remaining: { cost },
        ratelimits: units === undefined ? [] : [{ name: "default", cost: units }],
        ipAddress: "192.0.2.1",
        ttl,
        ...(requestId !== undefined && { requestId }),
      });
      return world.learnReservation(key, call, reserved);
    },
  ),
  settle: onReservation(
    16,
    (random) => ({
      ...(random.chance(75) && { remaining: { cost: random.pick([0, 0, 1, 1, 2]) } }),
      ...(random.chance(20) && {
        ratelimits: [
          { name: random.pick(["default", "default", "shared"]), cost: random.below(3) },
        ],
      }),
    }),
    (latchkey, reservationId, args) => latchkey.settle({ ...args, reservationId }),
  ),
  release: onReservation(8, nothing, (latchkey, reservationId) =>
    latchkey.release({ reservationId }),
  ),
  renew: onReservation(
    6,
    (random) => ({ ...(random.chance(60) && { ttl: random.pick([1_000, 4_000]) }) }),
    (latchkey, reservationId, args) => latchkey.renew({ ...args, reservationId }),
  ),
  listReservations: onKey(2, nothing, (latchkey, { keyId }) =>
    latchkey.listReservations({ keyId }),
  ),
} as const;
