import type { SettledReservation } from "@latchkey/core";
import {
  type Call,
  type KnownKey,
  type KnownReservation,
  mayHaveHappened,
  returnedBy,
} from "../history.js";
import { hasOtherClocks } from "../plan/plan.js";
import type { World } from "../world/world.js";

/** Calls about a reservation that may have had an effect. */
export function callsOf(world: World, { id }: KnownReservation): readonly Call[] {
  return world.calls.filter(
    (call) => call.args.reservationId === id && call.action !== "reserve" && mayHaveHappened(call),
  );
}

/** The least number of uses that reservations of these keys took: settled ones, and those that are still held. */
export function reservedUses(world: World, keys: readonly KnownKey[]): number {
  let sum = 0;
  for (const reservation of world.reservations) {
    const { key, call, expiresAt } = reservation;
    if (call.action !== "reserve" || !keys.includes(key)) continue;
    const later = callsOf(world, reservation);
    const ended = later.find(
      ({ action, outcome }) => action !== "renew" && outcome.kind === "returned",
    );
    if (ended !== undefined) sum += returnedBy<SettledReservation>(ended).taken?.uses ?? 0;
    else if (later.length === 0 && expiresAt > world.scheduler.now && !hasOtherClocks(world.plan))
      sum += call.args.cost as number;
  }
  return sum;
}
