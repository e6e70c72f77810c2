import type { JsonValue } from "../lib/json.js";
import type { UsesOwner } from "../rules/keys/spend.js";
import type { Metadata } from "../rules/metadata.js";
import {
  DEFAULT_LIMIT,
  fromWireFigures,
  isAutoApplied,
  type RateLimit,
  toWireFigures,
  type WireLimitInput,
} from "../rules/rate-limit.js";
import { type Refill, refillSetting } from "../rules/refill.js";
import type { EpochMs, SpanMs } from "../time.js";
import { type BodyReader, readFigures, readRefill } from "./body.js";
import { defineRecord, type RecordHead, unlessEmpty, type VersionedHead } from "./record-type.js";

/** Texts of a key that have a meaning only for you. */
export interface KeyLabels {
  /** For people: 1 to 256 characters. */
  readonly name: string;
  /** Your own label, such as `live` or `test`: at most 256 characters. */
  readonly environment: string;
}

/** One of {@link KeyLabels}. */
export type KeyLabel = keyof KeyLabels;

export interface KeyLabelRule {
  /** Fewest and most characters. */
  readonly length: readonly [min: number, max: number];
  /** Its description in the documentation. */
  readonly about: string;
}

/**
 * Every label of a key. Inputs, records, the audit log, imports, exports, command-line options and SQL views are generated from these rows;
 * a new label is a row here and in the codec of a key.
 */
export const KEY_LABELS: { readonly [Label in KeyLabel]: KeyLabelRule } = {
  name: { length: [1, 256], about: "Name of the key." },
  environment: { length: [0, 256], about: "Your own label, such as `live` or `test`." },
};

const LABELS = Object.keys(KEY_LABELS) as readonly KeyLabel[];

/** Every label of a key, with its result of `textOf`. */
export function labelsOf<Value>(
  textOf: (label: KeyLabel, rule: KeyLabelRule) => Value,
): Record<KeyLabel, Value> {
  const labels = {} as Record<KeyLabel, Value>;
  for (const label of LABELS) labels[label] = textOf(label, KEY_LABELS[label]);
  return labels;
}

/** A tag that verifications are counted for; its id is the tag. Copies include its counts. */
export type TagRecord = RecordHead;

/** Tags: found by id, which is the tag. */
export const tagType = defineRecord<TagRecord>({
  kind: "tag",
  write: () => ({}),
  read: (_body, { id, workspaceId }) => ({ id, workspaceId }),
});

/** Stored and shown without effect: every limit is exact. */
export type RateLimitType = "fast" | "consistent";

/** A limit of a key. The one named {@link DEFAULT_LIMIT} applies to every verification by itself. */
export interface KeyRateLimit extends RateLimit {
  readonly type: RateLimitType | null;
  readonly async: boolean;
  /** Whether it applies to every verification by itself, and not only to those that name it. */
  readonly autoApply: boolean;
}

