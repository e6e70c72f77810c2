import { LIMIT_ALGORITHMS } from "@latchkey/core";
import { z } from "zod";
import { instant, shared, whole } from "./shared.js";

/** How a limit counts; defaults are absent. */
export const counting = {
  algorithm: z.enum(LIMIT_ALGORITHMS).optional(),
  burst: whole(1).optional(),
  shadow: z.boolean().optional(),
};

/** How uses are restored. */
export const refillSetting = z.strictObject({
  interval: z.union([
    z.enum(["hourly", "daily", "weekly", "monthly"]),
    z.strictObject({
      every: whole(60_000).describe(
        "Length of the interval in ms, counted from the creation of the key or identity.",
      ),
    }),
  ]),
  amount: whole(1),
  carryOver: whole(1).optional(),
  refillDay: whole(1).max(31).optional(),
});

/** How the uses of a key or identity are restored, and when they were last restored. */
export const refillView = shared(
  "Refill",
  z.strictObject({ ...refillSetting.shape, lastRefillAt: instant.optional() }),
);

const keyLimit = {
  async: z.boolean(),
  type: z.enum(["fast", "consistent"]).optional(),
  limit: whole(1),
  duration: whole(1),
  ...counting,
};

/** The limit named `default` of a key. */
export const defaultLimit = shared("KeyRatelimit", z.strictObject(keyLimit));

/** A named limit of a key. */
export const namedKeyLimit = shared(
  "NamedKeyRatelimit",
  z.strictObject({ name: z.string(), ...keyLimit, autoApply: z.boolean() }),
);

/** A limit that the keys of an identity share. */
export const identityLimit = shared(
  "IdentityRatelimit",
  z.strictObject({
    name: z.string(),
    limit: whole(1),
    duration: whole(1),
    ...counting,
    autoApply: z.boolean().optional(),
  }),
);

/** The state of a limit; `reset` is absent if later than any `Date`. */
export const limitState = {
  limit: whole(1),
  remaining: whole(),
  reset: instant.optional(),
  ...counting,
};

/** A limit after a verification. */
export const ratelimitState = shared("RatelimitState", z.strictObject(limitState));

/** A limit without a key after a call. */
export const limitStateAfter = {
  ...limitState,
  exceeded: z.boolean().optional(),
  retryAfterMs: whole(1).optional(),
};

/** Response of ratelimits.limit. */
export const limitResult = z.strictObject({ success: z.boolean(), ...limitStateAfter });

/** A named limit after a verification, and whether it refused. */
export const namedRatelimitState = shared(
  "NamedRatelimitState",
  z.strictObject({
    name: z.string(),
    ...limitState,
    exceeded: z.boolean(),
    duration: whole(1).optional(),
  }),
);
