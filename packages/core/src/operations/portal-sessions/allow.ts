import { z } from "zod";
import { flag, grantNames, id, type ListSchema, orRequired, wholeNumber } from "../input.js";
import { namedKeyRatelimits } from "../limit-input.js";

const APIS_ERROR = "must be a list of 1 to 20 ids";

const apiIds: ListSchema<typeof id> = z
  .array(id, { error: orRequired(APIS_ERROR) })
  .min(1, { error: APIS_ERROR })
  .max(20, { error: APIS_ERROR });

/** Schema of what a session allows, as it is given and as it is kept. */
export const portalAllow = z.strictObject({
  apiIds,
  create: flag.default(false),
  rotate: flag.default(false),
  revoke: flag.default(false),
  permissions: grantNames.default([]),
  maxKeys: wholeNumber(1, 10_000).optional(),
  ratelimits: namedKeyRatelimits.optional(),
});
