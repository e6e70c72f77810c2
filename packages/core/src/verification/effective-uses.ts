import type { Refill } from "../rules/refill.js";
import type { Usage } from "../store/counters.js";
import { USES_OF_DELETED_IDENTITY } from "./deleted-identity.js";
import type { LoadedKey, VerifiableKey } from "./loaded-key.js";

/** The uses that a key takes from, with the refill that restores them. */
export interface EffectiveUses {
  readonly usage: Usage;
  readonly refill: Refill | null;
}

/**
 * Whose uses a key takes from: its own, or those that all keys of its identity share.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
export function effectiveUses({
  key,
  usage,
  identity,
  identityUsage,
}: Pick<LoadedKey, "key" | "usage" | "identity" | "identityUsage">): EffectiveUses {
  const shared = identityUsage ?? USES_OF_DELETED_IDENTITY.usage;
  const refill = effectiveRefill({ key, identity });
  return { usage: key.usesFrom === "key" ? usage : shared, refill };
}

/** What restores the uses that a key takes from; null where nothing does. */
export function effectiveRefill({
  key,
  identity,
}: Pick<VerifiableKey, "key" | "identity">): Refill | null {
  const { refill } = identity ?? USES_OF_DELETED_IDENTITY;
  return key.usesFrom === "key" ? key.refill : refill;
}
