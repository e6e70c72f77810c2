import { COUNTED_CODES } from "@latchkey/core";
import { z } from "zod";
import { instant, listOf, shared, whole } from "./shared.js";

const bucket = shared(
  "VerificationBucket",
  z.strictObject({
    time: instant.describe("Start of the bucket, Unix epoch ms."),
    success: whole().describe("Verdicts `VALID`."),
    rateLimited: whole().describe("Verdicts `RATE_LIMITED`."),
    usageExceeded: whole().describe("Verdicts `USAGE_EXCEEDED`."),
    outcomes: z
      .partialRecord(z.enum(COUNTED_CODES), whole(1))
      .describe("Verifications by verdict; a verdict that was not given is absent."),
  }),
);

/** Answer of keys.getVerifications: every bucket that the range touches, in ascending order. */
export const verifications = z.strictObject({ verifications: listOf(bucket) });
