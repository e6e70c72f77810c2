import {
  KEY_LABELS,
  type KeyLabel,
  type KeyLabels,
  type KeyRateLimit,
  labelsOf,
  type RateLimitType,
} from "../../records/key.js";
import { idleExpiresAt } from "../../rules/keys/lifecycle.js";
import type {
  DefaultTypes,
  LatchkeyTypes,
  LimitName,
  PermissionName,
} from "../../rules/latchkey-types.js";
import { DEFAULT_LIMIT, toWireFigures, type WireLimitFigures } from "../../rules/rate-limit.js";
import { usageAt } from "../../store/counters.js";
import type { EpochMs, SpanMs } from "../../time.js";
import { effectiveUses, type LoadedKey, namesOf } from "../../verification/loaded-key.js";
import { isEnabled, publicIdentity, type VerifiedKey } from "../../verification/verdict.js";
import { type RefillView, toRefillView } from "../uses-and-refill.js";
import type { KeySettingsInput } from "./settings.js";

/** A key. Fields without a value are absent; times and durations are in ms. */
export interface KeyView<Types extends LatchkeyTypes = DefaultTypes>
  extends Partial<KeyLabels>,
    Pick<VerifiedKey<Types>, "apiId" | "ownerId" | "meta" | "expires" | "startsAt" | "identity"> {
  /** `key_…`; not a secret. */
  readonly id: string;
  /** Start of the secret: its prefix and a few characters. */
  readonly start: string;
  /** Id of the workspace. */
  readonly workspaceId: string;
  /** Unix epoch ms. */
  readonly createdAt: EpochMs;
  /** Role names, ascending. */
  readonly roles: readonly string[];
  /** Effective permissions: direct and through roles, ascending. */
  readonly permissions: readonly PermissionName<Types>[];
  /** False before `startsAt`, and once the key is disabled, has expired or has no uses left. */
  readonly enabled: boolean;
  /** Its tags; absent: none. */
  readonly tags?: readonly string[];
  /** Addresses and CIDR ranges that it may be used from, normalised; absent: any. The list of its API applies too. */
  readonly ipWhitelist?: readonly string[];
  /** Unix epoch ms of the latest update, including updates of uses. */
  readonly updatedAt?: EpochMs;
  /** It expires after this many ms without a valid verification; absent: never. */
  readonly expiresWhenUnused?: SpanMs;
  /** With `expiresWhenUnused`: Unix epoch ms at which it expires unless it is used; a few seconds behind. */
  readonly idleExpiresAt?: EpochMs;
  /** Uses left now, including a due refill: whole and >= 0. Absent when unlimited. */
  readonly remaining?: number;
  /** Uses that reservations and leases hold, not part of `remaining`; absent: none. */
  readonly reserved?: number;
  /** How its uses are restored; absent: not at all. */
  readonly refill?: RefillView;
  /** The limit named `default`; absent: none. */
  readonly ratelimit?: Omit<WireKeyLimit, "name" | "autoApply">;
  /** Every limit of the key, `default` included; absent: none. */
  readonly ratelimits?: readonly WireKeyLimit<Types>[];
  /** `identity`: `remaining` and `refill` are those that all keys of the identity share. Absent for the key's own. */
  readonly usesFrom?: "identity";
  /** The key that this one replaced. */
  readonly rotatedFrom?: string;
  /** The key that replaced this one. */
  readonly rotatedTo?: string;
  /** Unix epoch ms of the latest valid verification; a few seconds behind. */
  readonly lastUsedAt?: EpochMs;
  /** The secret of a recoverable key, with `decrypt: true`. */
  readonly plaintext?: string;
  /** Only in a list for an export. */
  readonly stored?: StoredKey;
  /** In a list: why the secret of a recoverable key could not be decrypted. */
  readonly plaintextError?: PlaintextError;
}

/** A limit of a key. */
export interface WireKeyLimit<Types extends LatchkeyTypes = DefaultTypes> extends WireLimitFigures {
  /** Name of the limit. */
  readonly name: LimitName<Types>;
  /** Whether it applies to every verification. */
  readonly autoApply: boolean;
  /** Stored without effect: every limit is exact. */
  readonly async: boolean;
  /** Stored without effect: every limit is exact. */
  readonly type?: RateLimitType;
}

/** What only an export shows of a key. */
export interface StoredKey {
  /** Base64url of the SHA-256 of the secret; under a pepper its id, a dot, and that of the HMAC-SHA-256. */
  readonly hash: string;
  /** The switch alone, regardless of expiry and uses. */
  readonly enabled: boolean;
  /** Names of its direct permissions, ascending. */
  readonly permissions: readonly string[];
  /** Whether its secret is stored encrypted. */
  readonly recoverable: boolean;
}

/** Why the secret of a recoverable key is not shown in a list. */
export type PlaintextError = (typeof PLAINTEXT_ERRORS)[number];

