import { permissionQueryField } from "@latchkey/core";
import { z } from "zod";
import { checks } from "./checks.js";
import { keyIdentity } from "./identities.js";
import { namedRatelimitState, ratelimitState } from "./limits.js";
import { instant, listOf, metadata, shared, whole } from "./shared.js";

const requestId = z.string();

const verifiedKey = {
  requestId,
  keyId: z.string(),
  apiId: z.string(),
  name: z.string().optional(),
  ownerId: z.string().optional(),
  meta: metadata.optional(),
  expires: instant.optional(),
  startsAt: instant.optional(),
  enabled: z.boolean(),
  permissions: listOf(z.string()),
  roles: listOf(z.string()),
  environment: z.string().optional(),
  keyTags: listOf(z.string()).optional(),
  identity: keyIdentity.optional(),
  remaining: whole().optional(),
  ratelimit: ratelimitState.optional(),
  ratelimits: listOf(namedRatelimitState).optional(),
  checks,
};

const valid = z.strictObject({
  valid: z.literal(true),
  code: z.literal("VALID"),
  ...verifiedKey,
  reservationId: z.string().optional(),
  expiresAt: instant.optional(),
});

/** Reveals nothing about a key: there is none, or the caller may not know of it. */
const notFound = z.strictObject({
  valid: z.literal(false),
  code: z.literal("NOT_FOUND"),
  requestId,
  checks,
});

/** In a disabled workspace, also the verdict on an unknown secret; it has no fields about a key then. */
const forbidden = z.strictObject({
  valid: z.literal(false),
  code: z.literal("FORBIDDEN"),
  ...z.strictObject(verifiedKey).partial({
    keyId: true,
    apiId: true,
    enabled: true,
    permissions: true,
    roles: true,
  }).shape,
});

const refused = z.strictObject({
  valid: z.literal(false),
  code: z.enum([
    "DISABLED",
    "EXPIRED",
    "NOT_STARTED",
    "INSUFFICIENT_PERMISSIONS",
    "RATE_LIMITED",
    "USAGE_EXCEEDED",
  ]),
  ...verifiedKey,
  missing: permissionQueryField.optional(),
  retryAfterMs: whole(1).optional(),
});

const refusedVerdict = shared("RefusedVerdict", refused);
const forbiddenVerdict = shared("ForbiddenVerdict", forbidden);
const notFoundVerdict = shared("NotFoundVerdict", notFound);

/** Response of keys.verifyKey and keys.reserve: switch over `code`. */
export const verdict = shared(
  "Verdict",
  z.discriminatedUnion("code", [
    shared("ValidVerdict", valid),
    refusedVerdict,
    forbiddenVerdict,
    notFoundVerdict,
  ]),
);

/** Response of keys.exchangeKey: the same, with a token if the code is `VALID`. */
export const exchanged = z.discriminatedUnion("code", [
  shared(
    "ExchangedVerdict",
    valid.extend({
      token: z.string().describe("A JWT."),
      tokenExpiresAt: instant.describe(
        "Unix epoch ms at which the token expires, in whole seconds.",
      ),
    }),
  ),
  refusedVerdict,
  forbiddenVerdict,
  notFoundVerdict,
]);
