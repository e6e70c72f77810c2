import { labelsOf } from "@latchkey/core";
import { NOTES_BY_PATH } from "./field-notes-by-path.js";
import { findByPath } from "./path-table.js";

/** Labels of a key, except `name`, which other records have too. */
const { name: _, ...LABEL_NOTES } = labelsOf((_, { about }) => about);

/**
 * Descriptions of fields by name alone: names that mean the same in every input and response. Names that mean something
 * else somewhere are in {@link NOTES_BY_PATH}.
 */
export const FIELD_NOTES: Readonly<Record<string, string>> = {
  algorithm:
    "How the limit counts: `fixed` windows, aligned to the Unix epoch, if absent; `sliding`: in any span of `duration`; `token-bucket`: `limit` units per `duration` flow into a bucket that holds `burst`; `concurrent`: at most `limit` at the same time.",
  amount: "A refill sets the remaining uses to this number, but never lowers them.",
  apiId: "Id of the API.",
  autoApply:
    "Whether the limit applies to every verification, not only to those that name it; always true for a key's limit named `default`.",
  burst: "Units that a token bucket holds; `limit` if absent. Only with `token-bucket`.",
  byteLength: "Number of random bytes in the secret.",
  carryOver:
    "Maximum number of left-over uses that are kept on top of `amount` when a refill falls due; none if absent.",
  create: "If none has this name, creates it in the same write.",
  created: "Whether this request created it.",
  createdAt: "Unix epoch ms.",
  cursor:
    "Position of the next page: copy it from one response to the next request. Absent on the last page.",
  damaged: "Number of records of this page that cannot be read and are left out; absent if none.",
  decrypt: "Also shows the secrets of recoverable keys; needs `decrypt_key`.",
  deletedKeys: "Number of deleted keys.",
  disabledKeys: "Number of keys that were disabled.",
  enabledKeys: "Number of keys that were enabled.",
  deleteProtection: "Whether the API is protected from deletion.",
  description: "A description for humans.",
  dryRun: "Decides without charging, statistics or events.",
  duration:
    "Length of a window or span in ms, or the time in which `limit` units flow into a token bucket; for a concurrent limit, how long a slot is held unless it is renewed. Fixed windows are aligned to the Unix epoch.",
  ...LABEL_NOTES,
  erasedEvents: "Number of entries of the audit log that were overwritten.",
  erasedIdentities:
    "Number of erased identities: the one with the `externalId`, and earlier ones that the audit log knows.",
  exceeded: "Whether this limit refused; with `shadow`, whether it would have.",
  expires: "Unix epoch ms at which the key expires; never if absent.",
  expiresAt: "Unix epoch ms at which the reservation is released, unless it is renewed.",
  expiresWhenUnused:
    "How long the key lives without a valid verification: a day or more, in ms or as a text such as `90d`; forever if absent.",
  externalId: "Your own id of the user.",
  externalIdContains: "Only identities whose `externalId` contains this, ignoring case.",
  graceMs:
    "How long the old key stays valid, in ms or as a text such as `1d`; never beyond its own expiry.",
  granularity: "Length of a bucket; the range is at most 31 days, 366 days or 120 months.",
  identifier: "What the limit counts for: a user, an address.",
  identityId: "Id of the identity.",
  idleExpiresAt:
    "Unix epoch ms at which the key expires if it is not used, a few seconds behind; only with `expiresWhenUnused`.",
  interval:
    "When uses are restored, by UTC: every hour, every midnight, or at midnight at the beginning of `refillDay`; or every `every`.",
  ipWhitelist:
    "Addresses and CIDR ranges, IPv4 and IPv6, from which the keys may be used; from anywhere if empty.",
  key: "The secret.",
  keyId: "Id of the key; not a secret.",
  keyIds: "Ids of the keys, in the order of the input.",
  lastRefillAt: "Unix epoch ms of the last refill that happened; absent before the first.",
  lastUsedAt: "Unix epoch ms of the latest valid verification, a few seconds behind.",
  keyTags: "Tags of the key, unlike the `tags` of the verification; absent if none.",
  limit: "Units per `duration`.",
  namespace: "Groups limits by purpose.",
  op: "How the remaining uses change.",
  permanent: "Accepted, without effect: a deletion keeps nothing.",
  permissionId: "Id of the permission.",
  plaintextError: "Why the secret of a recoverable key cannot be shown.",
  recoverable: "Stores the secret encrypted, so that it can be shown again; needs `encrypt_key`.",
  refillDay:
    "With `weekly` 1 (Monday) to 7; with `monthly` 1 to 31, where a shorter month refills on its last day. 1 by default.",
  requestId: "Equal to the header `X-Request-Id` of the response.",
  reset:
    "Unix epoch ms at which the whole limit is available again; for a fixed one, at which the next window starts; for a concurrent one, at the latest. Absent only beyond the year 275760.",
  reservationId: "Id of the reservation.",
  reserved: "Uses that reservations and leases hold, in addition to `remaining`; absent if none.",
  retryAfterMs:
    "If the limit refused: ms until the same request would be admitted if nothing else is taken. Absent if the cost can never fit, and for fixed windows, where that is `reset`.",
  revalidateKeysCache: "Accepted; every read is fresh anyway.",
  roleId: "Id of the role.",
  rotatedFrom: "Id of the key that this one replaced.",
  rotatedTo: "Id of the key that replaced this one.",
  shadow:
    "Only tries out the limit: it is checked and counted, but never refuses. False if absent.",
  startsAt: "Unix epoch ms before which the key is `NOT_STARTED`.",
  tags: "Labels for your own statistics; they do not affect the verdict.",
  total: "Exact number of all items, not only of this page.",
  ttl: "How long the reservation is held unless it is renewed: 1,000 to 86,400,000 ms, or a text such as `30s` or `1h`.",
  updatedAt: "Unix epoch ms of the latest update, including updates of uses.",
  usesFrom: "Whether the key takes its uses from itself or from its identity.",
  valid: "Whether the key is valid. Check it before you admit a request.",
  variant:
    "Encoding of the SHA-256 of the whole secret: 44 characters with padding, 43 without, or 64 digits.",
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