export const PLAINTEXT_ERRORS = [
  "no-vault",
  "vault-key-missing",
  "pepper-missing",
  "damaged",
] as const;

/** A key as lists show it, at `now`. Includes a due refill without writing it. */
export function toKeyView(loaded: LoadedKey, now: EpochMs): KeyView {
  const { key, identity, roles, permissions } = loaded;
  const idleAt = idleExpiresAt(key, loaded.lastUsedAt);
  const { usage, refill } = effectiveUses(loaded);
  const { remaining, lastRefillAt, holds } = usageAt(usage, refill, now);
  const view: Mutable<KeyView> = {
    id: key.id,
    start: key.start,
    apiId: key.apiId,
    workspaceId: key.workspaceId,
    createdAt: key.createdAt,
    roles,
    permissions,
    enabled: isEnabled(loaded, remaining, now),
  };
  // Assigned one by one: with spreads, a view takes twice as long, and a page has a hundred views.
  for (const label in KEY_LABELS) {
    const text = key[label as KeyLabel];
    if (text !== null) view[label as KeyLabel] = text;
  }
  if (key.meta !== null) view.meta = key.meta;
  if (key.tags.length > 0) view.tags = key.tags;
  if (key.ipWhitelist.length > 0) view.ipWhitelist = key.ipWhitelist;
  if (key.updatedAt !== null) view.updatedAt = key.updatedAt;
  if (loaded.lastUsedAt !== null) view.lastUsedAt = loaded.lastUsedAt;
  if (key.expires !== null) view.expires = key.expires;
  if (key.startsAt !== null) view.startsAt = key.startsAt;
  if (key.expiresWhenUnused !== null) view.expiresWhenUnused = key.expiresWhenUnused;
  if (idleAt !== null) view.idleExpiresAt = idleAt;
  if (key.usesFrom === "identity") view.usesFrom = key.usesFrom;
  if (remaining !== null) view.remaining = remaining;
  if (holds !== undefined && holds.uses > 0) view.reserved = holds.uses;
  if (refill !== null) view.refill = toRefillView(refill, lastRefillAt);
  if (key.ratelimits.length > 0) {
    const byDefault = key.ratelimits.find(({ name }) => name === DEFAULT_LIMIT);
    if (byDefault !== undefined) view.ratelimit = toDefaultLimit(byDefault);
    view.ratelimits = key.ratelimits.map(toWireKeyLimit);
  }
  if (key.rotatedFrom !== null) view.rotatedFrom = key.rotatedFrom;
  if (key.rotatedTo !== null) view.rotatedTo = key.rotatedTo;
  if (identity !== null) {
    view.ownerId = identity.externalId;
    view.identity = publicIdentity(identity);
  }
  return view;
}

/** The `enabled` that {@link toKeyView} shows. */
export function isShownEnabled(loaded: LoadedKey, now: EpochMs): boolean {
  const { usage, refill } = effectiveUses(loaded);
  return isEnabled(loaded, usageAt(usage, refill, now).remaining, now);
}

function toWireKeyLimit(limit: KeyRateLimit): WireKeyLimit {
  const { name, autoApply, async, type } = limit;
  const wire = { name, ...toWireFigures(limit), autoApply, async };
  return type === null ? wire : { ...wire, type };
}

type Mutable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] };

function toDefaultLimit(limit: KeyRateLimit): NonNullable<KeyView["ratelimit"]> {
  const { async, type } = limit;
  const wire = { async, ...toWireFigures(limit) };
  return type === null ? wire : { type, ...wire };
}

export function toStored({ key, direct }: LoadedKey): StoredKey {
  return {
    hash: key.hash,
    enabled: key.enabled,
    permissions: namesOf(direct.permissions),
    recoverable: key.sealedSecret !== null,
  };
}

export type ShownSettings<Types extends LatchkeyTypes> = Omit<
  KeySettingsInput<Types>,
  "apiId" | "ownerId" | "ratelimit" | "enabled" | "recoverable"
>;

/**
 * Extracts the settings from a key of getKey or listKeys, for createKey and updateKey. Leaves out what cannot be set, uses of the identity,
 * and `enabled`, which is also false for a used-up or expired key. Permissions from roles are included: createKey gives them to the new key
 * directly, updateKey ignores them.
 */
export function keySettings<Types extends LatchkeyTypes>(
  shown: KeyView<Types>,
): ShownSettings<Types> {
  const { ownerId: externalId, meta, tags, roles, permissions, expires, ratelimits } = shown;
  const { ipWhitelist, startsAt, expiresWhenUnused, usesFrom, remaining, refill } = shown;
  const uses = usesFrom === "identity" ? { usesFrom } : { remaining, refill };
  const labels = labelsOf((label) => shown[label]);
  const times = { expires, startsAt, expiresWhenUnused };
  const rest = { externalId, meta, tags, ipWhitelist, roles, permissions, ratelimits };
  return { ...labels, ...rest, ...times, ...uses };
}
