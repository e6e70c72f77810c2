import { NOTES_BY_PATH } from "./field-notes-by-path.js";
import { findByPath } from "./path-table.js";

/**
 * What a field stands for, by its name alone: only of words that mean the same in every schema, taken and answered.
 * Whatever means something else somewhere stands in {@link NOTES_BY_PATH}.
 */
export const FIELD_NOTES: Readonly<Record<string, string>> = {
  amount: "What a refill raises the uses left to; it never lowers them.",
  apiId: "Id of the API.",
  autoApply:
    "Whether every verification takes from the limit, and not only one that names it; always true of a key's limit named `default`.",
  byteLength: "Random bytes of the secret.",
  create: "Makes one of this name where there is none, in the same write.",
  createdAt: "Unix epoch ms.",
  cursor: "What asks for the next page, taken from the answer before; absent in the last answer.",
  decrypt: "Also shows the secrets of recoverable keys; needs `decrypt_key`.",
  deletedKeys: "How many keys were deleted.",
  deleteProtection: "Whether the API is kept from being deleted.",
  description: "Text for people.",
  dryRun: "Decides without taking anything, counting or telling anyone.",
  duration: "Length of a window in ms. Windows are aligned to the Unix epoch.",
  environment: "A label of yours, such as `live` or `test`.",
  exceeded: "Whether this limit refused.",
  expires: "Unix epoch ms from which the key is refused; absent for never.",
  externalId: "Your own id of the user.",
  graceMs: "How long the old key goes on, in ms; 0 unless given, never past its own expiry.",
  granularity: "Length of a bucket: over at most 31 days, 366 days or 120 months.",
  identifier: "Whom the limit counts: a user, an address.",
  identityId: "Id of the identity.",
  interval: "How often uses are restored.",
  ipWhitelist:
    "Addresses and CIDR ranges, IPv4 and IPv6, that keys may be used from; none for anywhere.",
  key: "The secret.",
  keyId: "Id of the key; not a secret.",
  keyIds: "Ids of the keys, in the order in which they were given.",
  lastRefillAt: "Unix epoch ms up to which refills are settled.",
  lastUsedAt: "Unix epoch ms of the latest valid verification, some seconds behind.",
  limit: "Units per window.",
  namespace: "What the limit is for.",
  op: "What is done to the uses left.",
  permanent: "Keeps nothing of the record.",
  permissionId: "Id of the permission.",
  recoverable: "Keeps the secret encrypted, so that it can be read back; needs `encrypt_key`.",
  refillDay: "Day of the month; a shorter month refills on its last day. 1 unless given.",
  requestId: "Equal to the header `X-Request-Id` of the answer.",
  reset: "Unix epoch ms at which the next window opens.",
  revalidateKeysCache: "Accepted; every read is fresh anyway.",
  roleId: "Id of the role.",
  rotatedFrom: "Id of the key that this one took the place of.",
  rotatedTo: "Id of the key that took the place of this one.",
  tags: "Labels for your own evaluation; no part of the question.",
  total: "Exact number of all there are, whatever the page.",
  updatedAt: "Unix epoch ms of the latest change of the configuration.",
  usesFrom: "Whose uses the key draws from.",
  valid: "The verdict. Let nobody through without looking at it.",
  variant:
    "How the SHA-256 of the whole secret is written: 44 characters with padding, or 64 digits.",
  workspaceId: "Id of the workspace.",
};

/**
 * The description of a field. Notes by path win over notes by name.
 *
 * @param path - As {@link findByPath} takes it.
 */
export function noteOf(path: readonly string[]): string | undefined {
  const byPath = path.length > 1 ? findByPath(NOTES_BY_PATH, path) : undefined;
  return byPath ?? findByPath(FIELD_NOTES, path.slice(-1));
}