/** The configuration of a key. Its counters live apart: uses left, and the windows of its limits. */
export interface KeyRecord extends Readonly<Record<keyof KeyLabels, string | null>>, VersionedHead {
  readonly apiId: string;
  /** Hash of the secret; the secret itself is stored nowhere. */
  readonly hash: string;
  /** Leading characters of the secret, few enough to give nothing away. */
  readonly start: string;
  readonly identityId: string | null;
  readonly meta: Metadata | null;
  /** Addresses and CIDR ranges that it may be used from, besides those of its API, each in canonical form; empty: from anywhere. */
  readonly ipWhitelist: readonly string[];
  /** The owner's tags for it, besides its name; each once. */
  readonly tags: readonly string[];
  /** Those tags that are not counted by themselves, because the workspace had too many. */
  readonly uncountedTags: readonly string[];
  readonly createdAt: EpochMs;
  /**
   * For the successor of a rotation: when the first key of the chain was created. Null for all others, and for successors from before this
   * field.
   */
  readonly chainCreatedAt: EpochMs | null;
  /** Instant of the latest update, also of uses, or null before the first. Verifications and refills do not change it. */
  readonly updatedAt: EpochMs | null;
  /** Instant at which the key expires, or null for never. */
  readonly expires: EpochMs | null;
  /** Instant at which the key starts, or null for at once. */
  readonly startsAt: EpochMs | null;
  /** How long it lives without a use; null: it never expires for lack of use. See `rules/keys/lifecycle.ts`. */
  readonly expiresWhenUnused: SpanMs | null;
  /** Instant from which it counts as unused if that is not its creation: it was imported, or enabled again. Otherwise null. */
  readonly idleFrom: EpochMs | null;
  /** The switch alone. What callers see as `enabled` is derived: see `rules/keys/lifecycle.ts`. */
  readonly enabled: boolean;
  readonly refill: Refill | null;
  /** Names are unique. */
  readonly ratelimits: readonly KeyRateLimit[];
  /** `identity`: from the counter that all keys of the identity share; the key's own counter is then unused. */
  readonly usesFrom: UsesOwner;
  /** The key that was rotated into this one, or null. */
  readonly rotatedFrom: string | null;
  /** The one key that this one was rotated into, or null. */
  readonly rotatedTo: string | null;
  /** The keys of a rotated chain share their counters: the id of the first of them. Null for a key with counters of its own. */
  readonly sharedCountersId: string | null;
  /** The secret, encrypted, for a recoverable key. */
  readonly sealedSecret: string | null;
  /** For a key that was imported under a pepper: marks that all imports of one secret have in common. See `SecretHasher.importMarks`. */
  readonly importMarks: readonly string[];
  /** Ids of the roles that the key was given directly. Deleted roles count for nothing. */
  readonly roles: readonly string[];
  /** Ids of the permissions that the key was given directly. Deleted permissions count for nothing. */
  readonly permissions: readonly string[];
}

const LIMIT_TYPES: readonly RateLimitType[] = ["fast", "consistent"];
const USES_OWNERS: readonly UsesOwner[] = ["key", "identity"];

/** Keys: found by id or by hash; listed by API, and within it by identity. */
export const keyType = defineRecord<KeyRecord>({
  kind: "key",
  link: ({ identityId }) => identityId,
  write: (key) => ({
    apiId: key.apiId,
    hash: key.hash,
    start: key.start,
    name: key.name,
    meta: key.meta,
    createdAt: key.createdAt,
    chainCreatedAt: key.chainCreatedAt,
    updatedAt: key.updatedAt,
    expires: key.expires,
    startsAt: key.startsAt,
    expiresWhenUnused: key.expiresWhenUnused,
    idleFrom: key.idleFrom,
    disabled: key.enabled ? undefined : true,
    refill: key.refill && refillSetting(key.refill),
    ratelimits: unlessEmpty(key.ratelimits.map(writeLimit)),
    environment: key.environment,
    tags: unlessEmpty(key.tags),
    uncountedTags: unlessEmpty(key.uncountedTags),
    ipWhitelist: unlessEmpty(key.ipWhitelist),
    usesFrom: key.usesFrom === "key" ? undefined : key.usesFrom,
    rotatedFrom: key.rotatedFrom,
    rotatedTo: key.rotatedTo,
    sharedCountersId: key.sharedCountersId,
    sealedSecret: key.sealedSecret,
    importMarks: unlessEmpty(key.importMarks),
    roles: unlessEmpty(key.roles),
    permissions: unlessEmpty(key.permissions),
  }),
  // The fields that every verification reads come first, so that they are together in memory.
  read: (body, { id, workspaceId, version }, link) => {
    const createdAt = body.whole("createdAt");
    const chainCreatedAt = body.instantOrNull("chainCreatedAt");
    return {
      id,
      workspaceId,
      apiId: body.id("apiId"),
      enabled: !body.flag("disabled"),
      expires: body.instantOrNull("expires"),
      startsAt: body.instantOrNull("startsAt"),
      expiresWhenUnused: body.instantOrNull("expiresWhenUnused"),
      idleFrom: body.instantOrNull("idleFrom"),
      name: body.textOrNull("name"),
      meta: body.jsonOrNull("meta"),
      environment: body.textOrNull("environment"),
      tags: body.texts("tags"),
      uncountedTags: body.texts("uncountedTags"),
      ipWhitelist: body.texts("ipWhitelist"),
      hash: body.text("hash"),
      start: body.text("start"),
      identityId: link,
      createdAt,
      chainCreatedAt,
      updatedAt: body.instantOrNull("updatedAt"),
      refill: body.objectOrNull("refill", (refill) =>
        readRefill(refill, chainCreatedAt ?? createdAt),
      ),
      ratelimits: body.list("ratelimits", readLimit),
      usesFrom: body.wordOr("usesFrom", USES_OWNERS, "key"),
      rotatedFrom: body.textOrNull("rotatedFrom"),
      rotatedTo: body.textOrNull("rotatedTo"),
      sharedCountersId: body.textOrNull("sharedCountersId"),
      sealedSecret: body.textOrNull("sealedSecret"),
      importMarks: body.texts("importMarks"),
      roles: body.texts("roles"),
      permissions: body.texts("permissions"),
      version,
    };
  },
  claims: ({ hash, importMarks }) => [
    { index: "hash", value: hash },
    ...importMarks.map((value) => ({ index: "importMark", value })),
  ],
  lists: ({ apiId, identityId }) => {
    const list = keysOfApi(apiId);
    return identityId === null ? [{ list }] : [{ list }, { list, of: identityId }];
  },
  expiry: ({ id, expires }) => (expires === null ? null : { keyId: id, at: expires }),
});

