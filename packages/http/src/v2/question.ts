import { z } from "zod";
import { newKey, pick, question } from "./fields.js";
import { parsePermissionQuery, permissionQueryText } from "./permission-query.js";

/** Fields of a question about a key. */
export const asked = {
  ...pick(question, "key", "requestId", "tags"),
  permissions: permissionQueryText.optional(),
  credits: question.remaining,
  ratelimits: question.ratelimits,
  migrationId: newKey.name.describe("Accepted, without effect."),
};

const schema = z.strictObject(asked);

type Asked = z.input<typeof schema>;

/** A question in the format of v1. */
export function questionOf({ key, requestId, tags, permissions, credits, ratelimits }: Asked) {
  return {
    key,
    requestId,
    tags,
    authorization:
      permissions === undefined ? undefined : { permissions: parsePermissionQuery(permissions) },
    remaining: credits,
    ratelimits,
  };
}

/** The limits that a question names. */
export function namesOf({ ratelimits = [] }: Asked): readonly string[] {
  return ratelimits.map(({ name }) => name);
}
