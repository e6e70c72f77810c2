import type { Refill } from "../rules/refill.js";
import { NO_USES, type Usage } from "../store/counters.js";
import type { LoadedKey, VerifiableKey } from "./loaded-key.js";

/** The uses that a key takes from, with the refill that restores them. */
export interface EffectiveUses {
  readonly usage: Usage;
  readonly refill: Refill | null;
}

/**
 * Whose uses a key takes from: its own, or those that all keys of its identity share. A key that takes from an identity which
 * does not exist any more has none: it must not become unlimited.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
export function effectiveUses({
  key,
  usage,
  identity,
  identityUsage,
}: Pick<LoadedKey, "key" | "usage" | "identity" | "identityUsage">): EffectiveUses {
  const refill = effectiveRefill({ key, identity });
  return { usage: key.usesFrom === "key" ? usage : (identityUsage ?? NO_USES), refill };
}

/** What restores the uses that a key takes from; null where nothing does. */
export function effectiveRefill({
  key,
  identity,
}: Pick<VerifiableKey, "key" | "identity">): Refill | null {
  return key.usesFrom === "key" ? key.refill : (identity?.refill ?? null);
}