/** When the first key of a rotated chain was created: the key itself unless it is a successor. */
export function chainCreatedAt(key: Pick<KeyRecord, "createdAt" | "chainCreatedAt">): EpochMs {
  return key.chainCreatedAt ?? key.createdAt;
}

/** The list of all keys of an API. */
export function keysOfApi(apiId: string): string {
  return `keys:${apiId}`;
}

function writeLimit(keyLimit: KeyRateLimit) {
  const { name, type, async, autoApply } = keyLimit;
  const written: Record<string, JsonValue> = toWireFigures(keyLimit);
  if (name !== DEFAULT_LIMIT) written.name = name;
  if (type !== null) written.type = type;
  if (async) written.async = true;
  // The default limit applies by itself in any case.
  if (autoApply && name !== DEFAULT_LIMIT) written.autoApply = true;
  return written;
}

function readLimit(body: BodyReader): KeyRateLimit {
  const hasType = body.textOrNull("type") !== null;
  const name = body.textOrNull("name") ?? DEFAULT_LIMIT;
  return {
    name,
    ...readFigures(body),
    type: hasType ? body.word("type", LIMIT_TYPES) : null,
    async: body.flag("async"),
    autoApply: isAutoApplied({ name, autoApply: body.flag("autoApply") }),
  };
}

/** Default of `async` for a limit of a type. */
export function isAsyncByType(type: unknown): boolean {
  return type === "fast";
}

/** Reads a limit of a key in the words of the HTTP contract; without a name it is {@link DEFAULT_LIMIT}. `duration` in ms. */
export function fromWireKeyLimit(
  limit: WireLimitInput & {
    readonly name?: string | undefined;
    readonly type?: RateLimitType | undefined;
    readonly async?: boolean | undefined;
    readonly autoApply?: boolean | undefined;
  },
): KeyRateLimit {
  const name = limit.name ?? DEFAULT_LIMIT;
  return {
    name,
    ...fromWireFigures(limit),
    type: limit.type ?? null,
    async: limit.async ?? isAsyncByType(limit.type),
    autoApply: isAutoApplied({ name, autoApply: limit.autoApply }),
  };
}
