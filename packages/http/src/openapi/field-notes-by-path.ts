import { labelsOf } from "@latchkey/core";
import { GIVEN_DURATION, NOTES_ON_KEY_RULES } from "./key-rule-notes.js";
import { ofEach } from "./path-table.js";
import { NOTES_ON_USAGE } from "./usage-notes.js";

/** Fields of an update of a key. */
const UPDATE: Readonly<Record<string, string>> = {
  enabled: "Switches the key on or off.",
  expires: "Unix epoch ms at which the key expires; `null` for never.",
  expiresWhenUnused:
    "How long the key lives without a valid verification: a day or more, in ms or as a text such as `90d`; `null` for no such limit.",
  startsAt:
    "Unix epoch ms before which the key is `NOT_STARTED`; `null` for a key that may be used now.",
  externalId: "Your own id of the user of the key; `null` for nobody.",
  ipWhitelist:
    "The whole list of addresses and CIDR ranges from which the key may be used; `null` or an empty list for anywhere that its API allows.",
  meta: "The whole metadata; `null` for none.",
  tags: "All labels of the key; `null` or an empty list for none.",
  ownerId: "Deprecated: use `externalId`, which takes precedence.",
  permissions:
    "All direct permissions from now on, as names or as objects with `id` or `name`; an empty list clears them.",
  ratelimit: "The limit named `default`; `null` for none. Other limits stay.",
  ratelimits:
    "All limits of the key by name; `null` or an empty list for none. `default` only if `ratelimit` is omitted.",
  refill: "How uses are restored; `null` for never.",
  remaining: "Remaining uses from now on; `null` for unlimited, which also removes the refill.",
  roles:
    "All roles from now on, as names or as objects with `id` or `name`; an empty list clears them.",
  ...labelsOf((_, { about }) => `${about.slice(0, -1)}; \`null\` for none.`),
};

/** Fields of a question about a key. */
const QUESTION: Readonly<Record<string, string>> = {
  apiId: "Id of the API that the key must belong to.",
  authorization: "Permissions that the key must have.",
  ipAddress:
    "Address that the key is presented from, without its port; needed if the key or its API has an `ipWhitelist`.",
  ratelimit: "Deprecated: use the limit named `default` in `ratelimits`.",
  "ratelimit.cost": "Units to take from the limit named `default`; 0 only looks.",
  ratelimits:
    "Limits to apply in addition to those that always apply: limits of the key or its identity by name, or ad-hoc limits with `limit` and `duration`.",
  "ratelimits.cost": "Units to take; 0 only looks.",
  remaining: "How many uses to take; one if omitted.",
  "remaining.cost": "Uses to take; 0 takes none, but an exhausted key is still refused.",
};

const REQUEST_ID =
  "Any text of yours: a retry with the same text within 10 minutes gets the same verdict and is charged once.";

/** Fields of a verdict about a key. */
const VERDICT: Readonly<Record<string, string>> = {
  checks: "Dry run only: every check, in order.",
  code: "Why the key is refused.",
  enabled: "Derived: false once the key is switched off, expired or exhausted.",
  ownerId: "Deprecated: use the `externalId` of the identity.",
  permissions: "Names of all permissions of the key, direct and through roles.",
  ratelimit: "The limit that refused, else the one named `default`, else the first.",
  ratelimits: "Every limit that was checked, in order.",
  remaining: "Remaining uses afterwards; absent if unlimited.",
  roles: "Names of the roles of the key.",
};

/** Fields of a key that is created or imported. */
const NEW_KEY: Readonly<Record<string, string>> = {
  enabled: "Whether the key is switched on.",
  ownerId: "Deprecated: use `externalId`, which takes precedence.",
  permissions: "Names of direct permissions; they must exist.",
  ratelimit: "The limit named `default`, which applies to every verification.",
  ratelimits: "Limits of the key by name; `default` only if `ratelimit` is omitted.",
  remaining: "Number of uses; unlimited if omitted.",
  roles: "Names of roles; they must exist.",
};

