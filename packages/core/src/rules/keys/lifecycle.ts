import type { EpochMs } from "../../time.js";
import { isExpired } from "./expiry.js";
import { isStarted } from "./start.js";

/** The state of a key: derived, never stored. If several apply, it is the first of switched off, expired, not started and exhausted. */
export type KeyState = "enabled" | "switched-off" | "expired" | "not-started" | "exhausted";

/** Fields that the state of a key is derived from. */
export interface KeyStateFields {
  readonly enabled: boolean;
  readonly expires: EpochMs | null;
  /** Uses left with a due refill applied, or null for unlimited. */
  readonly remaining: number | null;
}

/** State of a key at `now`: `enabled = enabled && !expired && started && !exhausted`. */
export function keyState(
  fields: KeyStateFields & {
    readonly startsAt?: EpochMs | null;
    /** Only for a key that expires when it is not used. */
    readonly idleExpiresAt?: EpochMs | null;
  },
  now: EpochMs,
): KeyState {
  if (!fields.enabled) return "switched-off";
  if (isExpired(fields.expires, now)) return "expired";
  if (isExpired(fields.idleExpiresAt ?? null, now)) return "expired";
  if (!isStarted(fields.startsAt ?? null, now)) return "not-started";
  if (fields.remaining === 0) return "exhausted";
  return "enabled";
}

/** The fields of an update that move a key between states; undefined leaves a field as it is. */
export type LifecycleUpdate = {
  readonly [Field in keyof KeyStateFields]: KeyStateFields[Field] | undefined;
};

/** What an update makes of the state fields, or why it cannot. */
export type LifecycleDecision =
  | { readonly kind: "apply"; readonly enabled: boolean; readonly expires: EpochMs | null }
  /** `enabled: true` on an exhausted key, without a new `remaining`. */
  | { readonly kind: "refuse-exhausted" };

/**
 * Decides the transition of an update at `now`.
 *
 * Enabling an expired key without a new `expires` clears the expiry: otherwise the key would be expired again at once. Enabling an
 * exhausted key needs a new `remaining`, for the same reason. `remaining` includes a due refill.
 *
 * @see packages/core/decisions/0002-derived-state.md for the state table.
 */
export function decideUpdate(
  fields: KeyStateFields,
  update: LifecycleUpdate,
  now: EpochMs,
): LifecycleDecision {
  const isEnabling = update.enabled === true;
  const remaining = update.remaining === undefined ? fields.remaining : update.remaining;
  if (isEnabling && remaining === 0) return { kind: "refuse-exhausted" };
  const keptExpiry = isEnabling && isExpired(fields.expires, now) ? null : fields.expires;
  return {
    kind: "apply",
    enabled: update.enabled ?? fields.enabled,
    expires: update.expires === undefined ? keptExpiry : update.expires,
  };
}
