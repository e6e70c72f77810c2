import type { JsonValue } from "../lib/json.js";
import { parseWhole } from "../lib/whole.js";
import { KEY_LABELS } from "../records/key.js";
import type { RecordKind } from "../records/record-type.js";
import { NO_USES, type Usage } from "../store/counters.js";
import type { ScanResult, StoredRecordState } from "../store/key-store.js";
import { parseHoldSums } from "./stored-text.js";

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

/** Reads `remaining`, `refilledAt` and `lastRefillAt` (numbers, digits or null), and the text of the holds or null. Undefined: damaged. */
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

/** Most names in one result of a scan. */
export const SCAN_PAGE = 1_000;

/** Sorts before every window, and after the remembered requests in the same table, whose names begin with a space. */
export const FIRST_WINDOW = " \x7f";

/** The result of a scan, from at most {@link SCAN_PAGE} rows in ascending order of their name. */
export function scannedNames(rows: readonly (readonly unknown[])[]): ScanResult {
  const names = rows.map(([name]) => String(name));
  return { names, next: rows.length < SCAN_PAGE ? null : (names.at(-1) ?? null) };
}

const KEY_FIELDS =
  "apiId start name meta createdAt updatedAt expires refill ratelimits environment usesFrom rotatedFrom rotatedTo roles permissions";

/**
 * Fields of records that the SQL views show as columns, in this order; never a hash or an encrypted secret. `addedFields` come last:
 * another one needs a migration that recreates the views.
 */
export const VIEW_FIELDS = {
  keys: KEY_FIELDS.split(" "),
  identities: ["externalId", "meta", "ratelimits", "refill", "createdAt"],
  audit: ["type", "at", "actor", "keyId", "identityId", "before", "after"],
  addedFields: [
    ...Object.keys(KEY_LABELS).filter((label) => !KEY_FIELDS.split(" ").includes(label)),
    ...["tags", "ipWhitelist", "startsAt", "expiresWhenUnused"],
  ],
} as const;
