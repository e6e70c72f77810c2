import { z } from "zod";
import { instant, listOf, shared, whole } from "./shared.js";
import { outcomes } from "./verifications.js";

const usageRow = shared(
  "UsageRow",
  z.strictObject({
    id: z.string(),
    start: instant,
    keyId: z.string().optional(),
    identityId: z.string().optional(),
    apiId: z.string().optional(),
    tag: z.string().optional(),
    outcomes,
    uses: whole(),
  }),
);

/** Response of usage.exportUsage. */
export const usagePage = z.strictObject({
  rows: listOf(usageRow),
  until: instant,
  cursor: z.string().optional(),
});
