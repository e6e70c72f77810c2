import { type Call, hasReturned, mayHaveHappened } from "../history.js";
import { hasOtherClocks } from "../plan/plan.js";
import type { World } from "../world/world.js";
import { hasLostChanges } from "./registers.js";

/** An idempotency key is remembered for 24 hours. Calls take some time. */
const SURELY_REMEMBERED_MS = 23 * 3_600_000;

/** Whether two calls are the same write with the same idempotency key. */
export function isSameWrite(one: Call, other: Call): boolean {
  return (
    one.args.idempotencyKey !== undefined &&
    one.action === other.action &&
    one.key === other.key &&
    one.workspace === other.workspace &&
    JSON.stringify(one.args) === JSON.stringify(other.args)
  );
}

/** The calls that are the same write as this one and were not refused: any of them may have written. */
export function sameWrites(world: World, call: Call): readonly [Call, ...Call[]] {
  if (call.args.idempotencyKey === undefined) return [call];
  const [first = call, ...others] = world.calls.filter(
    (one) => isSameWrite(one, call) && mayHaveHappened(one),
  );
  return [first, ...others];
}

/** The call that began first of those that are the same write: the call itself, unless it is a repeat. */
export function firstOf(world: World, call: Call): Call {
  return sameWrites(world, call)[0];
}

/** Whether a repeat is certainly known as one: the first call is remembered, the store has lost nothing, and nobody was erased. */
export function areRemembered(world: World, repeat: Call): boolean {
  const { startAt } = firstOf(world, repeat);
  return (
    !hasLostChanges(world.losses) &&
    !hasOtherClocks(world.plan) &&
    // What is remembered about a user is erased with the user.
    !world.plan.steps.some(({ action }) => action === "eraseOwner") &&
    repeat.endAt - startAt < SURELY_REMEMBERED_MS
  );
}

/** Law: a repeat of a write returns what the first call returned; another write with its idempotency key is refused. */
export function repeatedWritesAreAlike(world: World): string | null {
  for (const call of world.calls) {
    const { idempotencyKey } = call.args;
    if (idempotencyKey === undefined || !hasReturned(call)) continue;
    for (const other of world.calls.slice(0, call.index)) {
      if (other.args.idempotencyKey !== idempotencyKey || !hasReturned(other)) continue;
      if (other.workspace !== call.workspace || !areRemembered(world, call)) continue;
      // A repeat does not prolong how long a write is remembered.
      if (call.endAt - firstOf(world, other).startAt >= SURELY_REMEMBERED_MS) continue;
      if (!isSameWrite(call, other))
        return `#${call.index} has the idempotency key of #${other.index}, another write`;
      if (answerOf(world, call) !== answerOf(world, other))
        return `#${call.index} repeats #${other.index}, and was told something else`;
    }
  }
  return null;
}

/** What a call returned, as text; a key by its id. */
function answerOf({ keys }: World, { outcome }: Call): string {
  const { value } = outcome as { readonly value?: unknown };
  return JSON.stringify(keys.find(({ name }) => name === value)?.keyId ?? value);
}
