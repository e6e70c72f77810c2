import {
  createApiInput,
  createIdentityInput,
  createKeyInput,
  deleteApiInput,
  deleteKeyInput,
  deleteKeysInput,
  expiryIssues,
  getApiInput,
  getIdentityInput,
  getKeyInput,
  listIdentitiesInput,
  listKeysInput,
  noInput,
  updateIdentityInput,
  updateKeyInput,
  updateRemainingInput,
  verifyKeyInput,
} from "@latchkey/core";
import { verifyScope } from "./authorize.js";
import { NOTHING, onApi, onApiById, onApiOfKey, onIdentity } from "./needs.js";
import { define, type Operation } from "./operation.js";
import { updateKeyNeeds } from "./update-key-needs.js";

/** The operation that a handler with `publicVerify` answers to everyone. */
export const VERIFY_KEY = "keys.verifyKey";

/** Every operation of the service, one entry each: nothing else has to know that it exists. */
export const OPERATIONS: readonly Operation[] = [
  define({
    name: "liveness",
    method: "GET",
    input: noInput,
    isPublic: true,
    needs: () => NOTHING,
    run: async () => ({}),
  }),
  define({
    name: "apis.createApi",
    method: "POST",
    input: createApiInput,
    needs: () => onApi(["create_api"]),
    run: ({ latchkey }, input) => latchkey.createApi(input),
  }),
  define({
    name: "apis.getApi",
    method: "GET",
    input: getApiInput,
    needs: ({ apiId }) => onApiById(apiId, "read_api"),
    run: ({ latchkey }, input) => latchkey.getApi(input),
  }),
  define({
    name: "apis.listKeys",
    method: "GET",
    input: listKeysInput,
    query: { limit: "integer", decrypt: "boolean", revalidateKeysCache: "boolean" },
    needs: ({ apiId, decrypt }) =>
      decrypt === true
        ? onApiById(apiId, "read_key", "read_api", "decrypt_key")
        : onApiById(apiId, "read_key", "read_api"),
    run: ({ latchkey }, input) => latchkey.listKeys(input),
  }),
  define({
    name: "apis.deleteApi",
    method: "POST",
    input: deleteApiInput,
    needs: ({ apiId }) => onApiById(apiId, "delete_api"),
    run: ({ latchkey }, input) => latchkey.deleteApi(input),
  }),
  define({
    name: "apis.deleteKeys",
    method: "POST",
    input: deleteKeysInput,
    needs: ({ apiId }) => onApiById(apiId, "delete_key"),
    run: ({ latchkey }, input) => latchkey.deleteKeys(input),
  }),
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
  define({
    name: "identities.createIdentity",
    method: "POST",
    input: createIdentityInput,
    needs: () => onIdentity("create_identity"),
    run: ({ latchkey }, input) => latchkey.createIdentity(input),
  }),
  define({
    name: "identities.getIdentity",
    method: "GET",
    input: getIdentityInput,
    needs: (ids) => onIdentity("read_identity", ids),
    run: ({ latchkey }, input) => latchkey.getIdentity(input),
  }),
  define({
    name: "identities.listIdentities",
    method: "GET",
    input: listIdentitiesInput,
    query: { limit: "integer" },
    needs: () => onIdentity("read_identity"),
    run: ({ latchkey }, input) => latchkey.listIdentities(input),
  }),
  define({
    name: "identities.updateIdentity",
    method: "POST",
    input: updateIdentityInput,
    needs: (ids) => onIdentity("update_identity", ids),
    run: ({ latchkey }, input) => latchkey.updateIdentity(input),
  }),
];
