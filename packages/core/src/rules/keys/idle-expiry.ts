import { type EpochMs, LAST_INSTANT, type SpanMs } from "../../time.js";

/** The shortest span after which a key that is not used may expire: a day, for uses are written some time after they happen. */
export const SHORTEST_IDLE_MS: SpanMs = 86_400_000;

/** What the instant follows from at which a key expires that nobody uses. */
export interface IdleFields {
  /** How long the key lives without a use, or null for as long as it likes. */
  readonly expiresWhenUnused: SpanMs | null;
  readonly createdAt: EpochMs;
  readonly startsAt: EpochMs | null;
  /** Instant from which on it counts as unused where it was imported or enabled again, or null. */
  readonly idleFrom: EpochMs | null;
}

/**
 * When a key expires if it is not used: so long after its latest use, or, whichever is the latest, after it was created, has started,
 * or was enabled again. Null for never. At the instant itself it is dead.
 *
 * @param lastUsedAt - Unix epoch ms of the latest valid verification, or null before the first.
 */
export function idleExpiresAt(fields: IdleFields, lastUsedAt: EpochMs | null): EpochMs | null {
  const { expiresWhenUnused } = fields;
  if (expiresWhenUnused === null) return null;
  return Math.min(LAST_INSTANT, idleSince(fields, lastUsedAt) + expiresWhenUnused);
}

/**
 * Whether a use has to be stored before it is answered: where what is stored lies half of the span back or more. So nobody who goes
 * by what is stored, at any time until half of the span later, takes a key for idle that was used.
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
