import { labelsOf } from "@latchkey/core";
import { z } from "zod";
import { keyIdentity } from "./identities.js";
import { defaultLimit, namedKeyLimit, refillView } from "./limits.js";
import { instant, listOf, metadata, shared, whole } from "./shared.js";

/** Response of keys.getKey, and a key in a list. */
export const keyView = shared(
  "Key",
  z.strictObject({
    id: z.string(),
    start: z.string(),
    apiId: z.string(),
    workspaceId: z.string(),
    createdAt: instant,
    roles: listOf(z.string()),
    permissions: listOf(z.string()),
    enabled: z.boolean(),
    ...labelsOf(() => z.string().optional()),
    ownerId: z.string().optional(),
    meta: metadata.optional(),
    tags: listOf(z.string()).optional(),
    ipWhitelist: listOf(z.string()).optional(),
    updatedAt: instant.optional(),
    expires: instant.optional(),
    startsAt: instant.optional(),
    expiresWhenUnused: whole(1).optional(),
    idleExpiresAt: instant.optional(),
    remaining: whole().optional(),
    reserved: whole(1).optional(),
    refill: refillView.optional(),
    ratelimit: defaultLimit.optional(),
    ratelimits: listOf(namedKeyLimit).optional(),
    usesFrom: z.literal("identity").optional(),
    rotatedFrom: z.string().optional(),
    rotatedTo: z.string().optional(),
    lastUsedAt: instant.optional(),
    identity: keyIdentity.optional(),
    plaintext: z.string().optional(),
    plaintextError: z
      .enum(["no-vault", "vault-key-missing", "pepper-missing", "damaged"])
      .optional(),
  }),
);

/** Response of keys.createKey and keys.rotateKey, the only ones that contain a new secret. */
export const createdKey = shared(
  "CreatedKey",
  z.strictObject({ keyId: z.string(), key: z.string() }),
);

/** Response of migrations.createKeys, in the order of the input. */
export const createdKeys = z.strictObject({ keyIds: listOf(z.string()) });

/** Response of keys.whoami. */
export const keySummary = z.strictObject({
  id: z.string(),
  name: z.string().optional(),
  remaining: whole().optional(),
  identity: keyIdentity.optional(),
  meta: metadata.optional(),
  createdAt: instant,
  enabled: z.boolean(),
  environment: z.string().optional(),
});

/** Response of keys.updateRemaining: without `remaining` the uses are unlimited. */
export const remainingUses = z.strictObject({ remaining: whole().optional() });
