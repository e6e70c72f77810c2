import type { ChargePlan, ChargeResult, VerifyOutcome } from "@latchkey/core";
import { type Call, hasReturned, type KnownKey, mayHaveHappened, returnedBy } from "../history.js";
import type { World } from "../world/world.js";

/** Verifications that admitted. A repeat under a request id is one with the first of them. */
function admissionsOf(world: World): readonly Call[] {
  const seen = new Set<string>();
  return world.calls.filter((call) => {
    if (call.action !== "verify" || returnedBy<VerifyOutcome>(call).code !== "VALID") return false;
    const { requestId } = call.args;
    if (requestId === undefined) return true;
    const name = `${call.key?.name} ${requestId}`;
    return seen.has(name) ? false : seen.add(name);
  });
}

/** Whose uses a key takes: keys of one name share them. */
function usesOwnerOf(world: World, { setup, workspace, first }: KnownKey): string {
  if (setup.usesFrom === "key") return first;
  return world.workspaces[workspace]?.identityIds[setup.identity ?? 0] as string;
}

/** Keys by whose uses they take, without those that have uses without end. */
function countersOf(world: World): ReadonlyMap<string, readonly KnownKey[]> {
  const counters = new Map<string, KnownKey[]>();
  for (const key of world.keys) {
    const owner = usesOwnerOf(world, key);
    counters.set(owner, [...(counters.get(owner) ?? []), key]);
  }
  return counters;
}

/** Uses granted to a key or identity at first; null: without end. */
function grantedTo(world: World, { setup, workspace }: KnownKey): number | null {
  if (setup.usesFrom === "key") return setup.remaining;
  return world.plan.workspaces[workspace]?.identities[setup.identity ?? 0] ?? null;
}

/** Whether a key may have come to take other uses, or other limits, than those that it was created with. */
function isMoved(world: World, key: KnownKey): boolean {
  return world.calls.some(
    ({ action, ...call }) =>
      call.key?.first === key.first && (action === "moveKey" || action === "shareUses"),
  );
}

/** Units of uses that the store lost on purpose: they were admitted, and nothing counts them any more. */
function lostUses(world: World, keys: readonly KnownKey[]): number {
  const ids = new Set(keys.map(({ keyId }) => keyId));
  for (const { setup, workspace } of keys)
    if (setup.usesFrom === "identity")
      ids.add(world.workspaces[workspace]?.identityIds[setup.identity ?? 0] as string);
  let lost = 0;
  for (const { writes } of world.losses)
    for (const { method, args, result } of writes) {
      if (method !== "charge" || (result as ChargeResult).kind !== "charged") continue;
      const { confirms, uses, cost } = args[0] as ChargePlan;
      if (uses !== null && ids.has(confirms[uses]?.id as string)) lost += cost;
    }
  return lost;
}

const costOf = ({ args }: Call): number => args.cost as number;

/** No more uses are admitted than were granted, whatever fails. */
export function usesAreNotOverspent(world: World): string | null {
  const admissions = admissionsOf(world);
  for (const [owner, keys] of countersOf(world)) {
    if (world.keys.some((key) => isMoved(world, key))) continue;
    const [first] = keys as [KnownKey];
    const atFirst = grantedTo(world, first);
    // Midnights that passed, each of which may raise the uses to what was granted at first.
    if (atFirst === null || (first.setup.refill !== null && first.setup.usesFrom === "key"))
      continue;
    let granted = atFirst + lostUses(world, keys);
    for (const call of world.calls)
      if (call.action === "updateRemaining" && keys.includes(call.key as KnownKey))
        if (call.args.op !== "decrement" && mayHaveHappened(call))
          granted += call.args.value as number;
    const admitted = admissions
      .filter(({ key }) => keys.includes(key as KnownKey))
      .reduce((sum, call) => sum + costOf(call), 0);
    if (admitted > granted) return `${owner}: ${admitted} uses admitted, ${granted} granted`;
  }
  return null;
}

/** No more units are admitted in a window than its limit says. */
export function windowsAreNotOverspent(world: World): string | null {
  const reset = new Set(
    world.calls
      .filter(({ action }) => ["resetLimit", "setLimit", "moveKey"].includes(action))
      .flatMap(({ key }) => (key === null ? [] : [key.first])),
  );
  const lost = lostWindows(world);
  const taken = new Map<string, number>();
  for (const call of admissionsOf(world)) {
    const key = call.key as KnownKey;
    const { ratelimits = [] } = returnedBy<{ ratelimits: readonly Window[] }>(call);
    const isOfIdentity = world.calls.some(({ action }) => action === "limitIdentity");
    if (reset.has(key.first) || isOfIdentity) continue;
    // A repeat of a request shows the window of the first.
    for (const { name, limit, reset: resetAt } of ratelimits) {
      // Made up by requests, now with one limit and now with another.
      if (name === "tiles") continue;
      const window = `${key.first} ${name} ${resetAt}`;
      const used = (taken.get(window) ?? 0) + 1;
      taken.set(window, used);
      const allowed = limit + (lost.get(`${name} ${resetAt}`) ?? 0);
      if (used > allowed) return `${window}: ${used} units admitted, the limit is ${limit}`;
    }
  }
  for (const call of world.calls) {
    if (call.action !== "limit" || !hasReturned(call)) continue;
    const { success, reset: resetAt } = returnedBy<{ success: boolean; reset: number }>(call);
    if (success !== true) continue;
    const { identifier, duration } = call.args;
    const window = `${call.workspace} ${identifier} ${duration} ${resetAt}`;
    const used = (taken.get(window) ?? 0) + 1;
    taken.set(window, used);
    const allowed = 2 + (lost.get(`limit ${resetAt}`) ?? 0);
    if (used > allowed) return `limit of ${window}: ${used} units admitted, the limit is 2`;
  }
  return null;
}

interface Window {
  readonly name: string;
  readonly limit: number;
  readonly reset: number;
}

/** Units of windows that the store lost on purpose, by the limit's name and the end of the window. */
function lostWindows(world: World): ReadonlyMap<string, number> {
  const lost = new Map<string, number>();
  const add = (name: string, cost: number): unknown => lost.set(name, (lost.get(name) ?? 0) + cost);
  for (const { writes } of world.losses)
    for (const { method, args, result } of writes) {
      if (method !== "charge" || (result as ChargeResult).kind !== "charged") continue;
      const { limits } = args[0] as ChargePlan;
      for (const [place, { resetAt }] of (
        result as Extract<ChargeResult, { readonly limits: unknown }>
      ).limits.entries()) {
        const limit = limits[place];
        if (limit === undefined) continue;
        add(`${limit.name} ${resetAt}`, limit.cost);
        add(`limit ${resetAt}`, limit.cost);
      }
    }
  return lost;
}

/** Verifications of one counter can be put into one order that agrees with time and with what each was told is left. */
export function usesAreTakenInOrder(world: World): string | null {
  if (world.losses.length > 0) return null;
  const admissions = admissionsOf(world);
  for (const [owner, keys] of countersOf(world)) {
    if (world.keys.some((key) => isMoved(world, key))) continue;
    const [first] = keys as [KnownKey];
    const granted = grantedTo(world, first);
    const isChanged = world.calls.some(
      ({ action, key }) => action === "updateRemaining" && keys.includes(key as KnownKey),
    );
    if (granted === null || first.setup.refill !== null || isChanged) continue;
    const taken = admissions
      .filter((call) => keys.includes(call.key as KnownKey) && costOf(call) > 0)
      .filter(({ args }) => args.requestId === undefined)
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
