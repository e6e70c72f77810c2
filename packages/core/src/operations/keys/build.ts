import { type ChangeNote, noteChange } from "../../audit/entry.js";
import type { LoggedChange } from "../../records/audit-entry.js";
import { fromWireKeyLimit, type KeyRateLimit } from "../../records/key.js";
import type { EpochMs } from "../../time.js";
import type { OperationContext } from "../context.js";
import { identityOnDemand } from "../identities/upsert.js";
import { keyFacts } from "./audit-fields.js";
import type { KeySettings } from "./settings.js";
import type { GrantReference, NewKey } from "./write.js";

/** What the making of a key answers: the only place where a secret is ever handed out. */
export interface CreatedKey {
  /** Not a secret; needed to update or delete the key. */
  readonly keyId: string;
  /** The secret. Pass it on and keep no copy. */
  readonly key: string;
}

/** What a new key is known by, which follows from its secret alone. */
export interface KeyMark {
  readonly keyId: string;
  readonly hash: string;
  readonly start: string;
  readonly sealedSecret: string | null;
}

/** A key to be written, and what is to be told of it. */
export interface DescribedKey {
  readonly newKey: NewKey;
  readonly changes: readonly LoggedChange[];
}

/** Puts together all that is written of a new key in one step. */
export function describeNewKey(
  context: OperationContext,
  settings: KeySettings,
  mark: KeyMark,
  now: EpochMs,
): DescribedKey {
  const { workspaceId } = context;
  const { externalId = settings.ownerId, roles = [], permissions = [] } = settings;
  const key = {
    id: mark.keyId,
    workspaceId,
    apiId: settings.apiId,
    hash: mark.hash,
    start: mark.start,
    name: settings.name ?? null,
    identityId: null,
    meta: settings.meta ?? null,
    createdAt: now,
    updatedAt: null,
    expiresAt: settings.expires ?? null,
    switchedOn: settings.enabled,
    refill: settings.refill ?? null,
    ratelimits: keyLimitsOf(settings),
    environment: settings.environment ?? null,
    usesFrom: settings.usesFrom,
    rotatedFrom: null,
    rotatedTo: null,
    countersId: null,
    sealedSecret: mark.sealedSecret,
    version: 1,
  };
  const owner = externalId === undefined ? null : identityOnDemand(context, externalId, now);
  const remaining = settings.remaining ?? null;
  const note: ChangeNote = {
    type: "key.created",
    at: now,
    resourceId: key.id,
    keyId: key.id,
    identityId: owner?.identity.id ?? null,
    after: keyFacts(key, { externalId, remaining, roles, permissions }),
  };
  return {
    newKey: {
      key,
      usage: { remaining, refilledAt: now },
      identity: owner?.identity ?? null,
      grants: { roles: roles.map(existing), permissions: permissions.map(existing) },
    },
    changes: [...(owner === null ? [] : [owner.change]), noteChange(context, note)],
  };
}

/** The limits that a key is given: `ratelimit` is the one named `default`. */
export function keyLimitsOf({
  ratelimit,
  ratelimits = [],
}: Pick<KeySettings, "ratelimit" | "ratelimits">): readonly KeyRateLimit[] {
  const all = ratelimit === undefined ? ratelimits : [ratelimit, ...ratelimits];
  return all.map(fromWireKeyLimit);
}

function existing(name: string): GrantReference<never> {
  return { kind: "name", name, orCreate: null };
}
