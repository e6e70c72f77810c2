import type { Refill } from "../rules/refill.js";
import { NO_USES, type Usage } from "../store/counters.js";
import type { LoadedKey, VerifiableKey } from "./loaded-key.js";

/** The uses that a key takes from, with the refill that restores them. */
export interface EffectiveUses {
  readonly usage: Usage;
  readonly refill: Refill | null;
}

/**
 * The uses that a key takes from: its own, or those that all keys of its identity share. If that identity was deleted, none are left and
 * nothing restores them: the key must not become unlimited. In all other respects it lives on, without an owner and without the identity's
 * limits.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
export function effectiveUses(
  loaded: Pick<LoadedKey, "key" | "usage" | "identity" | "identityUsage">,
): EffectiveUses {
  const usage = loaded.key.usesFrom === "key" ? loaded.usage : (loaded.identityUsage ?? NO_USES);
  return { usage, refill: effectiveRefill(loaded) };
}

/** The refill of the uses that a key takes from; null for none. */
export function effectiveRefill({
  key,
  identity,
}: Pick<VerifiableKey, "key" | "identity">): Refill | null {
  return key.usesFrom === "key" ? key.refill : (identity?.refill ?? null);
}
