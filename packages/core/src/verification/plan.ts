import { NO_ITEMS } from "../lib/no-items.js";
import { type DueRefill, dueRefill } from "../rules/refill.js";
import type { Expectation } from "../store/change.js";
import type { ChargePlan, HoldPlan, LimitCharge } from "../store/charge.js";
import type { EpochMs, SpanMs } from "../time.js";
import { IDENTITY_INDEX, KEY_INDEX } from "./limit-precedence.js";
import { effectiveRefill, type VerifiableKey } from "./loaded-key.js";

/** The plan that takes the cost of a verification, if everything that it was decided on still holds. */
export function planCharge(
  loaded: VerifiableKey,
  cost: number,
  limits: readonly LimitCharge[],
  ttl?: SpanMs,
  mode: ChargePlan["mode"] = "commit",
  counts?: ChargePlan["counts"],
): ChargePlan {
  const hold = mode === "commit" ? holdOf(loaded, limits, ttl) : undefined;
  return {
    workspaceId: loaded.key.workspaceId,
    revision: loaded.revision,
    confirms: confirmationsOf(loaded),
    mode,
    cost,
    uses: loaded.key.usesFrom === "key" ? KEY_INDEX : IDENTITY_INDEX,
    limits,
    hold,
    memo: undefined,
    counts,
  };
}

/** Most open reservations of one key, and of all keys of one identity. */
export const MOST_OPEN: readonly [ofKey: number, ofIdentity: number] = [1_000, 10_000];

/** The held part of a charge: all of it for a reservation, and slots in any case. */
function holdOf(
  { identity }: Pick<VerifiableKey, "identity">,
  limits: readonly LimitCharge[],
  ttl: SpanMs | undefined,
): HoldPlan | undefined {
  const slotTtl = slotTtlOf(limits);
  const most = MOST_OPEN.slice(0, identity === null ? 1 : 2);
  if (ttl !== undefined) return { keeps: "all", ttl, slotTtl, most };
  return slotTtl === null ? undefined : { keeps: "slots", ttl: slotTtl, slotTtl, most };
}

/** The longest time that the slots of a verification are held unless they are renewed: the shortest `duration`; null: it takes none. */
export function slotTtlOf(limits: readonly LimitCharge[]): SpanMs | null {
  let ttl: SpanMs | null = null;
  for (const { algorithm, cost, duration } of limits)
    if (algorithm === "concurrent" && cost > 0) ttl = Math.min(ttl ?? duration, duration);
  return ttl;
}

/** The plan that takes nothing, and shows the result of taking. */
export function planPeek(
  loaded: VerifiableKey,
  cost: number = 0,
  limits: readonly LimitCharge[] = NO_ITEMS,
): ChargePlan {
  return planCharge(loaded, cost, limits, undefined, "peek");
}

/** The refill that is due for the uses that the key takes from. */
export function dueRefillOf(loaded: VerifiableKey, now: EpochMs): DueRefill | null {
  return dueRefill(effectiveRefill(loaded), now);
}

/** The key and, if it has or had one, its identity: a verdict is based on the versions of both. */
function confirmationsOf({ key, identity, handle, identityHandle }: VerifiableKey): Expectation[] {
  const confirms: Expectation[] = [{ kind: "key", id: key.id, version: key.version, handle }];
  if (key.identityId !== null)
    confirms.push({
      kind: "identity",
      id: key.identityId,
      version: identity === null ? null : identity.version,
      handle: identityHandle,
    });
  return confirms;
}
