import { KEY_LABELS } from "../records/key-labels.js";

const KEY_FIELDS =
  "apiId start name meta createdAt updatedAt expires refill ratelimits environment usesFrom rotatedFrom rotatedTo roles permissions";

/**
 * Fields of bodies that the views of SQL stores show as columns, in their order. There is none for the hash of a key or its sealed
 * secret. `addedLabels` of a key came later, and stand behind all others: one more is a migration that makes the views again.
 */
export const VIEW_FIELDS = {
  keys: KEY_FIELDS.split(" "),
  identities: ["externalId", "meta", "ratelimits", "refill", "createdAt"],
  audit: ["type", "at", "actor", "keyId", "identityId", "before", "after"],
  addedLabels: Object.keys(KEY_LABELS).filter((label) => !KEY_FIELDS.split(" ").includes(label)),
} as const;
