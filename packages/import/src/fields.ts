import { KEY_LABELS } from "@latchkey/core";
import type { ValueKind } from "./read-value.js";

/**
 * Every field that a row of a file can set, and how its text is read. A dot leads into an object: `refill.amount`. All except
 * `api`, `identity` and `hash.pepper` are fields of `createKeys`.
 */
export const FIELDS: ReadonlyMap<string, ValueKind> = new Map<string, ValueKind>([
  ["apiId", "text"],
  ["api", "text"],
  ["hash", "json"],
  ["hash.value", "text"],
  ["hash.variant", "text"],
  ["hash.pepper", "text"],
  ["plaintext", "secret"],
  ["start", "text"],
  ["prefix", "text"],
  ...Object.keys(KEY_LABELS).map((label): [string, ValueKind] => [label, "text"]),
  ["externalId", "text"],
  ["ownerId", "text"],
  ["identity", "json"],
  ["meta", "json"],
  ["tags", "names"],
  ["ipWhitelist", "names"],
  ["roles", "names"],
  ["permissions", "names"],
  ["createdAt", "instant"],
  ["expires", "instant"],
  ["startsAt", "instant"],
  ["expiresWhenUnused", "whole"],
  ["enabled", "flag"],
  ["recoverable", "flag"],
  ["remaining", "whole"],
  ["refill", "json"],
  ["refill.interval", "word"],
  ["refill.amount", "whole"],
  ["refill.carryOver", "whole"],
  ["refill.refillDay", "whole"],
  ["refill.lastRefillAt", "instant"],
  ["ratelimit", "json"],
  ["ratelimit.limit", "whole"],
  ["ratelimit.duration", "whole"],
  ["ratelimit.type", "text"],
  ["ratelimit.async", "flag"],
  ["ratelimits", "json"],
  ["usesFrom", "text"],
]);

/** Further columns of an export, which an import does not read. */
export const INFORMATION: ReadonlySet<string> = new Set([
  "id",
  "workspaceId",
  "updatedAt",
  "lastUsedAt",
  "rotatedFrom",
  "rotatedTo",
]);
