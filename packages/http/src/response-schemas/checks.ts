import { permissionQueryField } from "@latchkey/core";
import { z } from "zod";
import { limitState } from "./limits.js";
import { instant, listOf, shared, whole } from "./shared.js";

const passed = z.boolean();
const retryAfterMs = whole(1).optional();

const check = shared(
  "VerdictCheck",
  z.discriminatedUnion("check", [
    z.strictObject({ check: z.literal("exists"), passed }),
    z.strictObject({ check: z.literal("enabled"), passed }),
    z.strictObject({
      check: z.literal("api"),
      passed,
      apiId: z.string(),
      wanted: z.string().optional(),
    }),
    z.strictObject({
      check: z.literal("environment"),
      passed,
      environment: z.string().optional(),
      wanted: z.string(),
    }),
    z.strictObject({ check: z.literal("expiry"), passed, expires: instant.optional() }),
    z.strictObject({ check: z.literal("idle"), passed, idleExpiresAt: instant }),
    z.strictObject({ check: z.literal("start"), passed, startsAt: instant, retryAfterMs }),
    z.strictObject({ check: z.literal("address"), passed, ipAddress: z.string().optional() }),
    z.strictObject({
      check: z.literal("permissions"),
      passed,
      missing: permissionQueryField.optional(),
    }),
    z.strictObject({
      check: z.literal("ratelimit"),
      passed,
      name: z.string(),
      ...limitState,
      cost: whole(),
      exceeded: z.boolean().optional(),
      retryAfterMs,
    }),
    z.strictObject({
      check: z.literal("uses"),
      passed,
      from: z.enum(["key", "identity"]),
      remaining: whole().optional(),
      cost: whole(),
      nextRefillAt: instant.optional(),
      retryAfterMs,
    }),
  ]),
);

/** The checks of a dry run, in order, including those after the first failure. */
export const checks = listOf(check).optional();
