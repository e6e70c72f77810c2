import { type EpochMs, LAST_INSTANT, type SpanMs } from "../../time.js";

/** The shortest span after which a key that is not used may expire: a day, for uses are written some time after they happen. */
export const SHORTEST_IDLE_MS: SpanMs = 86_400_000;

/** What decides when an unused key expires. */
export interface IdleFields {
  /** How long the key lives without a use, or null for as long as it likes. */
  readonly expiresWhenUnused: SpanMs | null;
  readonly createdAt: EpochMs;
  readonly startsAt: EpochMs | null;
  /** Instant from which it counts as unused if it was imported or enabled again, or null. */
  readonly idleFrom: EpochMs | null;
}

/** When an unused key has expired: so long after the latest of its latest use, creation, start and re-enabling. Null for never. */
export function idleExpiresAt(fields: IdleFields, lastUsedAt: EpochMs | null): EpochMs | null {
  const { expiresWhenUnused } = fields;
  if (expiresWhenUnused === null) return null;
  return Math.min(LAST_INSTANT, idleSince(fields, lastUsedAt) + expiresWhenUnused);
}

/**
 * Whether a use must be stored before the verdict is returned: if the stored one is half of the span old or more. So for another half of
 * the span, no process that reads the store takes a used key for unused.
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
