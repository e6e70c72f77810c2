import { returnedBy } from "../history.js";
import { GUARD_TIMEOUT_MS, type GuardedAnswer } from "../plan/guard-actions.js";
import type { World } from "../world/world.js";

/**
 * Law: a guard admits no request without a key, unless its question makes the key optional, and answers in time. Other laws check that the
 * key is valid.
 */
export function guardsHold(world: World): string | null {
  for (const call of world.calls) {
    if (call.action !== "guarded" || call.outcome.kind !== "returned") continue;
    const { status = 0, isAdmitted = false, keyId = null } = returnedBy<GuardedAnswer>(call);
    const { form, isOptional, isInherited, isAddressLost } = call.args;
    const name = `#${call.index}`;
    if (isInherited) return `${name} has a guard of a question that inherits`;
    if (isAdmitted !== (status === 200)) return `${name}: ${status}, and the handler was called`;
    if (isAdmitted && keyId === null && !(isOptional && form === "none"))
      return `${name} was let in without a key`;
    if (keyId !== null && keyId !== call.key?.keyId) return `${name} was let in as ${keyId}`;
    if (form === "none" && !isOptional && ![401, 503].includes(status) && !isAddressLost)
      return `${name} has no key, and was told ${status}`;
    if (status === 500 && !isAddressLost && !world.hasDamaged) return `${name} was told 500`;
    if (call.endAt - call.startAt > GUARD_TIMEOUT_MS + 1)
      return `${name} was answered after ${call.endAt - call.startAt} ms`;
  }
  return null;
}
