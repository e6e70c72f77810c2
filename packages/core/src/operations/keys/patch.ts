import { noteChange } from "../../audit/entry.js";
import { badRequest, LatchkeyError } from "../../errors.js";
import type { LoggedChange } from "../../records/audit-entry.js";
import {
  DEFAULT_LIMIT,
  fromWireKeyLimit,
  type KeyRateLimit,
  type LoadedKey,
} from "../../records/key.js";
import { decideUpdate } from "../../rules/lifecycle.js";
import type { Metadata } from "../../rules/metadata.js";
import { dueRefill, type Refill } from "../../rules/refill.js";
import type { UsesOwner } from "../../rules/usage.js";
import { applyRefill } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";
import { drawnUses } from "../../verification/effective-uses.js";
import type { OperationContext } from "../context.js";
import { identityOnDemand } from "../identities/upsert.js";
import { drawsFromIdentity } from "../usage-refusal.js";
import { settingOfUses } from "../usage-setting.js";
import { keyFacts } from "./audit-fields.js";
import { describePermissions, describeRoles, type GrantItem, grantLabels } from "./grant-input.js";
import type { KeyPatch } from "./write.js";

type WireLimit = Parameters<typeof fromWireKeyLimit>[0];

/** What is to become of a key. Undefined leaves a field as it is, null clears it. */
export interface WantedKey {
  readonly name?: string | null | undefined;
  readonly ownerId?: string | null | undefined;
  readonly externalId?: string | null | undefined;
  readonly meta?: Metadata | null | undefined;
  readonly expires?: EpochMs | null | undefined;
  readonly remaining?: number | null | undefined;
  readonly refill?: Refill | null | undefined;
  readonly ratelimit?: WireLimit | null | undefined;
  readonly ratelimits?: readonly WireLimit[] | null | undefined;
  readonly usesFrom?: UsesOwner | undefined;
  readonly enabled?: boolean | undefined;
  readonly environment?: string | null | undefined;
  readonly roles?: readonly GrantItem[] | undefined;
  readonly permissions?: readonly GrantItem[] | undefined;
}

/** A guarded write, and what is to be told of it. */
export interface DescribedPatch {
  readonly patch: KeyPatch;
  readonly changes: readonly LoggedChange[];
}

/**
 * Decides what a change of a key writes, given the key as it is.
 *
 * @throws LatchkeyError `PRECONDITION_FAILED` and `BAD_REQUEST` as updateKey says.
 */
export function describeKeyPatch(
  context: OperationContext,
  loaded: LoadedKey,
  wanted: WantedKey,
  now: EpochMs,
): DescribedPatch {
  const { key } = loaded;
  refuseUses(loaded, wanted);
  const uses = settingOfUses({ usage: loaded.usage, refill: key.refill }, wanted, now);
  const expiresAt = expiryAfter(loaded, wanted, now);
  const owner = ownerAfter(wanted);
  const newOwner = typeof owner === "string" ? identityOnDemand(context, owner, now) : owner;
  const roles = wanted.roles && describeRoles(context, wanted.roles, now);
  const permissions = wanted.permissions && describePermissions(context, wanted.permissions, now);
  const patch: KeyPatch = {
    name: wanted.name,
    identity: newOwner === null ? null : newOwner?.identity,
    meta: wanted.meta,
    expiresAt: expiresAt === key.expiresAt ? undefined : expiresAt,
    switchedOn: wanted.enabled,
    refill: uses.refill,
    ratelimits: limitsAfter(key.ratelimits, wanted),
    environment: wanted.environment,
    usesFrom: wanted.usesFrom,
    usage: uses.usage,
    grants: (roles ?? permissions) && {
      roles: roles?.references,
      permissions: permissions?.references,
    },
    updatedAt: now,
  };
  const madeOnDemand = [
    ...(newOwner ? [newOwner.change] : []),
    ...(roles?.changes ?? []),
    ...(permissions?.changes ?? []),
  ];
  const note = updateNote(context, loaded, wanted, patch, uses.remainingBefore, now);
  return { patch, changes: [...madeOnDemand, note] };
}

/** A key that draws from its identity has no uses of its own to set, and needs an identity. */
function refuseUses({ key, identity }: LoadedKey, wanted: WantedKey): void {
  const setsUses = wanted.remaining !== undefined || wanted.refill !== undefined;
  if ((wanted.usesFrom ?? key.usesFrom) === "identity") {
    if (setsUses) throw drawsFromIdentity();
    const owner = ownerAfter(wanted);
    const losesIdentity = owner === null || (owner === undefined && identity === null);
    const isConcerned = wanted.usesFrom !== undefined || owner !== undefined;
    if (losesIdentity && isConcerned)
      throw badRequest([
        { path: "usesFrom", message: 'needs an identity where it is "identity": give externalId' },
      ]);
  }
}

