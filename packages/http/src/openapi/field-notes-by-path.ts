/**
 * What a field stands for where its name alone does not tell: `<shared schema or operation>.<field>`, the fields on the way
 * to it between them, or the last of these names where that is enough (`error.code`). A field that an operation takes and one
 * of the same name that it answers share a note, unless the answer is a shared schema.
 */
export const NOTES_BY_PATH: Readonly<Record<string, string>> = {
  "AuditEvent.actor": "Who did it: the id of a root key, or what the host says.",
  "AuditEvent.at": "Unix epoch ms.",
  "AuditEvent.changes": "Every field that changed; never a secret.",
  "AuditEvent.changes.after": "Its value since; absent where it has none.",
  "AuditEvent.changes.before": "Its value before; absent where it had none.",
  "AuditEvent.changes.field": "Name of the field that changed.",
  "AuditEvent.identityId": "Id of the identity that it concerns.",
  "AuditEvent.keyId": "Id of the key that it concerns.",
  "AuditEvent.resourceId": "Id of what was changed.",
  "AuditEvent.type": "What was done to what.",
  "CreatedKey.key": "The new secret, handed out this once.",
  "CreatedKey.keyId": "Id of the new key; not a secret.",
  "HeldPermissions.permissions":
    "All permissions that the key has itself now, ascending by name; not those through roles.",
  "HeldRoles.roles": "All roles that the key has now, ascending by name.",
  "Identity.remaining":
    "Uses left for all keys that draw from it, with a refill that is due; absent when unlimited.",
  "Key.enabled": "Derived: false once the key is switched off, expired or used up.",
  "Key.ownerId": "Deprecated: the `externalId` of the identity.",
  "Key.permissions": "Names of all permissions that the key has, directly and through roles.",
  "Key.plaintext": "The secret: only where `decrypt` asked for it and the key is recoverable.",
  "Key.ratelimit": "The limit named `default`.",
  "Key.ratelimits": "Every limit of the key, the one named `default` too.",
  "Key.remaining": "Uses left, with a refill that is due; absent when unlimited.",
  "Key.roles": "Names of the roles that the key has.",
  "Key.start": "First characters of the secret, to tell keys apart.",
  "Key.usesFrom":
    "`identity` where the key draws from the uses of its identity; absent for its own.",
  "KeyRatelimit.async": "Accepted and kept; every limit is exact.",
  "KeyRatelimit.type": "Accepted and kept; every limit is exact.",
  "NamedKeyRatelimit.async": "Accepted and kept; every limit is exact.",
  "NamedKeyRatelimit.type": "Accepted and kept; every limit is exact.",
  "NamedRatelimitState.remaining": "Units left in the window.",
  "NotFoundVerdict.checks": "Of a dry run: every check, in the order in which they are made.",
  "NotFoundVerdict.code": "Why the key is not let through.",
  "RatelimitState.remaining": "Units left in the window.",
  "RefusedVerdict.checks": "Of a dry run: every check, in the order in which they are made.",
  "RefusedVerdict.code": "Why the key is not let through.",
  "RefusedVerdict.enabled": "Derived: false once the key is switched off, expired or used up.",
  "RefusedVerdict.ownerId": "Deprecated: the `externalId` of the identity.",
  "RefusedVerdict.permissions":
    "Names of all permissions that the key has, directly and through roles.",
  "RefusedVerdict.ratelimit":
    "The limit that refused, else the one named `default`, else the first.",
  "RefusedVerdict.ratelimits": "Every limit that was looked at, in that order.",
  "RefusedVerdict.remaining": "Uses left afterwards; absent when unlimited.",
  "RefusedVerdict.roles": "Names of the roles that the key has.",
  "Role.permissions": "Names of the permissions that the role gives.",
  "ValidVerdict.checks": "Of a dry run: every check, in the order in which they are made.",
  "ValidVerdict.code": "Why the key is let through.",
  "ValidVerdict.enabled": "True, also where this verification took the last use.",
  "ValidVerdict.ownerId": "Deprecated: the `externalId` of the identity.",
  "ValidVerdict.permissions":
    "Names of all permissions that the key has, directly and through roles.",
  "ValidVerdict.ratelimit": "The limit named `default`, else the first.",
  "ValidVerdict.ratelimits": "Every limit that was looked at, in that order.",
  "ValidVerdict.remaining": "Uses left afterwards; absent when unlimited.",
  "ValidVerdict.roles": "Names of the roles that the key has.",
  "VerdictCheck.apiId": "Id of the API that the key belongs to.",
  "VerdictCheck.cost": "What the verification would take.",
  "VerdictCheck.from": "Whose uses they are.",
  "VerdictCheck.ipAddress": "The address that was given, in its one form.",
  "VerdictCheck.missing": "What was asked for in vain.",
  "VerdictCheck.nextRefillAt": "Unix epoch ms of the next refill.",
  "VerdictCheck.passed": "Whether this check lets the key through.",
  "VerdictCheck.remaining":
    "Uses or units left before the cost is taken; uses are absent when unlimited.",
  "VerdictCheck.retryAfterMs":
    "Ms until the check passes if nothing else happens; absent where it has passed or waiting does not help.",
  "VerdictCheck.wanted": "Id of the API that was asked about.",
  "VerificationBucket.outcomes":
    "Number of verifications by verdict; a verdict that was not given is absent.",
  "VerificationBucket.rateLimited": "Number of verdicts `RATE_LIMITED`.",
  "VerificationBucket.success": "Number of verdicts `VALID`.",
  "VerificationBucket.time": "Start of the bucket, Unix epoch ms.",
  "VerificationBucket.usageExceeded": "Number of verdicts `USAGE_EXCEEDED`.",
  "apis.listApis.limit": "Most items of the page.",
  "apis.listKeys.externalId": "Only keys of this user, by your own id of it.",
  "apis.listKeys.limit": "Most items of the page.",
  "apis.listKeys.ownerId": "Deprecated: `externalId`, which wins.",
  "apis.listKeys.total":
    "Exact number of all live keys of the API, whatever the page and the filter.",
  "apis.updateApi.ipWhitelist":
    "The whole list of addresses and CIDR ranges, IPv4 and IPv6, that keys may be used from; `null` or an empty one for anywhere.",
  "audit.listAuditEvents.actor": "Only what this one did, as `actor` of the entries has it.",
  "audit.listAuditEvents.identityId": "Only what concerns this identity.",
  "audit.listAuditEvents.keyId": "Only what concerns this key.",
  "audit.listAuditEvents.limit": "Most items of the page.",
  "audit.pruneAuditEvents.before": "Unix epoch ms, not later than now: what is older is forgotten.",
  "audit.pruneAuditEvents.deleted": "How many entries were forgotten.",
  "error.code": "Why the request was refused.",
  "error.docs": "Where this code is explained.",
  "error.issues": "Everything that is wrong with the input, never a value of it.",
  "error.issues.path":
    "Field that is wrong, members joined by dots; empty for the input as a whole.",
  "identities.createIdentity.environment": "Accepted, without effect.",
  "identities.createIdentity.remaining":
    "Uses for all keys that draw from it; unlimited unless given.",
  "identities.getIdentity.identityId": "Id of the identity; wins over `externalId`.",
  "identities.listIdentities.environment": "Accepted, without effect.",
  "identities.listIdentities.limit": "Most items of the page.",
  "identities.updateIdentity.environment": "Accepted, without effect.",
  "identities.updateIdentity.identityId":
    "Id of the identity that is changed; wins over `externalId`.",
  "identities.updateIdentity.meta": "The whole metadata; `{}` for none.",
  "identities.updateIdentity.ratelimits": "All limits that its keys share; an empty list for none.",
  "identities.updateIdentity.refill": "How uses are restored; `null` for not at all.",
  "identities.updateIdentity.remaining":
    "Uses left from now on; `null` for unlimited, which takes the refill away too.",
  "keys.addPermissions.permissions":
    "Permissions that the key gets itself, as names or as objects with `id` or `name`.",
  "keys.addRoles.roles": "Roles that the key gets, as names or as objects with `id` or `name`.",
  "keys.createKey.enabled": "Whether the key is switched on.",
  "keys.createKey.ownerId": "Deprecated: `externalId`, which wins.",
  "keys.createKey.permissions":
    "Names of permissions that the key gets itself; they have to exist.",
  "keys.createKey.prefix": "What comes before the `_` of the secret.",
  "keys.createKey.ratelimit": "The limit named `default`, which every verification takes from.",
  "keys.createKey.ratelimits":
    "Limits of the key by name; `default` only where `ratelimit` is not given.",
  "keys.createKey.remaining": "Uses that the key has; unlimited unless given.",
  "keys.createKey.roles": "Names of roles that the key gets; they have to exist.",
  "keys.getVerifications.apiId": "Counts the verifications of all keys of this API.",
  "keys.getVerifications.end": "Unix epoch ms, not included; up to now unless given.",
  "keys.getVerifications.externalId": "The identity, by your own id of the user.",
  "keys.getVerifications.identityId": "Counts the verifications of all keys of this identity.",
  "keys.getVerifications.keyId": "Counts the verifications of this key.",
  "keys.getVerifications.ownerId": "Deprecated: `externalId`, which wins.",
  "keys.getVerifications.start": "Unix epoch ms, included; 30 days before `end` unless given.",
  "keys.removePermissions.permissions":
    "Permissions that the key itself loses, as names or as objects with `id` or `name`.",
  "keys.removePermissions.permissions.create":
    "Accepted, without effect: nothing is made where something is taken away.",
  "keys.removeRoles.roles": "Roles that the key loses, as names or as objects with `id` or `name`.",
  "keys.removeRoles.roles.create":
    "Accepted, without effect: nothing is made where something is taken away.",
  "keys.setPermissions.permissions":
    "All permissions that the key has itself from now on; an empty list for none. Taken as names, or as objects with `id` or `name`.",
  "keys.setRoles.roles":
    "All roles that the key has from now on; an empty list for none. Taken as names, or as objects with `id` or `name`.",
  "keys.updateKey.enabled": "Switches the key on or off.",
  "keys.updateKey.environment": "A label of yours, such as `live` or `test`; `null` for none.",
  "keys.updateKey.expires": "Unix epoch ms from which the key is refused; `null` for never.",
  "keys.updateKey.externalId": "Your own id of the user whom the key is for; `null` for nobody.",
  "keys.updateKey.meta": "The whole metadata; `null` for none.",
  "keys.updateKey.name": "Name to know the key by; `null` for none.",
  "keys.updateKey.ownerId": "Deprecated: `externalId`, which wins.",
  "keys.updateKey.permissions":
    "All permissions that the key has itself from now on; an empty list for none. Taken as names, or as objects with `id` or `name`.",
  "keys.updateKey.ratelimit": "The limit named `default`; `null` for none. Other limits stay.",
  "keys.updateKey.ratelimits":
    "All limits of the key by name; `null` or an empty list for none. `default` only where `ratelimit` is not given.",
  "keys.updateKey.refill": "How uses are restored; `null` for not at all.",
  "keys.updateKey.remaining":
    "Uses left from now on; `null` for unlimited, which takes the refill away too.",
  "keys.updateKey.roles":
    "All roles that the key has from now on; an empty list for none. Taken as names, or as objects with `id` or `name`.",
  "keys.updateRemaining.remaining": "Uses left afterwards; absent when unlimited.",
  "keys.updateRemaining.value":
    "How many uses: the new number, or by how many; `null` with `set` for unlimited.",
  "keys.verifyKey.apiId": "Id of the API that the key has to belong to.",
  "keys.verifyKey.authorization": "What the key has to be permitted.",
  "keys.verifyKey.ipAddress":
    "Address of whoever presents the key; needed where the API has an `ipWhitelist`.",
  "keys.verifyKey.ratelimit": "Deprecated: the limit named `default` among `ratelimits`.",
  "keys.verifyKey.ratelimit.cost":
    "Units that are taken of the limit named `default`; 0 only looks.",
  "keys.verifyKey.ratelimits":
    "Limits that are taken from, beside those that apply by themselves: of the key or its identity by name, or of this call alone with `limit` and `duration`.",
  "keys.verifyKey.ratelimits.cost": "Units that are taken; 0 only looks.",
  "keys.verifyKey.remaining": "What is taken of the uses; one use unless given.",
  "keys.verifyKey.remaining.cost":
    "Uses that are taken; 0 takes none, and a key with none left is refused all the same.",
  "keys.verifyKey.requestId":
    "A text of yours: a retry with the same one gets the same verdict and is charged once, for 10 minutes.",
  "keys.whoami.enabled": "Derived: false once the key is switched off, expired or used up.",
  "keys.whoami.remaining": "Uses left, with a refill that is due; absent when unlimited.",
  "migrations.createKeys.enabled": "Whether the key is switched on.",
  "migrations.createKeys.hash":
    "Hash of the secret, where nothing more of it is known; needed where `plaintext` is not given.",
  "migrations.createKeys.hash.value": "The hash, written as `variant` says.",
  "migrations.createKeys.ownerId": "Deprecated: `externalId`, which wins.",
  "migrations.createKeys.permissions":
    "Names of permissions that the key gets itself; they have to exist.",
  "migrations.createKeys.plaintext":
    "The secret itself, 1 to 512 printable ASCII characters; not with `hash`.",
  "migrations.createKeys.prefix":
    "What the secret begins with, up to its `_`: shown where neither `start` nor `plaintext` is given.",
  "migrations.createKeys.ratelimit":
    "The limit named `default`, which every verification takes from.",
  "migrations.createKeys.ratelimits":
    "Limits of the key by name; `default` only where `ratelimit` is not given.",
  "migrations.createKeys.recoverable":
    "Keeps the secret encrypted, so that it can be read back; needs `plaintext` and `encrypt_key`.",
  "migrations.createKeys.remaining": "Uses that the key has; unlimited unless given.",
  "migrations.createKeys.roles": "Names of roles that the key gets; they have to exist.",
  "migrations.createKeys.start":
    "First characters of the secret, to tell keys apart; of a `plaintext` they are taken from it unless given.",
  "permissions.createRole.permissions":
    "Names of permissions that the role gives; they have to exist.",
  "permissions.setRolePermissions.permissions":
    "Names of all permissions that the role gives from now on; an empty list for none. They have to exist.",
  "ratelimit.async": "Accepted and kept; every limit is exact.",
  "ratelimit.type": "Accepted and kept; every limit is exact.",
  "ratelimits.async": "Accepted and kept; every limit is exact.",
  "ratelimits.limit.async": "Accepted, without effect: every limit is exact.",
  "ratelimits.limit.cost": "Units that are taken; 0 only looks.",
  "ratelimits.limit.meta": "Accepted, without effect.",
  "ratelimits.limit.remaining": "Units left in the window.",
  "ratelimits.limit.resources": "Accepted, without effect.",
  "ratelimits.limit.success": "Whether there was room. False: nothing was taken.",
  "ratelimits.type": "Accepted and kept; every limit is exact.",
};
