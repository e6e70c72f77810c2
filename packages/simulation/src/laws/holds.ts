import { type Hold, type HoldResult, isLease } from "@latchkey/core";
import { mayHaveHappened, returnedBy } from "../history.js";
import { hasOtherClocks } from "../plan/plan.js";
import type { World } from "../world/world.js";
import { countersOf } from "./admissions.js";
import { ENDING_OWNER } from "./many-keys.js";
import { callsOf, reservedUses } from "./reserved-uses.js";

/**
 * Law: no more slots are held at once than the limit allows. How long a reservation holds its slots follows from the expiry that it was
 * told.
 */
export function slotsAreNotOverfull(world: World): string | null {
  if (world.losses.length > 0 || hasOtherClocks(world.plan)) return null;
  const held = world.reservations.flatMap((reservation) => {
    const { slots } = reservation.key.setup;
    if (slots === null) return [];
    const { call, expiresAt } = reservation;
    const ttl = (call.args.ttl as number | undefined) ?? slots.duration;
    const until = expiresAt - ttl + Math.min(ttl, slots.duration);
    const lastTick = Math.min(...callsOf(world, reservation).map(({ startTick }) => startTick));
    return [{ first: reservation.key.first, limit: slots.limit, call, until, lastTick }];
  });
  for (const { first, limit, call } of held) {
    const atOnce = held.filter(
      (other) =>
        other.first === first &&
        other.call.endTick <= call.endTick &&
        other.lastTick > call.endTick &&
        other.until > call.endAt,
    );
    if (atOnce.length > limit)
      return `${atOnce.length} slots of ${first} are held when #${call.index} is told, the limit is ${limit}`;
  }
  return null;
}

/** Law: no call about a reservation is told that nothing was done, if it has ended it. */
export function endsAreTold(world: World): string | null {
  for (const { method, result, process, tick } of world.server.log) {
    const { kind, hold } = Object(result) as Partial<Extract<HoldResult, { kind: "ended" }>>;
    if (method !== "settle" || kind !== "ended" || process === -1 || isLease(hold as Hold))
      continue;
    const mayHaveEnded = world.calls.some(
      (call) =>
        call.args.reservationId === hold?.id &&
        call.process === process &&
        call.startTick < tick &&
        mayHaveHappened(call),
    );
    if (!mayHaveEnded)
      return `${hold?.id} was ended by p${process}, which was told that it was not`;
  }
  return null;
}

const MOVES: ReadonlySet<string> = new Set([
  ...["verify", "reserve", "settle", "release", "updateRemaining", "guarded"],
  ...ENDING_OWNER,
]);

/**
 * Law: after all reservations have expired, the uses left are those that were granted and not taken. Checked only if every call was
 * answered.
 */
export function reservationsEnd(world: World): string | null {
  if (world.losses.length > 0 || world.hasDamaged || hasOtherClocks(world.plan)) return null;
  // A process that is killed loses what its leases hold.
  if (world.plan.leases !== undefined && world.hasKilled) return null;
  for (const { owner, keys, granted } of countersOf(world)) {
    const calls = world.calls.filter(
      ({ action, key }) => MOVES.has(action) && (key === null || keys.includes(key)),
    );
    const isOpen = calls.some(({ action, outcome, args }) => {
      const isOther = ["updateRemaining", "guarded", ...ENDING_OWNER].includes(action);
      return isOther || args.requestId !== undefined || outcome.kind === "abandoned";
    });
    const isUnknown = calls.some((call) => call.outcome.kind === "failed" && mayHaveHappened(call));
    if (isOpen || isUnknown) continue;
    const verified = calls.reduce((sum, call) => {
      const isTaken =
        call.action === "verify" && returnedBy<{ code: string }>(call).code === "VALID";
      return isTaken ? sum + (call.args.cost as number) : sum;
    }, 0);
    const left = granted - verified - reservedUses(world, keys);
    for (const call of calls) {
      const { code, remaining } = returnedBy<{ code: string; remaining: number }>(call);
      const isCounted = code === "VALID" || code === "USAGE_EXCEEDED";
      if (call.startTick > world.restTick && isCounted && remaining !== left)
        return `${owner}: #${call.index} is told ${remaining}, and ${left} should be left`;
    }
  }
  return null;
}
