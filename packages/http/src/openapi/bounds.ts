import type { JsonSchema } from "./components.js";
import { findByPath, ofEach } from "./path-table.js";

/** At least one of these fields. */
const either = (...fields: readonly string[]): JsonSchema => ({
  anyOf: fields.map((field) => ({ required: [field] })),
});

/** None of these fields. */
const without = (...fields: readonly string[]): JsonSchema => ({ not: either(...fields) });

/** The field is present, with this value. */
const isGiven = (field: string, value: unknown): JsonSchema => ({
  properties: { [field]: { const: value } },
  required: [field],
});

/** The second schema if the first holds, else the third. */
export function when(condition: JsonSchema, consequence: JsonSchema, otherwise: JsonSchema = {}) {
  const isOpen = Object.keys(otherwise).length === 0;
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { if: condition, then: consequence, ...(isOpen ? {} : { else: otherwise }) };
}

/** An item that is an object names its role or permission by id or name. */
const IDS_OR_NAMES: JsonSchema = {
  items: when({ type: "object" }, either("id", "name")),
};

/** The limit named `default` always applies by itself. */
const KEY_LIMITS: JsonSchema = {
  items: {
    not: {
      properties: { name: { const: "default" }, autoApply: { const: false } },
      required: ["name", "autoApply"],
    },
  },
};

/** An ad-hoc limit of a request has both figures. */
const REQUESTED_LIMITS: JsonSchema = {
  items: {
    dependentRequired: {
      limit: ["duration"],
      duration: ["limit"],
      algorithm: ["limit", "duration"],
      burst: ["limit", "duration"],
      shadow: ["limit", "duration"],
    },
  },
};

/** Without a key, nothing could free a slot. */
const NOT_CONCURRENT: JsonSchema = { not: { const: "concurrent" } };

/** `ratelimit` is the limit named `default`, which must not be given twice. */
const ONE_DEFAULT: JsonSchema = {
  dependentSchemas: {
    ratelimit: { properties: { ratelimits: { items: { not: isGiven("name", "default") } } } },
  },
};

/** A refill restores uses, so it needs `remaining`. */
const REFILL_OF_USES: JsonSchema = { dependentRequired: { refill: ["remaining"] } };

/** Rules across the fields of a new key. */
const NEW_KEY: JsonSchema = {
  ...ONE_DEFAULT,
  ...when(
    isGiven("usesFrom", "identity"),
    { ...either("externalId", "ownerId"), ...without("remaining", "refill") },
    REFILL_OF_USES,
  ),
};

const HASH_PATTERNS: Readonly<Record<string, string>> = {
  // The last character before the padding carries four bits and two zeros.
  sha256_base64: "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$",
  sha256_base64url: "^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$",
  sha256_hex: "^[0-9A-Fa-f]{64}$",
};

/** A limit of a key, of an identity or of a namespace. */
const RESET_LIMIT: JsonSchema = {
  oneOf: [
    { required: ["keyId", "name"], ...without("identityId", "namespace", "identifier") },
    {
      required: ["identityId", "name"],
      ...without("keyId", "namespace", "identifier", "duration"),
    },
    {
      required: ["namespace", "identifier", "duration"],
      ...without("keyId", "identityId", "name"),
    },
  ],
};

/** Keys of an API or of an owner, or those with these ids. */
const KEYS: JsonSchema = {
  oneOf: [either("apiId", "identityId", "externalId"), { required: ["keyIds"] }],
};

/**
 * Keywords that zod cannot derive, because core checks the bound with a function. They are added to the schemas of inputs, by the same
 * paths as the notes on fields. A property test compares the result with what the server accepts.
 */
