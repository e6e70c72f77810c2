import { z } from "zod";
import { instant, listOf, pageEnd, shared } from "./shared.js";

const createdRootKey = shared(
  "CreatedRootKey",
  z.strictObject({ rootKeyId: z.string(), key: z.string() }),
);

const repeatedRootKey = shared(
  "RepeatedRootKey",
  z.strictObject({ rootKeyId: z.string(), secretShownBefore: z.literal(true) }),
);

/** Response of rootKeys.createRootKey and rootKeys.rotateRootKey, and of their repeats. */
export const createdOrRepeatedRootKey = z.union([createdRootKey, repeatedRootKey]);

const rootKey = shared(
  "RootKey",
  z.strictObject({
    id: z.string(),
    start: z.string(),
    name: z.string().optional(),
    permissions: listOf(z.string()),
    expires: instant.optional(),
    enabled: z.boolean(),
    rotatedTo: z.string().optional(),
    createdAt: instant,
  }),
);

/** Response of rootKeys.listRootKeys. */
export const rootKeyList = z.strictObject({ rootKeys: listOf(rootKey), ...pageEnd });
