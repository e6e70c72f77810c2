import type { LoadedKey } from "../records/key.js";
import type { Refill } from "../rules/refill.js";
import { NO_USES, type Usage } from "../store/counters.js";

/** The uses that a key draws from, with the refill that restores them. */
export interface DrawnUses {
  readonly usage: Usage;
  readonly refill: Refill | null;
}

/**
 * Whose uses a key draws from: its own, or those that all keys of its identity share. A key that is to draw from an
 * identity which does not exist, because it was deleted, has none: it must not become unlimited.
 *
 * @see packages/core/decisions/0014-shared-uses.md
 */
export function drawnUses({ key, usage, identity, identityUsage }: LoadedKey): DrawnUses {
  if (key.usesFrom === "key") return { usage, refill: key.refill };
  return { usage: identityUsage ?? NO_USES, refill: identity?.refill ?? null };
}
