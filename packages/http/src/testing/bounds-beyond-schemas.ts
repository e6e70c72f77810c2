import { DURATION_ERROR } from "@latchkey/core";
import { API_ID, KEY_ID, SECRET, START } from "../operations/examples.js";

/** A bound of the server that the document does not have, because JSON Schema or OpenAPI cannot express it. */
export interface BoundBeyondSchemas {
  /** Message of the server. */
  readonly message: string;
  /** Why the document cannot express it. */
  readonly reason: string;
  /** Operations whose document cannot express it; all unless given. If empty, only the example shows it. */
  readonly in?: readonly string[];
  /** An input that the document accepts and the server refuses with only this message. */
  readonly example: { readonly operation: string; readonly input: unknown };
}

const LIMIT = { name: "hourly", limit: 10, duration: 3_600_000 };
const HASH = {
  value: "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
  variant: "sha256_base64",
};

const TOO_LARGE_A_BUCKET =
  "must be smaller, or the duration shorter: burst × duration in ms + limit is at most 9007199254740991";

const SEPARATE_PARAMETERS = "OpenAPI describes each query parameter by itself";
const CONTENTS = "depends on a function of the contents, not on their form";

function nested(levels: number, wrap: (inner: unknown) => unknown, innermost: unknown): unknown {
  return levels === 0 ? innermost : wrap(nested(levels - 1, wrap, innermost));
}

function createKey(fields: object): BoundBeyondSchemas["example"] {
  return { operation: "keys.createKey", input: { apiId: API_ID, ...fields } };
}

function verifyKey(fields: object): BoundBeyondSchemas["example"] {
  return { operation: "keys.verifyKey", input: { key: SECRET, ...fields } };
}

function importKey(fields: object): BoundBeyondSchemas["example"] {
  return { operation: "migrations.createKeys", input: [{ apiId: API_ID, ...fields }] };
}

