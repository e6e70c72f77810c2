import { z } from "zod";
import type { PublicErrorCode } from "../routing/http-response.js";
import { listOf } from "./shared.js";

const issue = z.strictObject({ path: z.string(), message: z.string() });

/** Body of an error with one of these codes. Only a `BAD_REQUEST` about fields has `issues`; `docs` depends on the host's options. */
export function errorBody(codes: readonly PublicErrorCode[]) {
  const fields = {
    code: z.enum(codes),
    message: z.string(),
    docs: z.url().optional(),
    requestId: z.string(),
  };
  const withIssues = { ...fields, issues: listOf(issue).optional() };
  return z.strictObject({
    error: z.strictObject(codes.includes("BAD_REQUEST") ? withIssues : fields),
  });
}
