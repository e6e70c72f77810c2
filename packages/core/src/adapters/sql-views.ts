import { KEY_LABELS } from "../records/key-labels.js";

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
