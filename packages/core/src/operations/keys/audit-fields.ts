import type { AuditFields } from "../../audit/entry.js";
import {
  isAsyncByType,
  type KeyLabel,
  type KeyRateLimit,
  type KeyRecord,
  labelsOf,
} from "../../records/key.js";
import { unlessEmpty } from "../../records/record-type.js";
import { DEFAULT_LIMIT, toWireFigures } from "../../rules/rate-limit.js";
import { refillSetting } from "../../rules/refill.js";
import { type LoadedKey, namesOf } from "../../verification/loaded-key.js";

/** Fields of a key's audit entry that are not in its record. Undefined: not part of the change. */
export interface KeyLinks {
  /** Whether its secret is stored encrypted. */
  readonly recoverable: boolean;
  readonly externalId?: string | null | undefined;
  readonly remaining?: number | null | undefined;
  readonly roles?: readonly string[] | undefined;
  readonly permissions?: readonly string[] | undefined;
}

/** The audit fields of a key, except its uses. */
export function linksOf({ key, identity, direct }: LoadedKey): KeyLinks {
  return {
    recoverable: key.sealedSecret !== null,
    externalId: identity?.externalId,
    roles: namesOf(direct.roles),
    permissions: namesOf(direct.permissions),
  };
}

/** Fields of a record that the audit log shows unchanged. No others reach it. */
type AuditedField =
  | KeyLabel
  | "apiId"
  | "meta"
  | "tags"
  | "ipWhitelist"
  | "expires"
  | "startsAt"
  | "expiresWhenUnused"
  | "idleFrom"
  | "enabled"
  | "usesFrom"
  | "refill"
  | "ratelimits"
  | "rotatedFrom"
  | "rotatedTo";

/** The part of a key that reaches the audit log. It cannot hold a secret, sealed or hashed: a type test ensures this. */
export type AuditedKey = Pick<KeyRecord, AuditedField>;

/** All settings of a key that is created or deleted, without defaults. */
export function wholeKeyFields(key: AuditedKey, links: KeyLinks): AuditFields {
  return {
    ...keyFields(key, links),
    enabled: key.enabled ? null : false,
    usesFrom: key.usesFrom === "key" ? null : key.usesFrom,
  };
}

/** The settings of a key in the words of the HTTP contract, for the state before or after a change. */
export function keyFields(key: AuditedKey, links: KeyLinks): AuditFields {
  return {
    apiId: key.apiId,
    ...labelsOf((label) => key[label]),
    externalId: links.externalId,
    meta: key.meta,
    tags: unlessEmpty(key.tags),
    ipWhitelist: unlessEmpty(key.ipWhitelist),
    expires: key.expires,
    startsAt: key.startsAt,
    expiresWhenUnused: key.expiresWhenUnused,
    idleFrom: key.idleFrom,
    enabled: key.enabled,
    usesFrom: key.usesFrom,
    remaining: links.remaining,
    refill: key.refill && refillSetting(key.refill),
    ratelimits: unlessEmpty(key.ratelimits.map(limitFields)),
    roles: unlessEmpty(links.roles ?? []),
    permissions: unlessEmpty(links.permissions ?? []),
    recoverable: links.recoverable || null,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
  };
}

/** As in an input, without defaults. */
function limitFields(limit: KeyRateLimit) {
  const { name, type, async, autoApply } = limit;
  return {
    ...(name !== DEFAULT_LIMIT && { name }),
    ...toWireFigures(limit),
    ...(type !== null && { type }),
    ...(async !== isAsyncByType(type) && { async }),
    ...(autoApply && name !== DEFAULT_LIMIT && { autoApply }),
  };
}
