import type { AppliedCharge, ChargePlan, HoldResult, VerifyOutcome } from "@latchkey/core";
import { type Call, type KnownKey, mayHaveHappened, returnedBy } from "../history.js";
import type { World } from "../world/world.js";
import { areRemembered, firstOf } from "./repeated-writes.js";
import { reservedUses } from "./reserved-uses.js";

const costOf = ({ args }: Call): number => args.cost as number;

/** Verifications of these keys that were admitted. All verifications under one request id count as one. */
export function admissionsOf(
  world: World,
  keys: readonly KnownKey[],
  actions: readonly string[] = ["verify"],
): readonly Call[] {
  const seen = new Set<string>();
  return world.calls.filter((call) => {
    if (!actions.includes(call.action) || returnedBy<VerifyOutcome>(call).code !== "VALID")
      return false;
    if (!keys.includes(call.key as KnownKey)) return false;
    const { requestId } = call.args;
    if (requestId === undefined) return true;
    const name = `${call.key?.name} ${requestId}`;
    return seen.has(name) ? false : seen.add(name);
  });
}

/** Keys that take their uses from one counter, and the uses that it had at first. */
export interface Counter {
  /** Id of the identity that has the counter, or name of the first key of a rotation. */
  readonly owner: string;
  readonly keys: KnownKey[];
  readonly granted: number;
}

/** Counters with a finite number of uses and no refill. None if a key changed its counter during the schedule. */
export function countersOf(world: World): readonly Counter[] {
  const isMoved = world.calls.some(({ action }) => action === "moveKey" || action === "shareUses");
  const counters = new Map<string, Counter>();
  for (const key of isMoved ? [] : world.keys) {
    const { usesFrom, identity, remaining, refill } = key.setup;
    const isOwn = usesFrom === "key";
    const owner = isOwn ? key.first : world.workspaceOf(key.workspace).identityIds[identity ?? 0];
    const { identities = [], refill: ofIdentity } = world.plan.workspaces[key.workspace] ?? {};
    const granted = isOwn ? remaining : identities[identity ?? 0];
    const isRefilled = (isOwn ? refill : (ofIdentity ?? null)) !== null;
    if (owner === undefined || typeof granted !== "number" || isRefilled) continue;
    const counter = counters.get(owner) ?? { owner, keys: [], granted };
    counter.keys.push(key);
    counters.set(owner, counter);
  }
  return [...counters.values()];
}

/** Uses whose charge the store lost on purpose: they were admitted, and are no longer counted. */
function lostUses(world: World, { owner, keys }: Counter): number {
  const ids = new Set([owner, ...keys.map(({ keyId }) => keyId)]);
  let lost = 0;
  for (const { method, args, result } of world.losses.flatMap(({ writes }) => writes)) {
    if (method === "settle") {
      const { kind, hold, used } = result as Partial<Extract<HoldResult, { kind: "ended" }>>;
      // If the end of a reservation is lost, its uses come back when the reservation expires.
      if (kind === "ended" && ids.has(hold?.keyId ?? "")) lost += used?.uses ?? 0;
    }
    if (method !== "charge") continue;
    const { kind, isRepeat } = result as Partial<AppliedCharge>;
    if (kind !== "charged" || isRepeat === true) continue;
    const { confirms, uses, cost } = args[0] as ChargePlan;
    if (uses !== null && ids.has(confirms[uses]?.id as string)) lost += cost;
  }
  return lost;
}

/** Law: no more uses are admitted than were granted, whatever fails. */
export function usesAreNotOverspent(world: World): string | null {
  for (const counter of countersOf(world)) {
    const given = world.calls.filter(
      (call) =>
        call.action === "updateRemaining" &&
        counter.keys.includes(call.key as KnownKey) &&
        call.args.op !== "decrement" &&
        // Repeats write nothing, unless they are forgotten or lost.
        (firstOf(world, call) === call || !areRemembered(world, call)) &&
        mayHaveHappened(call),
    );
    const more = given.reduce((sum, { args }) => sum + (args.value as number), 0);
    const granted = counter.granted + lostUses(world, counter) + more;
    const verified = admissionsOf(world, counter.keys).reduce((sum, call) => sum + costOf(call), 0);
    const admitted = verified + reservedUses(world, counter.keys);
    if (admitted > granted)
      return `${counter.owner}: ${admitted} uses admitted, ${granted} granted`;
  }
  return null;
}

/**
 * Law: counters are linearizable. The verifications of one counter can be put into one order that agrees with time and with the number of
 * uses left that each was told.
 */
export function usesAreTakenInOrder(world: World): string | null {
  if (world.losses.length > 0 || world.plan.leases !== undefined) return null;
  for (const { owner, keys } of countersOf(world)) {
    const isChanged = world.calls.some(
      ({ action, key }) =>
        (action === "updateRemaining" || action === "reserve") && keys.includes(key as KnownKey),
    );
    if (isChanged) continue;
    const taken = admissionsOf(world, keys)
      .filter((call) => costOf(call) > 0 && call.args.requestId === undefined)
      .map((call) => ({ call, left: returnedBy<{ remaining: number }>(call).remaining as number }))
      .sort((one, other) => other.left - one.left);
    for (const [place, { call, left }] of taken.entries()) {
      const before = taken[place - 1];
      if (before === undefined) continue;
      if (left + costOf(call) > before.left)
        return `${owner}: #${before.call.index} and #${call.index} took the same uses`;
      if (call.endTick < before.call.startTick)
        return `${owner}: #${call.index} was told ${left} before #${before.call.index} was told ${before.left}`;
    }
  }
  return null;
}
