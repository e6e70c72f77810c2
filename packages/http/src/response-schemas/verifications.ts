import { COUNTED_CODES } from "@latchkey/core";
import { z } from "zod";
import { instant, listOf, shared, whole } from "./shared.js";

/** Verifications by verdict. */
export const outcomes = z.partialRecord(z.enum(COUNTED_CODES), whole(1));

const bucket = shared(
  "VerificationBucket",
  z.strictObject({
    time: instant,
    success: whole(),
    rateLimited: whole(),
    usageExceeded: whole(),
    outcomes,
  }),
);

/** Response of keys.getVerifications: every bucket that the range touches, in ascending order. */
export const verifications = z.strictObject({ verifications: listOf(bucket) });
