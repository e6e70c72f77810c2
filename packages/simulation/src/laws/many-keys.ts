import type { Call, KnownKey } from "../history.js";
import type { ManyKeysArgs } from "../plan/many-keys-actions.js";
import type { World } from "../world/world.js";
import type { Setter } from "./registers.js";
import { firstOf } from "./repeated-writes.js";

/**
 * What calls about many keys set of one of them. Sure is a call for a key that existed when it began, or whose predecessor did, and whose
 * owner was the same all the time.
 */
export function settersOfManyKeys(
  world: World,
  key: KnownKey,
  values: Readonly<Record<string, boolean>>,
): readonly Setter<boolean>[] {
  return world.calls.flatMap((call): readonly Setter<boolean>[] => {
    const value = values[call.action];
    if (value === undefined || call.workspace !== key.workspace) return [];
    // A successor inherits what the calls before its rotation set.
    if (key.origin !== null && call.endTick < key.origin.call.startTick) return [];
    const { owner } = call.args as unknown as ManyKeysArgs;
    const isTheirs = ownership(world, key, owner, call);
    if (isTheirs === "never") return [];
    // A successor made at the end of the call inherits what other calls have set since. It is not made if its predecessor is deleted.
    const isMade =
      DELETING.has(call.action) ||
      key.origin === null ||
      (key.origin.call.endTick < call.endTick && !isContested(world, key.origin.call, call));
    // Damaged keys stay disabled.
    const isReached = value === false || !world.hasDamaged;
    const isSure =
      isTheirs === "always" &&
      existedBefore(world, key, call) &&
      isMade &&
      isReached &&
      !isBackDuring(world, key, call) &&
      firstOf(world, call) === call;
    return [{ call, value, isSure }];
  });
}

/** Actions that enable or disable keys. */
const SWITCHING: ReadonlySet<string> = new Set([
  ...["switchKey", "updateKeys", "reportLeak", "disableKeys", "enableKeys", "disableOwner"],
]);

/** Whether a key that was rotated during a call could be switched by another one, after the call had passed it. */
function isContested(world: World, rotation: Call, call: Call): boolean {
  const isDuring = rotation.endTick > call.startTick;
  const others = world.calls.filter(
    (other) =>
      other !== call &&
      SWITCHING.has(other.action) &&
      other.workspace === call.workspace &&
      other.startTick < call.endTick &&
      other.endTick > call.startTick,
  );
  return isDuring && others.length > 0;
}

const DELETING: ReadonlySet<string> = new Set(["deleteKeys", "deleteOwner", "eraseOwner"]);

/** Actions after which an owner has no keys, or may get others. */
export const ENDING_OWNER: ReadonlySet<string> = new Set([
  "deleteIdentity",
  "deleteOwner",
  "disableOwner",
  "eraseOwner",
]);

/** Whether a key belonged to an owner until the end of a call. */
function ownership(
  world: World,
  key: KnownKey,
  owner: number | null,
  call: Call,
): "always" | "maybe" | "never" {
  if (owner === null) return "always";
  const moves = world.calls.filter(
    (other) =>
      other.startTick < call.endTick &&
      ((other.action === "moveKey" && other.key?.first === key.first) ||
        (ENDING_OWNER.has(other.action) && other.workspace === key.workspace && other !== call)),
  );
  if (moves.length > 0) return "maybe";
  return key.setup.identity === owner ? "always" : "never";
}

/** Whether the store lost, during a call, a write of the key that this one succeeds, which was back then and could be rotated. */
function isBackDuring(world: World, { origin }: KnownKey, call: Call): boolean {
  if (origin === null) return false;
  const isLost = world.losses.some(
    ({ tick, ids }) => tick > call.startTick && tick < call.endTick && ids.has(origin.key.keyId),
  );
  return isLost || isBackDuring(world, origin.key, call);
}

/** Whether a key, or the key that it succeeds, existed before a call began. */
function existedBefore(world: World, key: KnownKey, call: Call): boolean {
  const { origin, name } = key;
  if (origin !== null) return existedBefore(world, origin.key, call);
  if (world.keys.indexOf(key) < world.plan.keys.length) return true;
  return world.calls.some(
    ({ action, outcome, endTick }) =>
      action === "createKey" &&
      outcome.kind === "returned" &&
      outcome.value === name &&
      endTick < call.startTick,
  );
}
