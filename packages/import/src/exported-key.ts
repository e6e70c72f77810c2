import {
  type IdentityView,
  type KeyLabels,
  type KeyView,
  labelsOf,
  pepperIdOf,
} from "@latchkey/core";

/** An exported key, which an import can read back. Times and durations are in ms. Fields without a value are absent. */
export interface ExportedKey extends Partial<KeyLabels> {
  /** `pepper`: id of the pepper that the hash is keyed with, as HMAC-SHA-256. */
  readonly hash: {
    readonly value: string;
    readonly variant: "sha256_base64url" | "hmac_sha256_base64url";
    readonly pepper?: string;
  };
  readonly id: string;
  readonly apiId: string;
  /** Name of its API. */
  readonly api: string;
  readonly start?: string;
  readonly externalId?: string;
  /** Data of its owner, if there is any. */
  readonly identity?: Pick<IdentityView, "remaining" | "refill"> &
    Partial<Pick<IdentityView, "meta" | "ratelimits">>;
  readonly meta?: KeyView["meta"];
  readonly tags?: readonly string[];
  readonly ipWhitelist?: readonly string[];
  /** Names of its roles. */
  readonly roles?: readonly string[];
  /** Names of its direct permissions. */
  readonly permissions?: readonly string[];
  readonly createdAt: number;
  readonly updatedAt?: number;
  readonly lastUsedAt?: number;
  /** Also when it has expired because nobody used it. */
  readonly expires?: number;
  readonly startsAt?: number;
  readonly expiresWhenUnused?: number;
  /** The switch alone, even if the key is expired or used up. */
  readonly enabled: boolean;
  readonly remaining?: number;
  readonly refill?: KeyView["refill"];
  readonly ratelimits?: KeyView["ratelimits"];
  readonly usesFrom?: "identity";
  readonly rotatedFrom?: string;
  readonly rotatedTo?: string;
}

/** The exported form of a listed key at an instant. It has no secret, not even an encrypted one. */
export function exportedKey(
  view: KeyView,
  api: string,
  owner: IdentityView | null,
  now: number,
): ExportedKey {
  const { stored } = view;
  if (stored === undefined) throw new TypeError("the key was not listed for an export");
  // The uses and refill of such a key belong to its owner.
  const isShared = view.usesFrom === "identity";
  const identity = owner === null ? null : ownerSettings(owner);
  return withoutAbsent({
    hash: exportedHash(stored.hash),
    id: view.id,
    apiId: view.apiId,
    api,
    start: view.start || undefined,
    ...labelsOf((label) => view[label]),
    externalId: view.identity?.externalId,
    identity: identity !== null && Object.keys(identity).length > 0 ? identity : undefined,
    meta: view.meta,
    tags: view.tags,
    ipWhitelist: view.ipWhitelist,
    roles: unlessEmpty(view.roles),
    permissions: unlessEmpty(stored.permissions),
    createdAt: view.createdAt,
    updatedAt: view.updatedAt,
    lastUsedAt: view.lastUsedAt,
    expires: expiryOf(view, now),
    startsAt: view.startsAt,
    expiresWhenUnused: view.expiresWhenUnused,
    enabled: stored.enabled,
    remaining: isShared ? undefined : view.remaining,
    refill: isShared ? undefined : view.refill,
    ratelimits: view.ratelimits,
    usesFrom: view.usesFrom,
    rotatedFrom: view.rotatedFrom,
    rotatedTo: view.rotatedTo,
  });
}

/** When it expires. A past idle expiry becomes this instant: otherwise an import would start the span anew, and the key would work. */
function expiryOf({ expires, idleExpiresAt }: KeyView, now: number): number | undefined {
  if (idleExpiresAt === undefined || idleExpiresAt > now) return expires;
  return Math.min(idleExpiresAt, expires ?? idleExpiresAt);
}

/** The hash as it is stored: alone, or after the id of its pepper and a dot. */
function exportedHash(stored: string): ExportedKey["hash"] {
  const pepper = pepperIdOf(stored);
  return pepper === null
    ? { value: stored, variant: "sha256_base64url" }
    : { value: stored.slice(pepper.length + 1), variant: "hmac_sha256_base64url", pepper };
}

function ownerSettings({ meta, ratelimits, remaining, refill }: IdentityView) {
  return withoutAbsent({
    meta: Object.keys(meta).length === 0 ? undefined : meta,
    ratelimits: unlessEmpty(ratelimits),
    remaining,
    refill,
  });
}

type Present<Value> = { readonly [Field in keyof Value]: Exclude<Value[Field], undefined> };

function withoutAbsent<Value extends object>(value: Value): Present<Value> {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries) as Present<Value>;
}

function unlessEmpty<Item>(items: readonly Item[]): readonly Item[] | undefined {
  return items.length === 0 ? undefined : items;
}
