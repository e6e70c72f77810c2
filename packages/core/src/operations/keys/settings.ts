import { z } from "zod";
import { DEFAULT_LIMIT } from "../../records/key.js";
import { MAX_HELD } from "../../records/role.js";
import {
  externalId,
  flag,
  grantName,
  id,
  keyRatelimit,
  list,
  metadata,
  namedKeyRatelimits,
  refill,
  text,
  usesFrom,
  wholeNumber,
} from "../input.js";

/** The fields that a key is given at its making, however its secret came about. */
export const keySettingsFields = {
  apiId: id,
  name: text(1, 256).optional(),
  ownerId: externalId.optional(),
  externalId: externalId.optional(),
  meta: metadata.optional(),
  roles: list(grantName, MAX_HELD.roles, "names").optional(),
  permissions: list(grantName, MAX_HELD.permissions, "names").optional(),
  expires: wholeNumber(1).optional(),
  remaining: wholeNumber(1).optional(),
  refill: refill.optional(),
  ratelimit: keyRatelimit.optional(),
  ratelimits: namedKeyRatelimits.optional(),
  usesFrom: usesFrom.default("key"),
  enabled: flag.default(true),
  recoverable: flag.default(false),
  environment: text(0, 256).optional(),
};

const keySettings = z.strictObject(keySettingsFields);

/** {@link keySettingsFields}, checked. */
export type KeySettings = z.output<typeof keySettings>;

/** What the fields of {@link keySettingsFields} must be to each other. */
export function addSettingsIssues(
  settings: unknown,
  context: {
    addIssue(issue: { code: "custom"; path: (string | number)[]; message: string }): void;
  },
): void {
  const given = settings as Partial<Record<keyof KeySettings, unknown>>;
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const drawsFromIdentity = given.usesFrom === "identity";
  if (drawsFromIdentity && given.externalId === undefined && given.ownerId === undefined)
    refuse("usesFrom", 'needs externalId where it is "identity"');
  if (drawsFromIdentity && given.remaining !== undefined)
    refuse("remaining", 'must not be given where usesFrom is "identity": set it on the identity');
  if (drawsFromIdentity && given.refill !== undefined)
    refuse("refill", 'must not be given where usesFrom is "identity": set it on the identity');
  if (!drawsFromIdentity && given.refill !== undefined && given.remaining === undefined)
    refuse("refill", "needs remaining");
  addSecondDefaultIssue(settings, context);
}

/** `ratelimit` is the limit named `default`: it must not be given twice. */
export function addSecondDefaultIssue(
  settings: unknown,
  context: Parameters<typeof addSettingsIssues>[1],
): void {
  const { ratelimit, ratelimits } = settings as Partial<Record<keyof KeySettings, unknown>>;
  if (ratelimit === undefined) return;
  const isNamedDefault = (limit: unknown) =>
    typeof limit === "object" && limit !== null && "name" in limit && limit.name === DEFAULT_LIMIT;
  if (Array.isArray(ratelimits) && ratelimits.some(isNamedDefault))
    context.addIssue({
      code: "custom",
      path: ["ratelimits"],
      message: `must not hold a limit named ${DEFAULT_LIMIT} where ratelimit is given`,
    });
}
