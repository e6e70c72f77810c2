import type { IdentityView, KeyView, PermissionView, WireLimitFigures } from "@latchkey/core";
import { z } from "zod";
import { counting, refillSetting } from "../response-schemas/limits.js";
import { instant, listOf, metadata, shared, whole } from "../response-schemas/shared.js";
import { pick } from "./fields.js";

/** Uses of a key; null for unlimited. */
export const credits = shared(
  "Credits",
  z.strictObject({
    remaining: whole().nullable(),
    reserved: whole(1)
      .optional()
      .describe("Uses that reservations and leases hold, in addition to `remaining`."),
    refill: refillSetting.optional(),
  }),
);

/** A limit of a key or an identity. Its name is also its id. */
const ratelimit = shared(
  "Ratelimit",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    limit: whole(1),
    duration: whole(1),
    ...counting,
    autoApply: z.boolean(),
  }),
);

/** An identity: without `meta` in a list, without `ratelimits` as part of a key. */
export const identity = shared(
  "Identity",
  z.strictObject({
    id: z.string(),
    externalId: z.string(),
    meta: metadata.optional(),
    ratelimits: listOf(ratelimit).optional(),
  }),
);

/** A key as it is read. */
export const key = shared(
  "Key",
  z.strictObject({
    keyId: z.string(),
    start: z.string(),
    enabled: z.boolean(),
    createdAt: instant,
    name: z.string().optional(),
    meta: metadata.optional(),
    updatedAt: instant.optional(),
    lastUsedAt: instant.optional(),
    expires: instant.optional(),
    startsAt: instant.optional(),
    idleExpiresAt: instant.optional(),
    permissions: listOf(z.string()),
    roles: listOf(z.string()),
    tags: listOf(z.string()).optional(),
    credits: credits.optional(),
    identity: identity.optional(),
    plaintext: z.string().optional(),
    ratelimits: listOf(ratelimit).optional(),
  }),
);

/** A permission. It has one name in latchkey, which is also its slug. */
export const permission = shared(
  "Permission",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    slug: z.string(),
    description: z.string().optional(),
  }),
);

/** A role; without `description` and `permissions` as part of a key. */
export const role = shared(
  "Role",
  z.strictObject({
    id: z.string(),
    name: z.string(),
    description: z.string().optional(),
    permissions: listOf(permission).optional().describe("The permissions of the role."),
  }),
);

/** Response without a value. */
export const empty = shared("Empty", z.strictObject({}));

type Limits = readonly (WireLimitFigures & {
  readonly name: string;
  readonly autoApply?: boolean | undefined;
})[];

function toRatelimits(limits: Limits): z.output<typeof ratelimit>[] {
  return limits.map(({ name, limit, duration, algorithm, burst, shadow, autoApply = false }) => ({
    id: name,
    name,
    limit,
    duration,
    algorithm,
    burst,
    shadow,
    autoApply,
  }));
}

/** An identity of v1 in the format of v2. */
export function toIdentity({
  id,
  externalId,
  meta,
  ratelimits,
}: Pick<IdentityView, "id" | "externalId"> &
  Partial<Pick<IdentityView, "meta" | "ratelimits">>): z.output<typeof identity> {
  return { id, externalId, meta, ratelimits: ratelimits && toRatelimits(ratelimits) };
}

/** A key of v1 in the format of v2. JSON omits what is undefined. */
export function toKey(view: KeyView): z.output<typeof key> {
  return {
    keyId: view.id,
    ...pick(view, "start", "enabled", "createdAt", "name", "meta", "updatedAt", "lastUsedAt"),
    ...pick(view, "expires", "startsAt", "idleExpiresAt", "permissions", "roles", "tags"),
    credits: view.remaining === undefined ? undefined : toCredits(view.remaining, view),
    identity: view.identity && toIdentity(view.identity),
    plaintext: view.plaintext,
    ratelimits: view.ratelimits && toRatelimits(view.ratelimits),
  };
}

function toCredits(
  remaining: number,
  { reserved, refill: shown }: Pick<KeyView, "reserved" | "refill">,
): z.output<typeof credits> {
  if (shown === undefined) return { remaining, reserved };
  const { lastRefillAt: _, ...setting } = shown;
  return { remaining, reserved, refill: setting };
}

/** A permission of v1 in the format of v2. */
export function toPermission({
  id,
  name,
  description,
}: PermissionView): z.output<typeof permission> {
  return { id, name, slug: name, description };
}
