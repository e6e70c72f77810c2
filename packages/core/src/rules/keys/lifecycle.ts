import { type EpochMs, LAST_INSTANT, type SpanMs } from "../../time.js";

/** Whether a key has expired. At exactly `expires` it has, as RFC 7519 §4.1.4 says for `exp` ("on or after"). */
export function isExpired(expires: EpochMs | null, now: EpochMs): boolean {
  return expires !== null && now >= expires;
}

/** Whether a key has started. At exactly `startsAt` it has; with null it always has. */
export function isStarted(startsAt: EpochMs | null, now: EpochMs): boolean {
  return startsAt === null || now >= startsAt;
}

/** Whether a key would expire before it starts, or at the same instant: it would never be valid. */
export function startsTooLate(startsAt: EpochMs | null, expires: EpochMs | null): boolean {
  return startsAt !== null && expires !== null && startsAt >= expires;
}

/** The shortest span after which an unused key may expire: a day, because uses are written some time after they happen. */
export const SHORTEST_IDLE_MS: SpanMs = 86_400_000;

/** What decides when an unused key expires. */
export interface IdleFields {
  /** How long the key lives without a use; null: it never expires for lack of use. */
  readonly expiresWhenUnused: SpanMs | null;
  readonly createdAt: EpochMs;
  readonly startsAt: EpochMs | null;
  /** Instant from which it counts as unused if it was imported or enabled again, or null. */
  readonly idleFrom: EpochMs | null;
}

/** When an unused key expires: `expiresWhenUnused` after the latest of its last use, creation, start and `idleFrom`. Null for never. */
export function idleExpiresAt(fields: IdleFields, lastUsedAt: EpochMs | null): EpochMs | null {
  const { expiresWhenUnused } = fields;
  if (expiresWhenUnused === null) return null;
  return Math.min(LAST_INSTANT, idleSince(fields, lastUsedAt) + expiresWhenUnused);
}

/**
 * Whether a use must be stored before the verdict is returned: yes if the stored one is at least half the span old. Then, for the other
 * half of the span, no process that reads the store mistakes a used key for an unused one.
 */
export function mustStoreUse(
  fields: IdleFields,
  lastUsedAt: EpochMs | null,
  now: EpochMs,
): boolean {
  const { expiresWhenUnused } = fields;
  if (expiresWhenUnused === null) return false;
  return now - idleSince(fields, lastUsedAt) >= expiresWhenUnused / 2;
}

function idleSince({ createdAt, startsAt, idleFrom }: IdleFields, lastUsedAt: EpochMs | null) {
  return Math.max(createdAt, startsAt ?? 0, idleFrom ?? 0, lastUsedAt ?? 0);
}

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
