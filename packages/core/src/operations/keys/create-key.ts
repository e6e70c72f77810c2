import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import { fromWireKeyLimit, type KeyRateLimit, type KeyRecord, keyType } from "../../records/key.js";
import { labelsOf } from "../../records/key-labels.js";
import { DEFAULT_LIMIT } from "../../rules/rate-limit.js";
import { countedFrom } from "../../rules/refill.js";
import { BYTE_LENGTH, formatSecret } from "../../secrets/format.js";
import { secretStart } from "../../secrets/shown-start.js";
import type { EpochMs, SpanMs } from "../../time.js";
import { withCheckedMeta } from "../checked-meta.js";
import {
  notFound,
  type OperationContext,
  randomRepeated,
  requireVault,
  transact,
  type Work,
} from "../context.js";
import { evenWithIssues, flag, parseInput, prefix, wholeNumber } from "../input.js";
import type { Run } from "../operation.js";
import { References } from "../references.js";
import { expiryIssues } from "../time-input.js";
import { wholeKeyFields } from "./audit-fields.js";
import type { KeyOperations } from "./operations.js";
import { addSettingsIssues, type KeySettings, keySettingsFields } from "./settings.js";

export const createKeyInput = z
  .strictObject({
    ...keySettingsFields,
    prefix: prefix.optional(),
    byteLength: wholeNumber(BYTE_LENGTH.min, BYTE_LENGTH.max).default(BYTE_LENGTH.default),
    create: flag.default(false),
  })
  .superRefine(addSettingsIssues, evenWithIssues);

export const createKey: Run<KeyOperations["createKey"]> = async (context, input) => {
  const now = context.now();
  const parsed = parseInput(createKeyInput, input, (raw) => expiryIssues(raw, now));
  const settings = await withCheckedMeta(context.keyMeta, parsed);
  const { workspaceId } = context;
  const keyId = context.newId("key");
  const key = formatSecret(settings.prefix ?? "", context.random(settings.byteLength));
  const credential = {
    keyId,
    hash: context.hasher.hash(key),
    start: secretStart(key, settings.byteLength),
    sealedSecret: settings.recoverable
      ? requireVault(context).seal(key, { workspaceId, keyId })
      : null,
  };
  const { answer } = await transact(context, async (work) => {
    const references = new References(work, now, settings.create);
    needForKey(references, settings);
    await references.read();
    if (!references.hasApi(settings.apiId)) throw notFound("API");
    const { transaction, audit } = work;
    const parts = { context, transaction, audit, references, now };
    insertKey(parts, settings, credential, () => randomRepeated("no key was issued"));
    references.refuseMissing();
    return { keyId, key };
  });
  return answer;
};

/** The parts of a new key that are derived from its secret. */
export interface KeyCredential {
  readonly keyId: string;
  readonly hash: string;
  readonly start: string;
  readonly sealedSecret: string | null;
  /** Of an imported secret: see `SecretHasher`. */
  readonly importMarks?: readonly string[];
}

/** Says what a new key refers to. */
export function needForKey(references: References, settings: KeySettings): void {
  references.needApi(settings.apiId);
  const owner = ownerOf(settings);
  if (owner !== undefined) references.needIdentity(owner);
  references.needGrants("role", settings.roles ?? []);
  references.needGrants("permission", settings.permissions ?? []);
}

const NONE: readonly string[] = Object.freeze([]);

/** What {@link insertKey} works with. */
export interface NewKeyParts extends Work {
  readonly references: References;
  readonly now: EpochMs;
}

/**
 * Writes a new key with its counters, and what is created along with it. Check `references.refuseMissing()` afterwards.
 *
 * @param onTaken - The error where a key has this secret already. Without it the transaction runs again, and finds that key.
 */
export function insertKey(
  { context, transaction, audit, references, now }: NewKeyParts,
  settings: KeySettings & { readonly createdAt?: EpochMs | undefined },
  credential: KeyCredential,
  onTaken?: () => Error,
): void {
  const { roles = [], permissions = [] } = settings;
  const externalId = ownerOf(settings);
  const identityId = externalId === undefined ? null : references.identityId(externalId);
  const createdAt = settings.createdAt ?? now;
  const { expiresWhenUnused = null } = settings;
  refuseUncounted(context, expiresWhenUnused);
  const key: KeyRecord = {
    id: credential.keyId,
    workspaceId: context.workspaceId,
    apiId: settings.apiId,
    hash: credential.hash,
    start: credential.start,
    ...labelsOf((label) => settings[label] ?? null),
    identityId,
    meta: settings.meta ?? null,
    tags: settings.tags ?? NONE,
    ipWhitelist: settings.ipWhitelist ?? NONE,
    createdAt,
    chainCreatedAt: null,
    updatedAt: null,
    expires: settings.expires ?? null,
    startsAt: settings.startsAt ?? null,
    expiresWhenUnused,
    // Another system counted the uses until then.
    idleFrom: expiresWhenUnused === null || createdAt === now ? null : now,
    enabled: settings.enabled,
    refill: settings.refill === undefined ? null : countedFrom(settings.refill, createdAt),
    ratelimits: keyLimitsOf(settings),
    usesFrom: settings.usesFrom,
    rotatedFrom: null,
    rotatedTo: null,
    sharedCountersId: null,
    sealedSecret: credential.sealedSecret,
    importMarks: credential.importMarks ?? NONE,
    roles: references.grantIds("role", roles),
    permissions: references.grantIds("permission", permissions),
    version: 1,
  };
  const remaining = settings.remaining ?? null;
  const usage = { remaining, refilledAt: now, lastRefillAt: null };
  transaction.insert(keyType, key, { counters: { usage }, onTaken });
  audit({
    type: "key.created",
    at: now,
    resourceId: key.id,
    identityId,
    after: wholeKeyFields(key, {
      recoverable: key.sealedSecret !== null,
      externalId,
      remaining,
      roles,
      permissions,
    }),
  });
}

/** The limits that a key is given: `ratelimit` is the one named `default`, also where `ratelimits` holds that too. */
export function keyLimitsOf({
  ratelimit,
  ratelimits = [],
}: Pick<KeySettings, "ratelimit" | "ratelimits">): readonly KeyRateLimit[] {
  if (ratelimit === undefined) return ratelimits.map(fromWireKeyLimit);
  const others = ratelimits.filter(({ name }) => name !== DEFAULT_LIMIT);
  return [ratelimit, ...others].map(fromWireKeyLimit);
}

/** @throws LatchkeyError `PRECONDITION_FAILED` for a key that would expire unused where nobody notices uses. */
export function refuseUncounted(
  { recorder }: Pick<OperationContext, "recorder">,
  expiresWhenUnused: SpanMs | null | undefined,
): void {
  if (recorder !== null || typeof expiresWhenUnused !== "number") return;
  throw new LatchkeyError(
    "PRECONDITION_FAILED",
    '"expiresWhenUnused" needs uses that are counted: this latchkey was made with usage: false',
    { reason: "usage-off", details: { field: "expiresWhenUnused" } },
  );
}

/** `externalId`, or its deprecated name. */
function ownerOf({ externalId, ownerId }: KeySettings): string | undefined {
  return externalId ?? ownerId;
}
