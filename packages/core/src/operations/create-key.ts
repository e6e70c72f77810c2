import { z } from "zod";
import { missingGrants, notFound, type OperationContext, requireVault } from "../context.js";
import { LatchkeyError } from "../errors.js";
import { newIdentity } from "../identity.js";
import {
  evenWithIssues,
  expiryIssues,
  externalId,
  flag,
  grantName,
  id,
  keyRatelimit,
  list,
  metadata,
  parseInput,
  prefix,
  refill,
  text,
  wholeNumber,
} from "../input.js";
import { fromWireKeyLimit } from "../key.js";
import { BYTE_LENGTH, formatSecret, secretStart } from "../secret.js";

/** At most this many roles on one key, and ten times as many permissions. */
const MAX_ROLES = 100;

/**
 * Input of createKey. `expires` in Unix epoch ms and later than now; `remaining` and all amounts >= 1;
 * `byteLength` 16 to 255; `refill` needs `remaining`; `externalId` wins over the deprecated `ownerId`.
 */
export const createKeyInput = z
  .strictObject({
    apiId: id,
    prefix: prefix.optional(),
    name: text(1, 256).optional(),
    byteLength: wholeNumber(BYTE_LENGTH.min, BYTE_LENGTH.max).default(BYTE_LENGTH.default),
    ownerId: externalId.optional(),
    externalId: externalId.optional(),
    meta: metadata.optional(),
    roles: list(grantName, MAX_ROLES, "names").optional(),
    permissions: list(grantName, 10 * MAX_ROLES, "names").optional(),
    expires: wholeNumber(1).optional(),
    remaining: wholeNumber(1).optional(),
    refill: refill.optional(),
    ratelimit: keyRatelimit.optional(),
    enabled: flag.default(true),
    recoverable: flag.default(false),
    environment: text(0, 256).optional(),
  })
  .refine(({ refill, remaining }) => refill === undefined || remaining !== undefined, {
    ...evenWithIssues,
    path: ["refill"],
    error: "needs remaining",
  });

/** What createKey answers: the only place where the secret is ever handed out. */
export interface CreatedKey {
  /** Not a secret; needed to update or delete the key. */
  readonly keyId: string;
  /** The secret. Pass it on and keep no copy. */
  readonly key: string;
}

/**
 * Issues a key: record, identity on demand, links and counters in one atomic write.
 *
 * @throws LatchkeyError `NOT_FOUND` for an unknown API, `PRECONDITION_FAILED` naming every role and permission that
 * does not exist, or when `recoverable` is asked for without a vault. Nothing is written then.
 */
export async function createKey(
  context: OperationContext,
  input: z.input<typeof createKeyInput>,
): Promise<CreatedKey> {
  const now = context.now();
  const parsed = parseInput(createKeyInput, input, (raw) => expiryIssues(raw, now));
  const { workspaceId } = context;
  const keyId = context.newId("key");
  const key = formatSecret(parsed.prefix ?? "", context.random(parsed.byteLength));
  const ownerExternalId = parsed.externalId ?? parsed.ownerId;
  const result = await context.store.insertKey({
    key: {
      id: keyId,
      workspaceId,
      apiId: parsed.apiId,
      hash: context.hasher.hash(key),
      start: secretStart(key),
      name: parsed.name ?? null,
      identityId: null,
      meta: parsed.meta ?? null,
      createdAt: now,
      updatedAt: null,
      expiresAt: parsed.expires ?? null,
      switchedOn: parsed.enabled,
      refill: parsed.refill ?? null,
      ratelimits: parsed.ratelimit === undefined ? [] : [fromWireKeyLimit(parsed.ratelimit)],
      environment: parsed.environment ?? null,
      sealedSecret: parsed.recoverable
        ? requireVault(context).seal(key, { workspaceId, keyId })
        : null,
      version: 1,
    },
    usage: { remaining: parsed.remaining ?? null, refilledAt: now },
    identity:
      ownerExternalId === undefined
        ? null
        : newIdentity(context.newId("id"), workspaceId, ownerExternalId, now),
    grants: {
      roles: (parsed.roles ?? []).map((name) => ({ kind: "name", name, orCreate: null })),
      permissions: (parsed.permissions ?? []).map((name) => ({
        kind: "name",
        name,
        orCreate: null,
      })),
    },
  });
  switch (result.kind) {
    case "inserted":
      return { keyId, key };
    case "api-not-found":
      throw notFound("API");
    case "missing-grants":
      throw missingGrants(result);
    case "hash-taken":
      throw new LatchkeyError(
        "INTERNAL_SERVER_ERROR",
        '"random" repeated itself; no key was issued',
      );
    default:
      return result satisfies never;
  }
}