/** Lists whose `limit` needs no other note. */
const LISTS = [
  "apis.listApis",
  "audit.listAuditEvents",
  "events.readEvents",
  "identities.listIdentities",
  "keys.listReservations",
];

/** Fields of a list of keys. */
const KEY_LIST: Readonly<Record<string, string>> = {
  apiId: "Only keys of this API.",
  createdAfter: "Only keys created at this instant or later: Unix epoch ms.",
  createdBefore: "Only keys created before this instant: Unix epoch ms.",
  enabled: "Only keys whose `enabled` in responses has this value.",
  environment: "Only keys with exactly this `environment`.",
  expiresAfter: "Only keys that expire at this instant or later: Unix epoch ms.",
  expiresBefore: "Only keys that expire before this instant: Unix epoch ms.",
  externalId: "Only keys of this user, by your own id.",
  identityId: "Only keys of this identity; not with `externalId`.",
  limit: "Largest number of items on the page.",
  nameContains: "Only keys whose name contains this, ignoring case.",
  order: "`desc` for descending order; `asc` if omitted.",
  orderBy: "`createdAt` if omitted.",
  ownerId: "Deprecated: use `externalId`, which takes precedence.",
  permission: "Only keys with this permission, directly, through a role or by a wildcard.",
  role: "Only keys that have the role of this name.",
  start:
    "Only keys whose secret may begin with this; anything from a `…`, `...` or `*` on is ignored.",
  tags: "Only keys that have all of these tags.",
  scanned: "Number of keys that were read for this page; only with filters or an order.",
  total:
    "Exact number of all live keys of the API, regardless of page and user. Only without `identityId`, filters and order.",
  usedAfter: "Only keys last used at this instant or later: Unix epoch ms.",
  usedBefore: "Only keys last used before this instant, or never: Unix epoch ms.",
};

/**
 * Descriptions of fields whose name alone is ambiguous: `<shared schema or operation>.<field>` with the fields between them,
 * or the last of these names if that is enough (`error.code`). A field of an input and one of the same name in the response
 * share a note, unless the response is a shared schema.
 */
