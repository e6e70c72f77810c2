import type { Contract } from "../routing/contract.js";
import { APIS } from "./apis.js";
import { errorBody, errorSchema } from "./error-body.js";
import { IDENTITIES } from "./identities.js";
import { KEY_PERMISSIONS } from "./key-permissions.js";
import { KEYS } from "./keys.js";
import { MIGRATIONS } from "./migrations.js";
import { PERMISSIONS } from "./permissions.js";
import { RATELIMIT } from "./ratelimit.js";
import { RESERVATIONS } from "./reservations.js";

const INTRODUCTION = `Issue, verify and manage API keys, in the words of the successor of v1.

- Every operation is a POST with a JSON body; success is 200 with \`{ meta, data }\`, and \`pagination\` for a page of a list. Any
  other verb is a 405, any other path a 404, both with an error body.
- Instants are milliseconds since the Unix epoch, spans are milliseconds. A field without a value is absent.
- Unknown fields are refused by name. Numbers are at most 2^53 − 1. A body is at most 64 KiB by default.
- A permission for everything of a kind, such as \`api.*.read_key\`, has a form for one of it: \`api.<apiId>.read_key\`.
- Every response has \`X-Request-Id\`, equal to \`meta.requestId\`.`;

/** The successor of v1, with the operations that latchkey supports. */
export const V2: Contract = {
  version: "v2",
  operations: [
    ...APIS,
    ...KEYS,
    ...RESERVATIONS,
    ...KEY_PERMISSIONS,
    ...MIGRATIONS,
    ...IDENTITIES,
    ...PERMISSIONS,
    ...RATELIMIT,
  ],
  introduction: INTRODUCTION,
  unknownPath: "no such operation; UNKEY-V2.md of @latchkey/http lists those that exist",
  errorBody,
  errorSchema,
};
