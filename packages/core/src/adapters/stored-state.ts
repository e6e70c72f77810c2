import type { JsonValue } from "../lib/json.js";
import { parseWhole } from "../lib/whole.js";
import type { RecordKind } from "../records/stored-record.js";
import { NO_USES, type Usage } from "../store/counters.js";
import type { StoredRecordState } from "../store/key-store.js";
import { parseHoldSums } from "./hold-text.js";

/** A record as a store with text columns reads it. Numbers may be strings of digits. */
export interface StoredParts {
  readonly kind: RecordKind;
  readonly id: string;
  readonly version: unknown;
  /** Undefined if damaged. */
  readonly link: string | null | undefined;
  readonly body: unknown;
  /** Result of {@link readUsage}; null for a record without counters. */
  readonly usage: Usage | null | undefined;
  readonly usedAt: unknown;
  readonly handle?: unknown;
}

/**
 * The record that a store returns. If any part is damaged, it has no body: core can still delete it, and does nothing else with it. Damaged
 * counters have no uses left, and a charge refuses them.
 */
export function storedState(parts: StoredParts): StoredRecordState {
  const { kind, id, link, usage, handle } = parts;
  let body: JsonValue | undefined;
  try {
    if (link !== undefined && usage !== undefined) body = JSON.parse(parts.body as string);
  } catch {
    // A damaged record has no body.
  }
  const record = { kind, id, version: parseWhole(parts.version) ?? 0, link: link ?? null, body };
  const left = usage === undefined ? NO_USES : usage;
  return { record, usage: left, usedAt: parseWhole(parts.usedAt), handle };
}

/**
 * Reads `remaining`, `refilledAt` and `lastRefillAt`, as numbers, digits or null, and the text of the holds or null. Undefined if damaged.
 */
export function readUsage(stored: readonly unknown[]): Usage | undefined {
  const read = (part: unknown) => (part === null ? null : (parseWhole(part) ?? undefined));
  const [remaining, refilledAt, lastRefillAt] = [read(stored[0]), read(stored[1]), read(stored[2])];
  if (remaining === undefined || typeof refilledAt !== "number" || lastRefillAt === undefined)
    return undefined;
  const usage = { remaining, refilledAt, lastRefillAt };
  const [, , , sums = null] = stored;
  if (sums === null) return usage;
  try {
    return { ...usage, holds: parseHoldSums(String(sums)) };
  } catch {
    return undefined;
  }
}
