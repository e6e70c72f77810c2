import {
  createApiInput,
  deleteApiInput,
  deleteKeysInput,
  getApiInput,
  listApisInput,
  listKeysInput,
  updateApiInput,
} from "@latchkey/core";
import { onApi, onApiById } from "../auth/required-permissions.js";
import { api, apiList, createdApi, deletedKeys, keyList } from "../response-schemas/apis.js";
import { nothing } from "../response-schemas/shared.js";
import { API_ID, KEY } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** What is done with an API and with all of its keys. */
export const APIS: readonly Operation[] = [
  defineOperation({
    name: "apis.createApi",
    method: "POST",
    summary: "Make an API",
    description:
      "An API is a space of keys: a key belongs to one, and root keys can be limited to one. With an " +
      "`ipWhitelist` its keys are good only from those addresses.",
    input: createApiInput,
    answers: createdApi,
    refusals: [],
    example: { takes: { name: "payments" }, answers: { apiId: API_ID } },
    requiredPermissions: () => onApi(["create_api"]),
    run: ({ latchkey }, input) => latchkey.createApi(input),
  }),
  defineOperation({
    name: "apis.getApi",
    method: "GET",
    summary: "Read an API",
    input: getApiInput,
    answers: api,
    refusals: ["NOT_FOUND"],
    example: {
      takes: { apiId: API_ID },
      answers: { id: API_ID, name: "payments", workspaceId: "ws_default" },
    },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "read_api"),
    run: ({ latchkey }, input) => latchkey.getApi(input),
  }),
  defineOperation({
    name: "apis.listApis",
    method: "GET",
    summary: "List the APIs",
    description: "A page of APIs in the order of their creation.",
    input: listApisInput,
    query: { limit: "integer" },
    answers: apiList,
    refusals: [],
    example: {
      takes: { limit: 2 },
      answers: {
        apis: [{ id: API_ID, name: "payments", workspaceId: "ws_default", deleteProtection: true }],
        total: 1,
      },
    },
    requiredPermissions: () => onApi(["read_api"]),
    run: ({ latchkey }, input) => latchkey.listApis(input),
  }),
  defineOperation({
    name: "apis.updateApi",
    method: "POST",
    summary: "Change an API",
    description:
      "What is omitted stays. `ipWhitelist` replaces the whole list of addresses and CIDR ranges, IPv4 and IPv6; " +
      "an empty list, or `null`, lets the keys be used from anywhere. From the next verification on, keys are " +
      "refused with `FORBIDDEN` where `ipAddress` is none of them, or is not given.",
    input: updateApiInput,
    answers: nothing,
    refusals: ["NOT_FOUND", "CONFLICT"],
    example: {
      takes: {
        apiId: API_ID,
        deleteProtection: true,
        ipWhitelist: ["192.0.2.0/24", "2001:db8::7"],
      },
      answers: {},
    },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "update_api"),
    run: ({ latchkey }, input) => latchkey.updateApi(input),
  }),
  defineOperation({
    name: "apis.listKeys",
    method: "GET",
    summary: "List the keys of an API",
    description:
      "A page of keys in the order of their creation; `externalId` shows those of one identity only. " +
      "`cursor` of an answer asks for the page after it. With `decrypt=true` the secrets of recoverable " +
      "keys are shown, and `decrypt_key` is needed too.",
    input: listKeysInput,
    query: { limit: "integer", decrypt: "boolean", revalidateKeysCache: "boolean" },
    answers: keyList,
    refusals: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { takes: { apiId: API_ID, limit: 2 }, answers: { keys: [KEY], total: 1 } },
    requiredPermissions: ({ apiId, decrypt }) =>
      decrypt === true
        ? onApiById(apiId, "read_key", "read_api", "decrypt_key")
        : onApiById(apiId, "read_key", "read_api"),
    run: ({ latchkey }, input) => latchkey.listKeys(input),
  }),
  defineOperation({
    name: "apis.deleteApi",
    method: "POST",
    summary: "Delete an API and all of its keys",
    description: "Its keys stop verifying at once.",
    input: deleteApiInput,
    answers: nothing,
    refusals: ["NOT_FOUND", "DELETE_PROTECTED"],
    example: { takes: { apiId: API_ID }, answers: {} },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "delete_api"),
    run: ({ latchkey }, input) => latchkey.deleteApi(input),
  }),
  defineOperation({
    name: "apis.deleteKeys",
    method: "POST",
    summary: "Delete every key of an API",
    description: "A key that is issued meanwhile may or may not be among them.",
    input: deleteKeysInput,
    answers: deletedKeys,
    refusals: ["NOT_FOUND"],
    example: { takes: { apiId: API_ID }, answers: { deletedKeys: 12 } },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "delete_key"),
    run: ({ latchkey }, input) => latchkey.deleteKeys(input),
  }),
];
