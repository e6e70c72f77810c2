import { expiryIssues } from "@latchkey/core";
import { authorizeConditional } from "../auth/authorize.js";
import {
  andRbac,
  onApiById,
  onApiOfKey,
  onApiOfSecret,
  onIdentity,
  type RequiredPermissions,
  toListKeys,
} from "../auth/required-permissions.js";
import { updateKeyPermissions, updateKeysPermissions } from "../auth/update-key-permissions.js";
import { keyList } from "../response-schemas/apis.js";
import { keySummary, keyView, remainingUses } from "../response-schemas/keys.js";
import { createdOrRepeatedKey } from "../response-schemas/repeats.js";
import { empty } from "../response-schemas/shared.js";
import { verdict } from "../response-schemas/verdict.js";
import { API_ID, KEY, KEY_ID, NEXT_KEY_ID, REQUEST_ID, SECRET, START } from "./examples.js";
import { LIST_KEYS, listKeysText } from "./list-keys.js";
import { defineOperation, type Operation } from "./operation.js";
import { defineVerification } from "./verification.js";

/** The operation that `publicVerify` opens to everyone. */
export const VERIFY_KEY = "keys.verifyKey";

/** Operations on a single key. */
export const KEYS: readonly Operation[] = [
  defineOperation("keys.createKey", {
    summary: "Create a key",
    description:
      "Only this response contains the secret: pass it on and keep no copy. The identity of `externalId` is created in " +
      "the same write if it does not exist; roles and permissions must exist, unless `create` is true, which needs " +
      "`rbac.*.create_role` if it names roles and `rbac.*.create_permission` if it names permissions, too. `recoverable` " +
      "stores the secret encrypted, and needs `encrypt_key`, too.",
    extraIssues: expiryIssues,
    response: createdOrRepeatedKey,
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: {
      input: {
        apiId: API_ID,
        prefix: "acme",
        externalId: "user_1",
        remaining: 1_000,
        refill: { interval: "monthly", amount: 1_000 },
        ratelimit: { limit: 10, duration: 1_000 },
      },
      response: { keyId: KEY_ID, key: SECRET },
    },
    requiredPermissions: ({ apiId, recoverable, create, roles = [], permissions = [] }) =>
      andRbac(onApiById(apiId, "create_key", ...(recoverable ? (["encrypt_key"] as const) : [])), [
        ...(create && roles.length > 0 ? (["create_role"] as const) : []),
        ...(create && permissions.length > 0 ? (["create_permission"] as const) : []),
      ]),
  }),
  defineVerification(VERIFY_KEY, {
    summary: "Verify a key",
    description:
      "Decides whether a key is valid for this use, and charges it, in one atomic step. Every verdict is a 200: read " +
      "`valid` and `code`. A refusal charges nothing. With an `Idempotency-Key` a retry within 10 minutes gets the " +
      "same verdict and is charged once.",
    action: "verify_key",
    response: verdict,
    errors: ["CONFLICT"],
    example: {
      input: {
        key: SECRET,
        authorization: {
          permissions: { and: ["docs.read", { or: ["team.admin", "docs.write"] }] },
        },
        remaining: { cost: 2 },
      },
      response: {
        valid: true,
        code: "VALID",
        requestId: REQUEST_ID,
        keyId: KEY_ID,
        apiId: API_ID,
        enabled: true,
        permissions: ["docs.read", "docs.write"],
        roles: ["editor"],
        remaining: 998,
        ratelimit: { limit: 10, remaining: 9, reset: START + 1_000 },
        ratelimits: [
          { name: "default", limit: 10, remaining: 9, reset: START + 1_000, exceeded: false },
        ],
      },
    },
    run: ({ latchkey, verifyScope }, input) => latchkey.verifyKey(input, verifyScope),
  }),
  defineOperation("keys.explainKey", {
    summary: "Explain why a key is refused",
    description:
      "The dry run of a verification by the id of the key, for callers without the secret: `checks` contains every check in order, with " +
      "what it saw and when it would pass. Nothing is taken or counted.",
    response: verdict,
    errors: ["NOT_FOUND"],
    example: {
      input: { keyId: KEY_ID },
      response: {
        valid: false,
        code: "RATE_LIMITED",
        requestId: REQUEST_ID,
        keyId: KEY_ID,
        apiId: API_ID,
        enabled: true,
        permissions: [],
        roles: [],
        retryAfterMs: 400,
        checks: [
          { check: "exists", passed: true },
          { check: "enabled", passed: true },
          { check: "api", passed: true, apiId: API_ID },
          { check: "expiry", passed: true },
          { check: "address", passed: true },
          { check: "permissions", passed: true },
          {
            check: "ratelimit",
            passed: false,
            name: "default",
            limit: 10,
            remaining: 0,
            reset: START + 1_000,
            cost: 1,
            retryAfterMs: 400,
          },
          { check: "uses", passed: true, from: "key", cost: 1 },
        ],
      },
    },
    requiredPermissions: ({ keyId }) => onApiOfKey(keyId, "read_key"),
    run: async ({ latchkey }, input, requestId) => ({
      requestId,
      ...(await latchkey.explainKey(input)),
    }),
  }),
  defineOperation("keys.getKey", {
    method: "GET",
    summary: "Read a key",
    description:
      "`decrypt=true` shows the secret of a recoverable key, and needs `decrypt_key`, too.",
    queryTypes: { decrypt: "boolean" },
    response: keyView,
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { input: { keyId: KEY_ID }, response: KEY },
    requiredPermissions: ({ keyId, decrypt }) =>
      decrypt === true
        ? onApiOfKey(keyId, "read_key", "decrypt_key")
        : onApiOfKey(keyId, "read_key"),
  }),
  defineOperation("keys.listKeys", {
    ...LIST_KEYS,
    summary: "Find keys",
    description: listKeysText(
      "Of the whole workspace, or with `apiId`, `externalId` or `identityId` the keys of that API or user.",
    ),
    response: keyList,
    example: {
      input: { externalId: "user_1", enabled: true },
      response: { keys: [KEY], scanned: 3 },
    },
    requiredPermissions: toListKeys,
  }),
  defineOperation("keys.whoami", {
    summary: "Find a key by its secret",
    description:
      "Charges nothing and gives no verdict: a key that is disabled, expired or exhausted is returned, too, " +
      "with `enabled` false.",
    response: keySummary,
    errors: ["NOT_FOUND"],
    example: {
      input: { key: SECRET },
      response: { id: KEY_ID, name: "build server", createdAt: START, enabled: true },
    },
    requiredPermissions: ({ key }) => onApiOfSecret(key, "read_key"),
  }),
  defineOperation("keys.updateKey", {
    summary: "Change a key",
    description:
      "Omitted fields stay unchanged, `null` clears. `roles` and `permissions` replace the whole set: `roles` needs " +
      "`rbac.*.add_role_to_key` and `rbac.*.remove_role_from_key`, too, and with `create: true` " +
      "`rbac.*.create_role`; `permissions` likewise.",
    extraIssues: expiryIssues,
    response: empty,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: { input: { keyId: KEY_ID, name: "build server", expires: null }, response: {} },
    requiredPermissions: updateKeyPermissions,
  }),
  defineOperation("keys.updateKeys", {
    summary: "Change many keys",
    description:
      "The fields of `keys.updateKey`, for up to 100 keys: all of them are changed, or none. Needs what `keys.updateKey` needs, for " +
      "each key. An error about one key begins with its position in the list, such as `keyIds.3`.",
    extraIssues: expiryIssues,
    response: empty,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: { input: { keyIds: [KEY_ID, NEXT_KEY_ID], environment: "test" }, response: {} },
    requiredPermissions: updateKeysPermissions,
  }),
  defineOperation("keys.updateRemaining", {
    summary: "Set, increase or decrease the remaining uses",
    description:
      "Exactly one of: `keyId`, a key with uses of its own; `identityId` or `externalId`, an identity whose uses its keys " +
      "share. `set` with `null` makes the uses unlimited. `increment` and `decrement` of unlimited uses are a 400; a " +
      "decrement below 0 is a 412 and changes nothing. Needs `update_key` of the key's API, or `update_identity`.",
    response: remainingUses,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { keyId: KEY_ID, op: "increment", value: 500 },
      response: { remaining: 1_498 },
    },
    requiredPermissions: ({ keyId, ...ids }) =>
      keyId === undefined ? onIdentity("update_identity", ids) : onApiOfKey(keyId, "update_key"),
  }),
  defineOperation("keys.deleteKey", {
    summary: "Delete a key",
    description:
      "No verification that starts after the response succeeds. Nothing of the record is kept, with or without `permanent`.",
    response: empty,
    errors: ["NOT_FOUND"],
    example: { input: { keyId: KEY_ID }, response: {} },
    requiredPermissions: ({ keyId }) => onApiOfKey(keyId, "delete_key"),
  }),
  defineOperation("keys.rotateKey", {
    summary: "Replace the secret of a key",
    description:
      "Creates a key with the same settings, which shares uses and limits with the old one. The old key stays valid for " +
      "`graceMs`, but not beyond its own expiry. A key can be rotated only once; another rotation is a 409. Only this response contains " +
      "the new secret. A recoverable key needs `encrypt_key`, too.",
    response: createdOrRepeatedKey,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { keyId: KEY_ID, graceMs: 3_600_000 },
      response: { keyId: NEXT_KEY_ID, key: SECRET },
    },
    requiredPermissions: rotateKeyPermissions,
    run: (caller, input, _, repeat) =>
      caller.latchkey.rotateKey(input, {
        ...repeat,
        beforeSealing: (apiId) => authorizeConditional(caller, rotateKeyPermissions(input), apiId),
      }),
  }),
];

function rotateKeyPermissions({ keyId }: { readonly keyId: string }): RequiredPermissions {
  return {
    ...onApiOfKey(keyId, "create_key", "update_key"),
    conditional: {
      permission: { resource: "api", id: null, action: "encrypt_key" },
      when: "for a recoverable key also",
    },
  };
}
