import { z } from "zod";
import type { PublicErrorCode } from "../routing/http-response.js";
import { SHOWN_REASONS } from "../routing/shown-reasons.js";
import { listOf, whole } from "./shared.js";

const issue = z.strictObject({ path: z.string(), message: z.string() });

const details = z.strictObject({
  field: z.string().optional(),
  limit: z.union([whole(), listOf(z.string())]).optional(),
  keyId: z.string().optional(),
  reserved: z
    .strictObject({
      uses: whole(),
      ratelimits: listOf(z.strictObject({ name: z.string(), cost: whole() })),
    })
    .optional(),
});

/**
 * Body of an error with one of these codes. Only a `BAD_REQUEST` about fields has `issues`, only some of a `CONFLICT` or
 * `PRECONDITION_FAILED` have a `reason`; `docs` depends on the host's options.
 */
export function errorBody(codes: readonly PublicErrorCode[]) {
  const hasIssues = codes.includes("BAD_REQUEST");
  const hasReason = codes.includes("CONFLICT") || codes.includes("PRECONDITION_FAILED");
  return z.strictObject({
    error: z.strictObject({
      code: z.enum(codes),
      message: z.string(),
      docs: z.url().optional(),
      requestId: z.string(),
      ...(hasIssues && { issues: listOf(issue).optional() }),
      ...(hasReason && { reason: z.enum(SHOWN_REASONS).optional(), details: details.optional() }),
    }),
  });
}
