import { badField, unmet } from "../../errors.js";
import {
  chainCreatedAt,
  fromWireKeyLimit,
  type KeyRateLimit,
  type KeyRecord,
  labelsOf,
} from "../../records/key.js";
import {
  decideUpdate,
  idleExpiresAt,
  isExpired,
  startsTooLate,
} from "../../rules/keys/lifecycle.js";
import { putsOffRotated } from "../../rules/keys/rotation.js";
import { DEFAULT_LIMIT } from "../../rules/rate-limit.js";
import { countedFrom } from "../../rules/refill.js";
import { usageAt } from "../../store/counters.js";
import type { EpochMs } from "../../time.js";
import { effectiveUses, type LoadedKey } from "../../verification/loaded-key.js";
import { settingOfUses, type UsesSetting, usesAreOfIdentity } from "../uses-and-refill.js";
import { type KeyUpdate, STARTS_TOO_LATE } from "./settings.js";

/** What an update writes, except what it refers to by name: identity, roles and permissions. */
export interface KeyUpdatePlan extends Omit<UsesSetting, "refill"> {
  readonly key: KeyRecord;
  /** Whether only uses change. They are not configuration: processes that have cached the key need not read it again. */
  readonly keepsVersion: boolean;
  /** Whether the limits are set, so that the windows of removed limits are deleted. */
  readonly setsLimits: boolean;
}

/** Decides what an update writes, given the current key. Throws like updateKey. */
export function planKeyUpdate(loaded: LoadedKey, update: KeyUpdate, now: EpochMs): KeyUpdatePlan {
  const { key } = loaded;
  refuseUses(loaded, update);
  const given = update.refill && countedFrom(update.refill, chainCreatedAt(key));
  const { refill, ...uses } = settingOfUses(
    { usage: loaded.usage, refill: key.refill },
    { remaining: update.remaining, refill: given },
    now,
  );
  const ratelimits = limitsAfter(key.ratelimits, update);
  const expires = expiryAfter(loaded, update, now);
  const startsAt = orKept(update.startsAt, key.startsAt);
  // An idle key that is enabled would expire again at once, so its span restarts.
  const comesBack =
    update.enabled === true &&
    update.expiresWhenUnused === undefined &&
    isExpired(idleExpiresAt(key, loaded.lastUsedAt), now);
  const isConcerned = update.startsAt !== undefined || update.expires !== undefined;
  if (isConcerned && startsTooLate(startsAt, expires)) throw badField("startsAt", STARTS_TOO_LATE);
  return {
    key: {
      ...key,
      ...labelsOf((label) => orKept(update[label], key[label])),
      meta: orKept(update.meta, key.meta),
      tags: orKept(update.tags, key.tags) ?? [],
      uncountedTags: update.tags === null ? [] : key.uncountedTags,
      ipWhitelist: orKept(update.ipWhitelist, key.ipWhitelist) ?? [],
      expires,
      startsAt,
      expiresWhenUnused: orKept(update.expiresWhenUnused, key.expiresWhenUnused),
      idleFrom: comesBack ? now : key.idleFrom,
      enabled: update.enabled ?? key.enabled,
      refill: orKept(refill, key.refill),
      ratelimits: ratelimits ?? key.ratelimits,
      usesFrom: update.usesFrom ?? key.usesFrom,
      updatedAt: now,
    },
    ...uses,
    keepsVersion: setsUsesAlone(update) && refill === undefined,
    setsLimits: ratelimits !== undefined,
  };
}

/** The `externalId` of the key's owner after the update: undefined keeps the owner, null unlinks. */
export function ownerAfter({ externalId, ownerId }: KeyUpdate): string | null | undefined {
  return externalId === undefined ? ownerId : externalId;
}

function setsUsesAlone(update: KeyUpdate): boolean {
  return Object.entries(update).every(
    ([field, value]) => field === "remaining" || value === undefined,
  );
}

function orKept<Value>(wanted: Value | undefined, kept: Value): Value {
  return wanted === undefined ? kept : wanted;
}

/** A key that takes its uses from its identity has none of its own to set, and needs an identity. */
function refuseUses({ key, identity }: LoadedKey, update: KeyUpdate): void {
  const setsUses = update.remaining !== undefined || update.refill !== undefined;
  if ((update.usesFrom ?? key.usesFrom) === "identity") {
    if (setsUses) throw usesAreOfIdentity();
    const owner = ownerAfter(update);
    const losesIdentity = owner === null || (owner === undefined && identity === null);
    const isConcerned = update.usesFrom !== undefined || owner !== undefined;
    if (losesIdentity && isConcerned)
      throw badField("usesFrom", 'needs an identity if it is "identity": set externalId');
  }
}

/** Uses left, before the update, in the counter that the key will use; null: unlimited, or of another identity, which was not read. */
function remainingAfterwards(loaded: LoadedKey, update: KeyUpdate, now: EpochMs): number | null {
  const usesFrom = update.usesFrom ?? loaded.key.usesFrom;
  const owner = ownerAfter(update);
  const isMoved = owner !== undefined && owner !== loaded.identity?.externalId;
  if (usesFrom === "identity" && isMoved) return null;
  const { usage, refill } = effectiveUses({ ...loaded, key: { ...loaded.key, usesFrom } });
  return usageAt(usage, refill, now).remaining;
}

function expiryAfter(loaded: LoadedKey, update: KeyUpdate, now: EpochMs): EpochMs | null {
  const { key } = loaded;
  const remaining = remainingAfterwards(loaded, update, now);
  const transition = decideUpdate(
    { enabled: key.enabled, expires: key.expires, remaining },
    { enabled: update.enabled, expires: update.expires, remaining: update.remaining },
    now,
  );
  if (transition.kind === "refuse-exhausted") {
    const whose =
      (update.usesFrom ?? key.usesFrom) === "key" ? "remaining" : "its identity's remaining";
    throw unmet("no-uses-left", `a key without uses left cannot be enabled: set ${whose} above 0`);
  }
  const { expires } = transition;
  if (putsOffRotated(key.rotatedTo, key.expires, expires))
    throw unmet(
      "key-rotated",
      "this key was rotated: its expiry cannot be postponed, use its successor",
    );
  return expires;
}

/** `ratelimits` replaces all limits; then `ratelimit` sets the one named `default`, or removes it if null, and keeps the others. */
function limitsAfter(
  current: readonly KeyRateLimit[],
  { ratelimit, ratelimits }: KeyUpdate,
): readonly KeyRateLimit[] | undefined {
  if (ratelimit === undefined && ratelimits === undefined) return undefined;
  const base = ratelimits === undefined ? current : (ratelimits ?? []).map(fromWireKeyLimit);
  if (ratelimit === undefined) return base;
  const others = base.filter(({ name }) => name !== DEFAULT_LIMIT);
  return ratelimit === null ? others : [fromWireKeyLimit(ratelimit), ...others];
}
