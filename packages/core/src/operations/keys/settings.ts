import { z } from "zod";
import { MAX_HELD } from "../../records/role.js";
import { DEFAULT_LIMIT } from "../../rules/default-limit.js";
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

/** The fields that a key is given when it is created, with a new or an imported secret. */
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

/** Rules that span several fields of {@link keySettingsFields}. */
export function addSettingsIssues(
  settings: unknown,
  context: {
    addIssue(issue: { code: "custom"; path: (string | number)[]; message: string }): void;
  },
): void {
  const given = settings as Partial<Record<keyof KeySettings, unknown>>;
  const refuse = (path: string, message: string) =>
    context.addIssue({ code: "custom", path: [path], message });
  const takesFromIdentity = given.usesFrom === "identity";
  if (takesFromIdentity && given.externalId === undefined && given.ownerId === undefined)
    refuse("usesFrom", 'needs externalId where it is "identity"');
  if (takesFromIdentity && given.remaining !== undefined)
    refuse("remaining", 'must not be given where usesFrom is "identity": set it on the identity');
  if (takesFromIdentity && given.refill !== undefined)
    refuse("refill", 'must not be given where usesFrom is "identity": set it on the identity');
  if (!takesFromIdentity && given.refill !== undefined && given.remaining === undefined)
    refuse("refill", "needs remaining");
  addSecondDefaultIssue(settings, context);
}

/**
 * `ratelimit` is the limit named `default`. `ratelimits` may hold that limit too, as what is read of a key does, but not
 * another of that name.
 */
export function addSecondDefaultIssue(
  settings: unknown,
  context: Parameters<typeof addSettingsIssues>[1],
): void {
  const { ratelimit, ratelimits } = settings as Partial<Record<keyof KeySettings, unknown>>;
  if (ratelimit === undefined || !Array.isArray(ratelimits)) return;
  const named: unknown = ratelimits.find(
    (limit) => isObject(limit) && limit.name === DEFAULT_LIMIT,
  );
  if (isObject(named) && !(isObject(ratelimit) && isSameLimit(named, ratelimit)))
    context.addIssue({
      code: "custom",
      path: ["ratelimits"],
      message: `must not hold another limit named ${DEFAULT_LIMIT} than ratelimit`,
    });
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function isSameLimit(one: Fields, other: Fields): boolean {
  return (
    one.limit === other.limit &&
    one.duration === other.duration &&
    one.type === other.type &&
    (one.async ?? false) === (other.async ?? false)
  );
}