const BOUNDS: Readonly<Record<string, JsonSchema>> = {
  // At least a day, in any unit.
  expiresWhenUnused: {
    pattern:
      "^(?:[1-9]\\d{0,7}d|(?:2[4-9]|[3-9]\\d|[1-9]\\d{2,7})h|(?:14[4-9]\\d|1[5-9]\\d{2}|[2-9]\\d{3}|[1-9]\\d{4,7})m|(?:864\\d{2}|86[5-9]\\d{2}|8[7-9]\\d{3}|9\\d{4}|[1-9]\\d{5,7})s)$",
  },
  hash: {
    allOf: Object.entries(HASH_PATTERNS).map(([variant, pattern]) =>
      when(isGiven("variant", variant), { properties: { value: { pattern } } }),
    ),
  },
  ipAddress: {
    minLength: 2,
    maxLength: 128,
    pattern: "^\\[?[0-9A-Fa-f:.]+(?:%[0-9A-Za-z._~-]{1,64})?(?:\\](?::[0-9]{1,5})?)?$",
  },
  ipWhitelist: { items: { minLength: 2, pattern: "^[0-9A-Fa-f:.]+(?:/[0-9]{1,3})?$" } },
  plaintext: { minLength: 1, maxLength: 512, pattern: "^[ -~]*$" },
  prefix: { maxLength: 16, pattern: "^(?:[A-Za-z0-9_-]*[A-Za-z0-9-])?$" },
  refill: {
    dependentSchemas: { refillDay: { properties: { interval: { enum: ["weekly", "monthly"] } } } },
    ...when(isGiven("interval", "weekly"), { properties: { refillDay: { maximum: 7 } } }),
  },
  ...ofEach(["apis.createApi", "apis.updateApi"], {
    defaults: REFILL_OF_USES,
    "defaults.ratelimits": KEY_LIMITS,
  }),
  "apis.deleteKeys": KEYS,
  "apis.disableKeys": KEYS,
  "apis.enableKeys": KEYS,
  "identities.createIdentity": REFILL_OF_USES,
  "identities.eraseIdentity": either("identityId", "externalId"),
  "identities.updateIdentity": either("identityId", "externalId"),
  "keys.createKey": NEW_KEY,
  "keys.createKey.ratelimits": KEY_LIMITS,
  "keys.updateKey": ONE_DEFAULT,
  "keys.updateKeys": ONE_DEFAULT,
  ...ofEach(["keys.updateKey", "keys.updateKeys"], {
    permissions: IDS_OR_NAMES,
    ratelimits: KEY_LIMITS,
    roles: IDS_OR_NAMES,
  }),
  ...ofEach(["keys.addPermissions", "keys.setPermissions", "keys.removePermissions"], {
    permissions: IDS_OR_NAMES,
  }),
  ...ofEach(["keys.addRoles", "keys.setRoles", "keys.removeRoles"], { roles: IDS_OR_NAMES }),
  ...ofEach(["keys.verifyKey", "keys.explainKey", "keys.exchangeKey", "keys.reserve"], {
    ratelimits: REQUESTED_LIMITS,
  }),
  "keys.updateRemaining": {
    oneOf: ["keyId", "identityId", "externalId"].map((field) => ({ required: [field] })),
    ...when(isGiven("op", "set"), {}, { properties: { value: { type: "integer", minimum: 1 } } }),
  },
  "migrations.createKeys": {
    items: {
      ...NEW_KEY,
      allOf: [
        { oneOf: [{ required: ["hash"] }, { required: ["plaintext"] }] },
        when(isGiven("recoverable", true), { required: ["plaintext"] }),
      ],
    },
  },
  "migrations.createKeys.ratelimits": KEY_LIMITS,
  "ratelimits.limit.algorithm": NOT_CONCURRENT,
  "ratelimits.resetLimit": RESET_LIMIT,
  // A text here, and its schema has its own pattern.
  "v2 keys.migrateKeys.keys.hash": {},
  "v2 ratelimit.limit.algorithm": NOT_CONCURRENT,
  "v2 ratelimit.multiLimit.algorithm": NOT_CONCURRENT,
};

/** Strings that core checks with a function must not contain NUL characters. */
export const TEXT_PATTERN = "^[^\\x00]*$";

/**
 * Adds the further bounds to a schema of an input.
 *
 * @param path - As {@link findByPath} takes it.
 */
export function withBounds(schema: JsonSchema, path: readonly string[]): JsonSchema {
  const bounds = findByPath(BOUNDS, path);
  return bounds === undefined ? schema : merged(schema, bounds);
}

/**
 * The keywords of both schemas. `items` are merged; for any other keyword, `bounds` wins. If the value is a choice of types, a pattern goes
 * into the schemas of its texts: next to the choice, some client generators would apply it to values of any type.
 */
function merged(schema: JsonSchema, bounds: JsonSchema): JsonSchema {
  if (Array.isArray(schema.anyOf) && "pattern" in bounds)
    return { ...schema, anyOf: schema.anyOf.map((choice) => withPattern(choice, bounds)) };
  const result = { ...schema, ...bounds };
  if (isSchema(schema.items) && isSchema(bounds.items))
    result.items = merged(schema.items, bounds.items);
  return result;
}

function withPattern(choice: JsonSchema, bounds: JsonSchema): JsonSchema {
  return choice.type === "string" || "anyOf" in choice ? merged(choice, bounds) : choice;
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null;
}
