import {
  createKeyInput,
  deleteKeyInput,
  expiryIssues,
  getKeyInput,
  updateKeyInput,
  updateRemainingInput,
  verifyKeyInput,
} from "@latchkey/core";
import { verifyScope } from "../authorize.js";
import { onApi, onApiById, onApiOfKey } from "../needs.js";
import { define, type Operation } from "../operation.js";
import { updateKeyNeeds } from "../update-key-needs.js";

/** The operation that a handler with `publicVerify` answers to everyone. */
export const VERIFY_KEY = "keys.verifyKey";

/** What is done with a single key. */
export const KEYS: readonly Operation[] = [
  define({
    name: "keys.createKey",
    method: "POST",
    input: createKeyInput,
    furtherIssues: expiryIssues,
    needs: ({ apiId, recoverable }) =>
      recoverable ? onApiById(apiId, "create_key", "encrypt_key") : onApiById(apiId, "create_key"),
    run: ({ latchkey }, input) => latchkey.createKey(input),
  }),
  define({
    name: VERIFY_KEY,
    method: "POST",
    input: verifyKeyInput,
    headers: { requestId: "Idempotency-Key" },
    enough: { resource: "api", id: null, action: "verify_key" },
    needs: ({ apiId }) =>
      apiId === undefined
        ? onApi(["verify_key"], { kind: "any-api" })
        : onApiById(apiId, "verify_key"),
    run: async ({ latchkey, permissions }, input, requestId) =>
      // Not a spread: the engine copies by assign three times as fast, and this is the busiest line of all.
      Object.assign({ requestId }, await latchkey.verifyKey(input, verifyScope(permissions))),
  }),
  define({
    name: "keys.getKey",
    method: "GET",
    input: getKeyInput,
    query: { decrypt: "boolean" },
    needs: ({ keyId, decrypt }) =>
      decrypt === true
        ? onApiOfKey(keyId, "read_key", "decrypt_key")
        : onApiOfKey(keyId, "read_key"),
    run: ({ latchkey }, input) => latchkey.getKey(input),
  }),
  define({
    name: "keys.updateKey",
    method: "POST",
    input: updateKeyInput,
    furtherIssues: expiryIssues,
    needs: updateKeyNeeds,
    run: ({ latchkey }, input) => latchkey.updateKey(input),
  }),
  define({
    name: "keys.updateRemaining",
    method: "POST",
    input: updateRemainingInput,
    needs: ({ keyId }) => onApiOfKey(keyId, "update_key"),
    run: ({ latchkey }, input) => latchkey.updateRemaining(input),
  }),
  define({
    name: "keys.deleteKey",
    method: "POST",
    input: deleteKeyInput,
    needs: ({ keyId }) => onApiOfKey(keyId, "delete_key"),
    run: ({ latchkey }, input) => latchkey.deleteKey(input),
  }),
];