/** Every such bound. Each is tested; if server and document disagree on any other, the property fails. */
export const BOUNDS_BEYOND_SCHEMAS: readonly BoundBeyondSchemas[] = [
  {
    message: "must be later than now",
    reason: "depends on the clock",
    example: createKey({ expires: 1 }),
  },
  {
    message: "must be earlier than expires",
    reason: "compares two fields",
    example: createKey({ startsAt: START * 4, expires: START * 3 }),
  },
  {
    message: "must not be later than now",
    reason: "depends on the clock",
    example: { operation: "audit.pruneAuditEvents", input: { before: START * 2 } },
  },
  {
    message:
      'must be a whole number of ms from 0 to 31536000000, or the same in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"',
    reason: "a pattern that compares a number with a bound for each unit would be unreadable",
    example: { operation: "keys.rotateKey", input: { keyId: KEY_ID, graceMs: "366d" } },
  },
  {
    message: DURATION_ERROR,
    reason: "a pattern that compares a number with a bound for each unit would be unreadable",
    example: createKey({ ratelimits: [{ ...LIMIT, duration: "52125000d" }] }),
  },
  {
    message:
      'must be a whole number of ms from 60000 to 2^52, or the same in seconds, minutes, hours or days, such as "90m", "12h" or "7d"',
    reason: "a pattern that compares a number with a bound for each unit would be unreadable",
    example: createKey({ remaining: 1, refill: { interval: { every: "1s" }, amount: 1 } }),
  },
  {
    message:
      'must be at least a day: a whole number of ms from 86400000 to 2^52, or a text such as "24h" or "90d"',
    reason: "a pattern that compares a number with a bound for each unit would be unreadable",
    example: createKey({ expiresWhenUnused: "52130000d" }),
  },
  {
    message: "must not be given twice",
    reason: "uniqueItems compares whole items, not one field of them",
    example: createKey({ ratelimits: [LIMIT, { ...LIMIT, limit: 20 }] }),
  },
  {
    message: "must be a name of 1 to 512 characters",
    reason: "JSON Schema counts code points, the rule for permission queries UTF-16 units",
    in: [],
    example: verifyKey({ authorization: { permissions: "😀".repeat(257) } }),
  },
  {
    message: 'is only allowed with algorithm "token-bucket"',
    reason: "it would take two schemas for each limit, one for buckets and one for the others",
    example: createKey({ ratelimits: [{ ...LIMIT, burst: 20 }] }),
  },
  {
    message: 'must not be given with algorithm "concurrent"',
    reason:
      "it would take two schemas for each limit, one for concurrent ones and one for the others",
    example: createKey({ ratelimits: [{ ...LIMIT, algorithm: "concurrent", shadow: true }] }),
  },
  {
    message: 'must be from 1,000 to 86,400,000 ms: whole ms, or a text such as "30s", "5m" or "1h"',
    reason: "a pattern that compares a number with a bound for each unit would be unreadable",
    example: { operation: "keys.reserve", input: { key: SECRET, ttl: "25h" } },
  },
  {
    message: 'must be from 1,000 to 900,000 ms: whole ms, or a text such as "30s" or "5m"',
    reason: "a pattern that compares a number with a bound for each unit would be unreadable",
    example: {
      operation: "keys.exchangeKey",
      input: { key: SECRET, audience: "tides", ttl: "16m" },
    },
  },
  {
    message: TOO_LARGE_A_BUCKET,
    reason: "no keyword bounds a product",
    example: createKey({ ratelimits: [{ ...LIMIT, algorithm: "token-bucket", burst: 2 ** 52 }] }),
  },
  {
    message: "must be well-formed Unicode without NUL characters",
    reason: "a lone surrogate is no character: most engines do not even accept it in a pattern",
    example: createKey({ name: "\ud800" }),
  },
  {
    message: "must be at most 16384 bytes of JSON",
    reason: "no keyword bounds the size of an object",
    example: createKey({ meta: { text: "x".repeat(16_384) } }),
  },
  {
    message: "must be at most 16 levels deep",
    reason: "no keyword bounds the depth: it would take 16 schemas, one inside the other",
    example: createKey({ meta: nested(16, (inner) => ({ inner }), {}) }),
  },
  {
    message: "the body must be nested at most 32 levels deep",
    reason:
      "no keyword bounds the depth; a permission query is 16 deep at most for the same reason",
    example: verifyKey({
      authorization: { permissions: nested(16, (inner) => ({ and: [inner] }), "docs.read") },
    }),
  },
  {
    message: "must contain at most 1000 names and groups",
    reason: "no keyword bounds a number over several lists",
    example: verifyKey({
      authorization: { permissions: { or: Array.from({ length: 1_000 }, () => "docs.read") } },
    }),
  },
  {
    message: "must not name more than 10000 roles and permissions in total",
    reason: "no keyword bounds a number over several lists",
    example: {
      operation: "migrations.createKeys",
      input: Array.from({ length: 11 }, () => ({
        apiId: API_ID,
        hash: HASH,
        permissions: Array.from({ length: 1_000 }, () => "docs.read"),
      })),
    },
  },
  {
    message: "must be an IPv4 or IPv6 address, such as 192.0.2.7 or 2001:db8::7",
    reason: "the pattern says which characters occur: one for addresses would be unreadable",
    example: verifyKey({ ipAddress: "192.0.2" }),
  },
  {
    message:
      "must be an IPv4 or IPv6 address, or a CIDR range without bits set beyond its prefix, such as 192.0.2.0/24",
    reason: "no pattern finds bits beyond a prefix",
    example: {
      operation: "apis.updateApi",
      input: { apiId: API_ID, ipWhitelist: ["192.0.2.1/24"] },
    },
  },
  {
    message: "looks like a secret of latchkey, but its checksum is wrong: it would never verify",
    reason: CONTENTS,
    example: importKey({ plaintext: "acme_ZUvEA8f8SwkDjXbkPMxVkYgz7nKfm" }),
  },
  {
    message:
      "must be the beginning of plaintext: a prefix with its _, or so little that 112 bits stay unknown",
    reason: CONTENTS,
    example: importKey({ plaintext: "sk_live_1234567890", start: "other" }),
  },
  {
    message: "must not be the secret itself",
    reason: CONTENTS,
    example: importKey({ hash: HASH, start: "abc" }),
  },
  {
    message: "is required if externalId is not given",
    reason: SEPARATE_PARAMETERS,
    in: ["identities.getIdentity"],
    example: { operation: "identities.getIdentity", input: {} },
  },
  {
    message: `must be at most ${Number.MAX_SAFE_INTEGER} together with amount`,
    reason: "a sum of two fields",
    example: {
      operation: "keys.updateKey",
      input: {
        keyId: KEY_ID,
        refill: { interval: "daily", amount: 1, carryOver: Number.MAX_SAFE_INTEGER },
      },
    },
  },
  {
    message: "exactly one of keyId, identityId (or externalId) and apiId must be given",
    reason: SEPARATE_PARAMETERS,
    example: { operation: "keys.getVerifications", input: {} },
  },
  {
    message: "exactly one of keyId and identityId must be given",
    reason: SEPARATE_PARAMETERS,
    example: { operation: "keys.listReservations", input: {} },
  },
  {
    message: "must not be given with externalId",
    reason: SEPARATE_PARAMETERS,
    example: { operation: "keys.listKeys", input: { externalId: "user_1", identityId: "id_1" } },
  },
  {
    message: "at most one of keyId, identityId and actor may be given",
    reason: SEPARATE_PARAMETERS,
    example: { operation: "audit.listAuditEvents", input: { keyId: KEY_ID, actor: "alice" } },
  },
  {
    message: 'must be later than start, and at most 366 days after it with granularity "day"',
    reason: SEPARATE_PARAMETERS,
    example: { operation: "keys.getVerifications", input: { keyId: KEY_ID, start: 2, end: 1 } },
  },
  {
    message: "must be a cursor that this list returned",
    reason: CONTENTS,
    example: { operation: "identities.listIdentities", input: { cursor: "abc" } },
  },
];
