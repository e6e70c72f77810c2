import { z } from "zod";
import { shared, whole } from "./shared.js";

const active = shared(
  "ActiveToken",
  z.strictObject({
    active: z.literal(true),
    scope: z.string().describe("The permissions, with spaces between; absent if none.").optional(),
    client_id: z.string().describe("Id of the key."),
    sub: z.string().describe("Your own id of the user; absent if none.").optional(),
    exp: whole()
      .describe("Unix time in seconds at which the key expires; never if absent.")
      .optional(),
    iat: whole().describe("Unix time in seconds at which the key was created."),
    token_type: z.literal("api_key"),
  }),
);

const inactive = shared("InactiveToken", z.strictObject({ active: z.literal(false) }));

/** Response of keys.introspect, in the names of RFC 7662. */
export const introspection = z.union([active, inactive]);
