import { z } from "zod";
import { flag, fullList, grantNames, id, wholeNumber } from "../input.js";
import { namedKeyRatelimits } from "../limit-input.js";

/** Schema of what a session allows, as it is given and as it is kept. */
export const portalAllow = z.strictObject({
  apiIds: fullList(id, 20, "ids"),
  create: flag.default(false),
  rotate: flag.default(false),
  revoke: flag.default(false),
  permissions: grantNames.default([]),
  maxKeys: wholeNumber(1, 10_000).optional(),
  ratelimits: namedKeyRatelimits.optional(),
});
