import type { KeyRateLimit, RateLimitType } from "../../records/key.js";
import { DEFAULT_LIMIT } from "../../rules/default-limit.js";
import { keyState } from "../../rules/lifecycle.js";
import type { Metadata } from "../../rules/metadata.js";
import { dueRefill } from "../../rules/refill.js";
import { applyRefill } from "../../store/counters.js";
import type { EpochMs, SpanMs } from "../../time.js";
import { effectiveUses } from "../../verification/effective-uses.js";
import type { LoadedKey } from "../../verification/loaded-key.js";
import { publicIdentity, type VerifiedKey } from "../../verification/verdict.js";
import { type RefillView, toRefillView } from "../refill-view.js";
import { toWireKeyLimits, type WireKeyLimit } from "./limits.js";

/** A key as listings show it. Fields without a value are absent. Instants and spans in ms. */
export interface KeyView {
  readonly id: string;
  readonly start: string;
  readonly apiId: string;
  readonly workspaceId: string;
  readonly createdAt: EpochMs;
  /** Role names, ascending. */
  readonly roles: readonly string[];
  /** Effective permissions: direct and through roles, ascending. */
  readonly permissions: readonly string[];
  /** Derived: false once the key is switched off, expired or exhausted. */
  readonly enabled: boolean;
  readonly name?: string;
  /** Deprecated: the `externalId` of the identity. */
  readonly ownerId?: string;
  readonly meta?: Metadata;
  readonly updatedAt?: EpochMs;
  readonly expires?: EpochMs;
  /** As of now: a refill that has fallen due shows. Absent when unlimited. */
  readonly remaining?: number;
  readonly refill?: RefillView;
  readonly ratelimit?: {
    readonly async: boolean;
    readonly type?: RateLimitType;
    readonly limit: number;
    readonly duration: SpanMs;
  };
  /** Every limit of the key, the one named `default` too. Absent where it has none. */
  readonly ratelimits?: readonly WireKeyLimit[];
  /** `identity`: `remaining` and `refill` are those that all keys of the identity share. Absent for the key's own. */
  readonly usesFrom?: "identity";
  /** The key that this one took the place of. */
  readonly rotatedFrom?: string;
  /** The key that took the place of this one. */
  readonly rotatedTo?: string;
  /** Instant of the latest valid verification; a few seconds behind, as statistics are. */
  readonly lastUsedAt?: EpochMs;
  readonly environment?: string;
  readonly identity?: NonNullable<VerifiedKey["identity"]>;
  /** The secret of a recoverable key, with `decrypt: true`. */
  readonly plaintext?: string;
  /** In a list for an export: what is shown nowhere else. `enabled` is the switch, `permissions` are the key's own. */
  readonly stored?: {
    /** Base64url of SHA-256; under a pepper its id, a dot, and that of HMAC-SHA-256. */
    readonly hash: string;
    readonly enabled: boolean;
    readonly permissions: readonly string[];
    readonly recoverable: boolean;
  };
  /** In a list: why the secret of a recoverable key could not be decrypted. */
  readonly plaintextError?: PlaintextError;
}

/** Why the secret of a recoverable key is not shown in a list. */
export type PlaintextError = "no-vault" | "vault-key-missing" | "damaged";

/** A key as listings show it, as of `now`. Shows a due refill without writing it. */
export function toKeyView(loaded: LoadedKey, now: EpochMs): KeyView {
  const { key, identity, roles, permissions } = loaded;
  const { usage, refill } = effectiveUses(loaded);
  const { remaining, lastRefillAt } = applyRefill(usage, dueRefill(refill, now));
  const view: Mutable<KeyView> = {
    id: key.id,
    start: key.start,
    apiId: key.apiId,
    workspaceId: key.workspaceId,
    createdAt: key.createdAt,
    roles,
    permissions,
    enabled: keyState({ enabled: key.enabled, expires: key.expires, remaining }, now) === "enabled",
  };
  // Assigned one by one: with spreads a view takes twice as long, and a page has a hundred of them.
  if (key.name !== null) view.name = key.name;
  if (key.meta !== null) view.meta = key.meta;
  if (key.updatedAt !== null) view.updatedAt = key.updatedAt;
  if (loaded.lastUsedAt !== null) view.lastUsedAt = loaded.lastUsedAt;
  if (key.expires !== null) view.expires = key.expires;
  if (key.usesFrom === "identity") view.usesFrom = key.usesFrom;
  if (remaining !== null) view.remaining = remaining;
  if (refill !== null) view.refill = toRefillView(refill, lastRefillAt);
  if (key.ratelimits.length > 0) {
    const byDefault = key.ratelimits.find(({ name }) => name === DEFAULT_LIMIT);
    if (byDefault !== undefined) view.ratelimit = toDefaultLimit(byDefault);
    view.ratelimits = toWireKeyLimits(key.ratelimits);
  }
  if (key.rotatedFrom !== null) view.rotatedFrom = key.rotatedFrom;
  if (key.rotatedTo !== null) view.rotatedTo = key.rotatedTo;
  if (key.environment !== null) view.environment = key.environment;
  if (identity !== null) {
    view.ownerId = identity.externalId;
    view.identity = publicIdentity(identity);
  }
  return view;
}

type Mutable<Shape> = { -readonly [Field in keyof Shape]: Shape[Field] };

function toDefaultLimit({
  async,
  type,
  limit,
  duration,
}: KeyRateLimit): NonNullable<KeyView["ratelimit"]> {
  return type === null ? { async, limit, duration } : { async, type, limit, duration };
}

/** What an export shows beside. */
export function toStored({ key, direct }: LoadedKey): NonNullable<KeyView["stored"]> {
  return {
    hash: key.hash,
    enabled: key.enabled,
    permissions: direct.permissions.map(({ name }) => name),
    recoverable: key.sealedSecret !== null,
  };
}
