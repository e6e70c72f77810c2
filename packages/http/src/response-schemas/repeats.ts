import { z } from "zod";
import { createdKey } from "./keys.js";
import { shared } from "./shared.js";

/** Response to a repeated request whose secret is not kept. */
const repeatedKey = shared(
  "RepeatedKey",
  z.strictObject({
    keyId: z.string(),
    secretShownBefore: z
      .literal(true)
      .describe("The secret was in the first response, and is not kept."),
  }),
);

/** Response of operations that create a key, and of their repeats. */
export const createdOrRepeatedKey = z.union([createdKey, repeatedKey]);
