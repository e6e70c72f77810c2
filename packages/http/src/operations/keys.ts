import {
  createKeyInput,
  deleteKeyInput,
  expiryIssues,
  getKeyInput,
  rotateKeyInput,
  updateKeyInput,
  updateRemainingInput,
  verifyKeyInput,
  whoamiInput,
} from "@latchkey/core";
import { authorizeConditional, verifyScope } from "../auth/authorize.js";
import { onApi, onApiById, onApiOfKey, onApiOfSecret } from "../auth/required-permissions.js";
import { updateKeyPermissions } from "../auth/update-key-permissions.js";
import { createdKey, keySummary, keyView, remainingUses } from "../response-schemas/keys.js";
import { nothing } from "../response-schemas/shared.js";
import { verdict } from "../response-schemas/verdict.js";
import { API_ID, KEY, KEY_ID, NEXT_KEY_ID, REQUEST_ID, SECRET, START } from "./examples.js";
import { defineOperation, type Operation, type RequiredPermissions } from "./operation.js";

/** The operation that a handler with `publicVerify` answers to everyone. */
export const VERIFY_KEY = "keys.verifyKey";

/** What is done with a single key. */
export const KEYS: readonly Operation[] = [
  defineOperation({
    name: "keys.createKey",
    method: "POST",
    summary: "Issue a key",
    description:
      "The answer is the only place where the secret is handed out: pass it on and keep no copy. An " +
      "identity that `externalId` names is made in the same write; roles and permissions have to exist. " +
      "`recoverable` keeps the secret encrypted, and needs `encrypt_key` too.",
    input: createKeyInput,
    extraIssues: expiryIssues,
    answers: createdKey,
    refusals: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: {
      takes: {
        apiId: API_ID,
        prefix: "acme",
        externalId: "user_1",
        remaining: 1_000,
        refill: { interval: "monthly", amount: 1_000 },
        ratelimit: { limit: 10, duration: 1_000 },
      },
      answers: { keyId: KEY_ID, key: SECRET },
    },
    requiredPermissions: ({ apiId, recoverable }) =>
      recoverable ? onApiById(apiId, "create_key", "encrypt_key") : onApiById(apiId, "create_key"),
    run: ({ latchkey }, input) => latchkey.createKey(input),
  }),
  defineOperation({
    name: VERIFY_KEY,
    method: "POST",
    summary: "Verify a key",
    description:
      "Decides whether a secret may do what is asked, and takes what that costs, in one step. Every verdict " +
      "is a 200: read `valid` and `code`. A refusal takes nothing. With an `Idempotency-Key` a retry gets " +
      "the same verdict and is charged once, for 10 minutes.",
    input: verifyKeyInput,
    headers: { requestId: "Idempotency-Key" },
    sufficient: { resource: "api", id: null, action: "verify_key" },
    answers: verdict,
    refusals: ["CONFLICT"],
    example: {
      takes: {
        key: SECRET,
        authorization: {
          permissions: { and: ["docs.read", { or: ["team.admin", "docs.write"] }] },
        },
        remaining: { cost: 2 },
      },
      answers: {
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
    requiredPermissions: ({ apiId }) =>
      apiId === undefined
        ? onApi(["verify_key"], { kind: "any-api" })
        : onApiById(apiId, "verify_key"),
    run: async ({ latchkey, permissions }, input, requestId) =>
      // Not a spread: the engine copies by assign three times as fast, and this is the busiest line of all.
      Object.assign({ requestId }, await latchkey.verifyKey(input, verifyScope(permissions))),
  }),
  defineOperation({
    name: "keys.getKey",
    method: "GET",
    summary: "Read a key",
    description:
      "With `decrypt=true` the secret of a recoverable key is shown, and `decrypt_key` is needed too.",
    input: getKeyInput,
    query: { decrypt: "boolean" },
    answers: keyView,
    refusals: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { takes: { keyId: KEY_ID }, answers: KEY },
    requiredPermissions: ({ keyId, decrypt }) =>
      decrypt === true
        ? onApiOfKey(keyId, "read_key", "decrypt_key")
        : onApiOfKey(keyId, "read_key"),
    run: ({ latchkey }, input) => latchkey.getKey(input),
  }),
  defineOperation({
    name: "keys.whoami",
    method: "POST",
    summary: "Tell what a secret is the key of",
    description:
      "Charges nothing and gives no verdict: a key that is switched off, expired or exhausted is answered too, " +
      "with `enabled` false.",
    input: whoamiInput,
    answers: keySummary,
    refusals: ["NOT_FOUND"],
    example: {
      takes: { key: SECRET },
      answers: { id: KEY_ID, name: "build server", createdAt: START, enabled: true },
    },
    requiredPermissions: ({ key }) => onApiOfSecret(key, "read_key"),
    run: ({ latchkey }, input) => latchkey.whoami(input),
  }),
  defineOperation({
    name: "keys.updateKey",
    method: "POST",
    summary: "Change a key",
    description:
      "What is omitted stays, `null` clears. `roles` and `permissions` replace the whole set: the first needs " +
      "`rbac.*.add_role_to_key` and `rbac.*.remove_role_from_key` too, and with `create: true` " +
      "`rbac.*.create_role`; the second likewise.",
    input: updateKeyInput,
    extraIssues: expiryIssues,
    answers: nothing,
    refusals: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: { takes: { keyId: KEY_ID, name: "build server", expires: null }, answers: {} },
    requiredPermissions: updateKeyPermissions,
    run: ({ latchkey }, input) => latchkey.updateKey(input),
  }),
  defineOperation({
    name: "keys.updateRemaining",
    method: "POST",
    summary: "Set, raise or lower the uses left",
    description:
      "`set` takes `null` for unlimited. Raising or lowering an unlimited key is a 400; lowering below 0 is a " +
      "412 and changes nothing.",
    input: updateRemainingInput,
    answers: remainingUses,
    refusals: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      takes: { keyId: KEY_ID, op: "increment", value: 500 },
      answers: { remaining: 1_498 },
    },
    requiredPermissions: ({ keyId }) => onApiOfKey(keyId, "update_key"),
    run: ({ latchkey }, input) => latchkey.updateRemaining(input),
  }),
  defineOperation({
    name: "keys.deleteKey",
    method: "POST",
    summary: "Delete a key",
    description:
      "No verification that starts after the answer succeeds. With `permanent` nothing of the record is kept.",
    input: deleteKeyInput,
    answers: nothing,
    refusals: ["NOT_FOUND"],
    example: { takes: { keyId: KEY_ID }, answers: {} },
    requiredPermissions: ({ keyId }) => onApiOfKey(keyId, "delete_key"),
    run: ({ latchkey }, input) => latchkey.deleteKey(input),
  }),
  defineOperation({
    name: "keys.rotateKey",
    method: "POST",
    summary: "Give a key a new secret",
    description:
      "Makes a key with the same settings, which shares the uses and limits of the old one. The old key lives for `graceMs` " +
      "more, and no longer than it would have. A key is rotated once: again is a 409. The answer is the only place where " +
      "the new secret is handed out. For a recoverable key `encrypt_key` is needed too.",
    input: rotateKeyInput,
    answers: createdKey,
    refusals: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      takes: { keyId: KEY_ID, graceMs: 3_600_000 },
      answers: { keyId: NEXT_KEY_ID, key: SECRET },
    },
    requiredPermissions: rotateKeyPermissions,
    run: (caller, input) =>
      caller.latchkey.rotateKey(input, {
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
