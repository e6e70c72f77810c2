import type { VerifyOutcome } from "@latchkey/core";
import { z } from "zod";
import { limitState } from "../response-schemas/limits.js";
import { instant, listOf, metadata, shared, whole } from "../response-schemas/shared.js";
import { identity, toIdentity } from "./views.js";

const ratelimit = shared(
  "VerifiedRatelimit",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    ...limitState,
    duration: whole(1),
    exceeded: z.boolean(),
    autoApply: z
      .boolean()
      .describe("Whether it applied by itself, without being named in the request."),
  }),
);

/** Verdict of keys.verifyKey; for an unknown key only the code. */
export const verdict = shared(
  "Verdict",
  z.strictObject({
    valid: z.boolean(),
    code: z.enum([
      "VALID",
      "NOT_FOUND",
      "FORBIDDEN",
      "INSUFFICIENT_PERMISSIONS",
      "USAGE_EXCEEDED",
      "RATE_LIMITED",
      "DISABLED",
      "EXPIRED",
      "NOT_STARTED",
    ]),
    keyId: z.string().optional(),
    name: z.string().optional(),
    meta: metadata.optional(),
    expires: instant.optional(),
    credits: whole().optional().describe("Uses left after this verification; absent if unlimited."),
    enabled: z.boolean().optional(),
    permissions: listOf(z.string()).optional(),
    roles: listOf(z.string()).optional(),
    keyTags: listOf(z.string()).optional().describe("Tags of the key; absent if it has none."),
    identity: identity.optional(),
    ratelimits: listOf(ratelimit).optional(),
    reservationId: z
      .string()
      .optional()
      .describe("Id of the reservation, or of the held slots of concurrent limits."),
    expiresAt: instant
      .optional()
      .describe("Unix epoch ms at which the reservation is released, unless it is renewed."),
  }),
);

/**
 * A verdict of v1 in the format of v2. JSON omits what is undefined.
 *
 * @param named - The limits that the request named.
 */
export function toVerdict(
  outcome: VerifyOutcome,
  named: readonly string[],
): z.output<typeof verdict> {
  const { valid, code } = outcome;
  if (outcome.code === "NOT_FOUND" || outcome.keyId === undefined) return { valid, code };
  const held = outcome.code === "VALID" ? outcome : null;
  return {
    valid,
    code,
    keyId: outcome.keyId,
    name: outcome.name,
    meta: outcome.meta,
    expires: outcome.expires,
    credits: outcome.remaining,
    enabled: outcome.enabled,
    permissions: outcome.permissions,
    roles: outcome.roles,
    keyTags: outcome.keyTags,
    identity: outcome.identity && toIdentity(outcome.identity),
    ratelimits: outcome.ratelimits?.flatMap(({ duration, ...limit }) =>
      // Only a remembered result can lack the duration, and v2 has no such results.
      duration === undefined
        ? []
        : [{ ...limit, duration, id: limit.name, autoApply: !named.includes(limit.name) }],
    ),
    reservationId: held?.reservationId,
    expiresAt: held?.expiresAt,
  };
}
