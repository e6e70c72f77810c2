import type { Refill } from "../rules/refill.js";
import { NO_USES, type Usage } from "../store/counters.js";
import type { LoadedKey, VerifiableKey } from "./loaded-key.js";

/**
 * What a key takes its uses from when the identity that it took them from was deleted: none are left, and nothing restores them.
 * It must not become unlimited.
 *
 * In all else such a key lives on without an owner, and without the limits of the identity.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
const USES_OF_DELETED_IDENTITY: { readonly usage: Usage; readonly refill: Refill | null } = {
  usage: NO_USES,
  refill: null,
};

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
