import { type EpochMs, LAST_INSTANT, type SpanMs } from "../../time.js";

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