export const NOTES_BY_PATH: Readonly<Record<string, string>> = {
  ...NOTES_ON_KEY_RULES,
  ...NOTES_ON_USAGE,
  ...ofEach(["ForbiddenVerdict", "RefusedVerdict", "ValidVerdict"], VERDICT),
  ...ofEach(["keys.createKey", "migrations.createKeys"], NEW_KEY),
  ...ofEach(["KeyRatelimit", "NamedKeyRatelimit", "ratelimit", "ratelimits"], {
    async: "Accepted and stored; every limit is exact.",
    type: "Accepted and stored; every limit is exact.",
  }),
  ...ofEach(["apis.deleteKeys", "apis.disableKeys", "apis.enableKeys"], {
    keyIds: "Ids of keys, at most 1,000; unknown ones are ignored.",
  }),
  ...ofEach(LISTS, { limit: "Largest number of items on the page." }),
  "apis.createApi.ceilings": "Upper bounds of what the keys of the API can get.",
  "apis.updateApi.ceilings":
    "Upper bounds of what the keys of the API can get. All of them; `null` for none.",
  "apis.createApi.defaults":
    "What new keys of the API get unless they are created with something else.",
  "apis.updateApi.defaults":
    "What new keys of the API get unless they are created with something else. All of them; `null` for none.",
  "apis.enableKeys.damaged":
    "Number of keys that cannot be read and stay unchanged; absent if none.",
  "Api.ceilings": "Upper bounds of what a key can get; absent for no bound. Spans in ms.",
  "Api.defaults":
    "What new keys get unless they are created with something else; absent if nothing. Spans in ms.",
  "AuditEvent.actor": "Who made the change: the id of a root key, or the name that the host gave.",
  "AuditEvent.at": "Unix epoch ms.",
  "AuditEvent.changes": "Every changed field; never a secret.",
  "AuditEvent.changes.after": "Value after the change; absent if it has none.",
  "AuditEvent.changes.before": "Value before the change; absent if it had none.",
  "AuditEvent.changes.field": "Name of the field that changed.",
  "AuditEvent.erased":
    "True if the identity of this entry was erased: then its `changes` contain only ids, numbers and instants.",
  "AuditEvent.identityId": "Id of the identity that the change is about.",
  "AuditEvent.keyId": "Id of the key that the change is about.",
  "AuditEvent.resourceId": "Id of the changed record.",
  "AuditEvent.type": "What changed, and how.",
  "AuditEvent.unreadable":
    "True if the record, or one that it refers to, was damaged: `changes` has no values from before then.",
  "CreatedKey.key": "The new secret. No other response contains it.",
  "CreatedKey.keyId": "Id of the new key; not a secret.",
  "keys.verifyKey.requestId": REQUEST_ID,
  "keys.exchangeKey.audience": "`aud` of the token: the service that accepts it.",
  "keys.exchangeKey.requestId": REQUEST_ID,
  "keys.exchangeKey.ttl":
    "How long the token is valid: 1,000 to 900,000 ms, or a text such as `5m`; 300,000 if omitted.",
  "keys.reserve.requestId": REQUEST_ID,
  "identities.deleteIdentity.keys":
    "What happens to the keys of the identity, or in the response, what happened to them; `unlink` if omitted.",
  "keys.createKey.create":
    "Creates roles and permissions that do not exist, in the same write; new roles have no permissions.",
  "permissions.ensurePermissions.created": "Names of the permissions that this request created.",
  "HeldPermissions.permissions":
    "All direct permissions of the key now, ascending by name; not those through roles.",
  "HeldRoles.roles": "All roles of the key now, ascending by name.",
  "Identity.remaining":
    "Remaining uses, shared by the keys that take their uses from the identity; includes a due refill. Absent if unlimited.",
  "Key.enabled": "Derived: false once the key is switched off, expired or exhausted.",
  "Key.ownerId": "Deprecated: use the `externalId` of the identity.",
  "Key.permissions": "Names of all permissions of the key, direct and through roles.",
  "Key.plaintext": "The secret: only with `decrypt`, and only of a recoverable key.",
  "Key.ratelimit": "The limit named `default`.",
  "Key.ratelimits": "Every limit of the key, including the one named `default`.",
  "Key.remaining": "Remaining uses, including a due refill; absent if unlimited.",
  "Key.roles": "Names of the roles of the key.",
  "Key.start": "First characters of the secret, to tell keys apart.",
  "Key.expiresWhenUnused":
    "How long the key lives without a valid verification, in ms; forever if absent.",
  "Key.ipWhitelist":
    "Addresses and CIDR ranges from which the key may be used. If its API has a list too, both must contain the address. Absent for anywhere.",
  "Key.tags": "Labels of the key; absent if none.",
  "Key.usesFrom":
    "`identity` if the key takes its uses from its identity; absent if it has its own.",
  "NamedRatelimitState.remaining": "Units that a request could take now.",
  "NotFoundVerdict.checks": "Dry run only: every check, in order.",
  "NotFoundVerdict.code": "Why the key is refused.",
  "RatelimitState.remaining": "Units that a request could take now.",
  "RefusedVerdict.missing":
    "`INSUFFICIENT_PERMISSIONS` only: the part of the query that is not met.",
  "RefusedVerdict.retryAfterMs":
    "`RATE_LIMITED` and `USAGE_EXCEEDED` only: ms until the same verification would pass if nothing else happens; absent if waiting does not help.",
  "Reservation.keyId": "Id of the key that the reservation was made with.",
  "Reservation.ratelimits": "Held units of limits, and slots.",
  "Reservation.ratelimits.cost": "Held units.",
  "Reservation.uses": "Held uses.",
  "CreatedRootKey.key": "The new secret. No other response contains it.",
  "CreatedRootKey.rootKeyId": "Id of the new root key; not a secret.",
  "RepeatedRootKey.secretShownBefore": "The secret was in the first response, and is not kept.",
  "RootKey.enabled": "False once the root key is switched off or has expired.",
  "RootKey.permissions": "Permissions of the root key.",
  "RootKey.rotatedTo": "Id of the root key that it was rotated to; absent if it was not.",
  "RootKey.start": "First characters of the secret, to tell root keys apart.",
  "rootKeys.createRootKey.permissions":
    "Permissions of the root key, such as `api.*.verify_key`: only ones that you hold yourself.",
  "rootKeys.updateRootKey.permissions":
    "All permissions of the root key from now on: only ones that you hold yourself.",
  "rootKeys.updateRootKey.expires":
    "Unix epoch ms at which the root key expires; `null` for never.",
  "rootKeys.updateRootKey.name": "For people; `null` for none.",
  "rootKeys.rotateRootKey.graceMs":
    "How long the old root key stays valid: ms, or a text such as `1h`; 0 if omitted.",
  "Role.permissions": "Names of the permissions of the role.",
  "SettledReservation.remaining": "Uses left afterwards; `null` if unlimited.",
  "SettledReservation.taken": "What was taken in the end.",
  "SettledReservation.taken.ratelimits": "Units of each limit, except concurrent ones.",
  "SettledReservation.taken.ratelimits.cost": "Taken units.",
  "SettledReservation.taken.uses": "Taken uses.",
  "ValidVerdict.code": "Always `VALID`.",
  "ValidVerdict.enabled": "Always true, even if this verification took the last use.",
  "ValidVerdict.ratelimit": "The limit named `default`, else the first.",
  "ValidVerdict.reservationId":
    "Id of the reservation, or of the held slots of concurrent limits. Absent if nothing is held.",
  "VerdictCheck.apiId": "Id of the API that the key belongs to.",
  "VerdictCheck.cost": "What the verification would charge.",
  "VerdictCheck.exceeded":
    "For a limit with `shadow`: whether it would refuse. The check passes nevertheless.",
  "VerdictCheck.from": "Whether the uses are those of the key or of its identity.",
  "VerdictCheck.ipAddress": "The given address, in its canonical form.",
  "VerdictCheck.missing": "The part of the query that is not met.",
  "VerdictCheck.nextRefillAt": "Unix epoch ms of the next refill.",
  "VerdictCheck.passed": "Whether the check passed.",
  "VerdictCheck.remaining":
    "Remaining uses or units before the charge; absent if uses are unlimited.",
  "VerdictCheck.retryAfterMs":
    "Ms until the check would pass if nothing else happens; absent if it passed or if waiting does not help.",
  "VerdictCheck.wanted": "Id of the requested API.",
  "VerificationBucket.outcomes":
    "Number of verifications by verdict; verdicts that did not occur are absent. `SHADOW_LIMITED` counts those in which a limit with `shadow` had no room; each is counted under its own verdict too.",
  "VerificationBucket.rateLimited": "Number of `RATE_LIMITED` verdicts.",
  "VerificationBucket.success": "Number of `VALID` verdicts.",
  "VerificationBucket.time": "Start of the bucket, Unix epoch ms.",
  "VerificationBucket.usageExceeded": "Number of `USAGE_EXCEEDED` verdicts.",
  ...ofEach(["apis.listKeys", "keys.listKeys"], KEY_LIST),
  "apis.updateApi.ipWhitelist":
    "The whole list of addresses and CIDR ranges, IPv4 and IPv6, from which the keys may be used; `null` or an empty list for anywhere.",
  "audit.listAuditEvents.actor": "Only changes by this actor, as in `actor` of the entries.",
  "audit.listAuditEvents.identityId": "Only changes about this identity.",
  "audit.listAuditEvents.keyId": "Only changes about this key.",
  "audit.pruneAuditEvents.before": "Unix epoch ms, not later than now: older entries are deleted.",
  "audit.pruneAuditEvents.deleted": "Number of deleted entries.",
  "events.notice.cursor": "Position to continue from; absent if there are no more events to write.",
  "events.notice.limit": "Maximum number of expiries that this call looks at.",
  "events.notice.noticed": "Number of events that were written.",
  "events.readEvents.after":
    "The `cursor` of the previous page; without it, the page begins with the earliest event.",
  "events.readEvents.cursor": "Position to continue from: send it as `after`.",
  "events.readEvents.types": "Only events of these types.",
  "error.code": "Why the request was refused.",
  "error.docs": "URL of a page that explains this code, if the service has one.",
  "error.details": "Names and figures of the reason.",
  "error.details.field": "Field of the input that it is about.",
  "error.details.keyId": "Id of the key that it is about.",
  "error.details.limit":
    "The bound that was exceeded; for permissions, the names and wildcards that may be given.",
  "error.details.reserved": "What the reservation holds: the most that it can be settled with.",
  "error.details.reserved.uses": "Uses that the reservation holds.",
  "error.details.reserved.ratelimits": "Units that the reservation holds.",
  "error.details.reserved.ratelimits.name": "Name of the limit.",
  "error.details.reserved.ratelimits.cost": "Units of the limit that the reservation holds.",
  "error.issues": "Everything that is wrong with the input, never a value.",
  "error.issues.path": "Path of the wrong field, joined by dots; empty for the input as a whole.",
  "error.reason": "Why, if the code has several causes.",
  ...ofEach(
    ["identities.createIdentity", "identities.listIdentities", "identities.updateIdentity"],
    { environment: "Accepted, without effect." },
  ),
  "identities.createIdentity.remaining":
    "Uses shared by the keys that take their uses from the identity; unlimited if omitted.",
  "identities.getIdentity.identityId": "Id of the identity; takes precedence over `externalId`.",
  "identities.updateIdentity.identityId": "Id of the identity; takes precedence over `externalId`.",
  "identities.updateIdentity.meta": "The whole metadata; `{}` clears it.",
  "identities.updateIdentity.ratelimits":
    "All limits that its keys share; an empty list clears them.",
  "identities.updateIdentity.refill": "How uses are restored; `null` for never.",
  "identities.updateIdentity.remaining":
    "Remaining uses from now on; `null` for unlimited, which also removes the refill.",
  "keys.addPermissions.permissions":
    "Direct permissions to add, as names or as objects with `id` or `name`.",
  "keys.addRoles.roles": "Roles to add, as names or as objects with `id` or `name`.",
  "keys.createKey.prefix": "First part of the secret, before its `_`.",
  "keys.createKey.ipWhitelist":
    "Addresses and CIDR ranges from which the key may be used. If its API has a list too, both must contain the address.",
  "keys.createKey.tags": "Labels to find the key by. Every verdict on it has them as `keyTags`.",
  "keys.getVerifications.apiId": "Statistics of all keys of this API.",
  "keys.getVerifications.end": "Unix epoch ms, not included; now if omitted.",
  "keys.getVerifications.externalId":
    "Statistics of all keys of this identity, by your own id of the user.",
  "keys.getVerifications.identityId": "Statistics of all keys of this identity.",
  "keys.getVerifications.keyId": "Statistics of this key.",
  "keys.getVerifications.ownerId": "Deprecated: use `externalId`, which takes precedence.",
  "keys.getVerifications.start": "Unix epoch ms, included; 30 days before `end` if omitted.",
  "keys.listReservations.identityId": "Reservations of all keys of this identity.",
  "keys.listReservations.keyId": "Reservations of this key.",
  "keys.removePermissions.permissions":
    "Direct permissions to remove, as names or as objects with `id` or `name`.",
  "keys.removePermissions.permissions.create":
    "Accepted, without effect: removing creates nothing.",
  "keys.removeRoles.roles": "Roles to remove, as names or as objects with `id` or `name`.",
  "keys.removeRoles.roles.create": "Accepted, without effect: removing creates nothing.",
  "keys.setPermissions.permissions":
    "All direct permissions from now on, as names or as objects with `id` or `name`; an empty list clears them.",
  "keys.setRoles.roles":
    "All roles from now on, as names or as objects with `id` or `name`; an empty list clears them.",
  "keys.settleReservation.ratelimits":
    "Units that the work took of each limit, by name; a limit that is left out is charged all that was reserved.",
  "keys.settleReservation.ratelimits.cost": "Units that the work took.",
  "keys.settleReservation.remaining":
    "How many uses the work took; all that were reserved if omitted.",
  "keys.settleReservation.remaining.cost": "Uses that the work took.",
  ...ofEach(["keys.updateKey", "keys.updateKeys"], UPDATE),
  ...ofEach(["keys.verifyKey", "keys.explainKey", "keys.exchangeKey", "keys.reserve"], QUESTION),
  "keys.updateKeys.keyIds": "Ids of the keys, 1 to 100.",
  "keys.updateRemaining.externalId":
    "Your own id of the user of the identity whose uses are changed.",
  "keys.updateRemaining.identityId": "Id of the identity whose uses are changed.",
  "keys.updateRemaining.keyId": "Id of the key whose own uses are changed.",
  "keys.updateRemaining.remaining": "Remaining uses afterwards; absent if unlimited.",
  "keys.updateRemaining.value":
    "The new number of uses, or by how many they change; `null` with `set` for unlimited.",
  "keys.whoami.enabled": "Derived: false once the key is switched off, expired or exhausted.",
  "keys.whoami.remaining": "Remaining uses, including a due refill; absent if unlimited.",
  "migrations.createKeys.createdAt":
    "Unix epoch ms at which the key was created elsewhere, not later than now; now if omitted.",
  "migrations.createKeys.hash": "Hash of the secret; required if `plaintext` is omitted.",
  "migrations.createKeys.hash.value": "The hash, in the encoding that `variant` names.",
  "migrations.createKeys.plaintext":
    "The secret itself, 1 to 512 printable ASCII characters; not with `hash`.",
  "migrations.createKeys.prefix":
    "First part of the secret, before its `_`: shown if neither `start` nor `plaintext` is given.",
  "migrations.createKeys.recoverable":
    "Stores the secret encrypted, so that it can be shown again; needs `plaintext` and `encrypt_key`.",
  "migrations.createKeys.ipWhitelist":
    "Addresses and CIDR ranges from which the key may be used, in addition to those of its API.",
  "migrations.createKeys.tags": "Labels to find the key by.",
  "migrations.createKeys.start":
    "First characters of the secret, to tell keys apart; taken from `plaintext` if omitted.",
  "permissions.createRole.permissions": "Names of the permissions of the role; they must exist.",
  "permissions.setRolePermissions.permissions":
    "Names of all permissions of the role from now on; they must exist. An empty list clears them.",
  "refill.interval.every":
    "Length of the interval, counted from the creation of the key or identity: at least a minute, in ms or as a text such as `90m`.",
  "ratelimit.duration": GIVEN_DURATION,
  "ratelimits.duration": GIVEN_DURATION,
  "ratelimits.limit.async": "Accepted, without effect: every limit is exact.",
  "ratelimits.limit.cost": "Units to take; 0 only looks.",
  "ratelimits.limit.duration": GIVEN_DURATION,
  "ratelimits.limit.meta": "Accepted, without effect.",
  "ratelimits.limit.remaining": "Remaining units in the window.",
  "ratelimits.limit.resources": "Accepted, without effect.",
  "ratelimits.limit.success": "Whether the limit admits it. If false, nothing was taken.",
  "ratelimits.resetLimit.duration":
    "Length of the window, in ms or as a text such as `30s`, `1m`, `1h` or `1d`: of a namespace, or of a limit of the key that only verifications name.",
  "ratelimits.resetLimit.identifier": "What the limit of the namespace counts for.",
  "ratelimits.resetLimit.identityId": "Id of the identity whose limit is emptied.",
  "ratelimits.resetLimit.keyId": "Id of the key whose limit is emptied.",
  "ratelimits.resetLimit.name": "Name of the limit of the key or identity.",
  "ratelimits.resetLimit.namespace": "Namespace of a limit without a key.",
};