/** The caller's own id of whom the key is to belong to: undefined leaves it, null unlinks. */
function ownerAfter({ externalId, ownerId }: WantedKey): string | null | undefined {
  return externalId === undefined ? ownerId : externalId;
}

/**
 * The uses that the key will draw from, as they are: what the update itself sets is not among them. Null where they are
 * those of another identity than now, which was not read.
 */
function remainingDrawn(loaded: LoadedKey, wanted: WantedKey, now: EpochMs): number | null {
  const usesFrom = wanted.usesFrom ?? loaded.key.usesFrom;
  const owner = ownerAfter(wanted);
  const isMoved = owner !== undefined && owner !== loaded.identity?.externalId;
  if (usesFrom === "identity" && isMoved) return null;
  const { usage, refill } = drawnUses({ ...loaded, key: { ...loaded.key, usesFrom } });
  return applyRefill(usage, dueRefill(refill, now)).remaining;
}

function expiryAfter(loaded: LoadedKey, wanted: WantedKey, now: EpochMs): EpochMs | null {
  const { key } = loaded;
  const remaining = remainingDrawn(loaded, wanted, now);
  const transition = decideUpdate(
    { switchedOn: key.switchedOn, expiresAt: key.expiresAt, remaining },
    { enabled: wanted.enabled, expiresAt: wanted.expires, remaining: wanted.remaining },
    now,
  );
  if (transition.kind === "refuse-exhausted") {
    const whose =
      (wanted.usesFrom ?? key.usesFrom) === "key" ? "remaining" : "its identity's remaining";
    throw new LatchkeyError(
      "PRECONDITION_FAILED",
      `a key without uses left cannot be enabled: set ${whose} above 0`,
    );
  }
  const { expiresAt } = transition;
  const isProlonged = key.expiresAt !== null && (expiresAt === null || expiresAt > key.expiresAt);
  if (key.rotatedTo !== null && isProlonged) {
    throw new LatchkeyError(
      "PRECONDITION_FAILED",
      "this key was rotated: its expiry cannot be put off, use its successor",
    );
  }
  return expiresAt;
}

/** `ratelimits` is the whole set; `ratelimit` then sets the one named `default`, and leaves the others. */
function limitsAfter(
  current: readonly KeyRateLimit[],
  { ratelimit, ratelimits }: WantedKey,
): readonly KeyRateLimit[] | undefined {
  if (ratelimit === undefined && ratelimits === undefined) return undefined;
  const base = ratelimits === undefined ? current : (ratelimits ?? []).map(fromWireKeyLimit);
  if (ratelimit === undefined) return base;
  const others = base.filter(({ name }) => name !== DEFAULT_LIMIT);
  return ratelimit === null ? others : [fromWireKeyLimit(ratelimit), ...others];
}

function updateNote(
  context: OperationContext,
  { key, identity, direct }: LoadedKey,
  wanted: WantedKey,
  patch: KeyPatch,
  remainingBefore: number | null,
  now: EpochMs,
): LoggedChange {
  const names = (grants: readonly { readonly name: string }[]) => grants.map(({ name }) => name);
  const externalId = identity?.externalId;
  const before = keyFacts(key, {
    externalId,
    // As it was when this was decided: verifications move it without a word.
    remaining: wanted.remaining === undefined ? undefined : remainingBefore,
    roles: wanted.roles && names(direct.roles),
    permissions: wanted.permissions && names(direct.permissions),
  });
  const { usage: _usage, grants: _grants, identity: newOwner, ...fields } = patch;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const after = keyFacts(
    { ...key, ...Object.fromEntries(given) },
    {
      externalId: newOwner === undefined ? externalId : newOwner?.externalId,
      remaining: wanted.remaining,
      roles: wanted.roles && grantLabels(wanted.roles, direct.roles),
      permissions: wanted.permissions && grantLabels(wanted.permissions, direct.permissions),
    },
  );
  return noteChange(context, {
    type: "key.updated",
    at: now,
    resourceId: key.id,
    keyId: key.id,
    identityId: newOwner?.id ?? identity?.id ?? null,
    before,
    after,
  });
}
