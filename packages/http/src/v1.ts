import { OPERATIONS } from "./operations/table.js";
import { errorBody } from "./response-schemas/error-body.js";
import type { Contract } from "./routing/contract.js";

const INTRODUCTION = `Issue, verify and manage API keys.

- Reads are GET with query parameters, everything else is POST with a JSON body (\`keys.introspect\`: a form); success is 200. Any other verb is a 405, any
  other path a 404, both with an error body.
- Instants are milliseconds since the Unix epoch, spans are milliseconds. A field without a value is absent, never \`null\`.
- Unknown fields and parameters are refused by name. Numbers are at most 2^53 − 1. A body is at most 64 KiB by default.
- In a query a boolean is \`true\`, \`1\`, \`false\`, \`0\`, \`null\` or empty.
- A permission for everything of a kind, such as \`api.*.read_key\`, has a form for one of it: \`api.<apiId>.read_key\`.
- Every response has \`X-Request-Id\`, equal to \`requestId\` of an error.`;

/** The contract that latchkey is written for. */
export const V1: Contract = {
  version: "v1",
  operations: OPERATIONS,
  introduction: INTRODUCTION,
  unknownPath: "no such path; README.md of @latchkey/http lists those that exist",
  // JSON leaves out what is undefined.
  errorBody: ({ code, message, issues, reason, details }, docs, requestId) => ({
    error: { code, message, docs, requestId, issues, reason, details },
  }),
  errorSchema: errorBody,
};
