import { onApi, onApiById } from "../auth/required-permissions.js";
import {
  api,
  apiList,
  createdApi,
  deletedKeys,
  ensuredApi,
  keyList,
} from "../response-schemas/apis.js";
import { empty } from "../response-schemas/shared.js";
import { API_ID, KEY } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Operations on an API and on all of its keys. */
export const APIS: readonly Operation[] = [
  defineOperation({
    name: "apis.createApi",
    operation: "createApi",
    method: "POST",
    summary: "Create an API",
    description:
      "An API is a key space: each key belongs to one, and root keys can be limited to one. With an " +
      "`ipWhitelist` its keys are valid from those addresses only.",
    response: createdApi,
    errors: [],
    example: { input: { name: "payments" }, response: { apiId: API_ID } },
    requiredPermissions: () => onApi(["create_api"]),
  }),
  defineOperation({
    name: "apis.ensureApi",
    operation: "ensureApi",
    method: "POST",
    summary: "Create an API unless one has the name",
    description:
      "The API of this name, and whether this request created it. If several have the name, it is the oldest, and the same " +
      "from then on. Requests at the same moment all return the same API.",
    response: ensuredApi,
    errors: [],
    example: { input: { name: "payments" }, response: { apiId: API_ID, created: true } },
    requiredPermissions: () => onApi(["create_api", "read_api"]),
  }),
  defineOperation({
    name: "apis.getApi",
    operation: "getApi",
    method: "GET",
    summary: "Read an API",
    response: api,
    errors: ["NOT_FOUND"],
    example: {
      input: { apiId: API_ID },
      response: { id: API_ID, name: "payments", workspaceId: "ws_default" },
    },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "read_api"),
  }),
  defineOperation({
    name: "apis.listApis",
    operation: "listApis",
    method: "GET",
    summary: "List the APIs",
    description: "One page, in the order of creation.",
    queryTypes: { limit: "integer" },
    response: apiList,
    errors: [],
    example: {
      input: { limit: 2 },
      response: {
        apis: [{ id: API_ID, name: "payments", workspaceId: "ws_default", deleteProtection: true }],
        total: 1,
      },
    },
    requiredPermissions: () => onApi(["read_api"]),
  }),
  defineOperation({
    name: "apis.updateApi",
    operation: "updateApi",
    method: "POST",
    summary: "Change an API",
    description:
      "Omitted fields stay unchanged. `ipWhitelist` replaces the whole list of addresses and CIDR ranges, IPv4 and " +
      "IPv6; an empty list, or `null`, allows every address. From the next verification on, a key is refused with " +
      "`FORBIDDEN` if `ipAddress` is not in the list, or is omitted.",
    response: empty,
    errors: ["NOT_FOUND", "CONFLICT"],
    example: {
      input: {
        apiId: API_ID,
        deleteProtection: true,
        ipWhitelist: ["192.0.2.0/24", "2001:db8::7"],
      },
      response: {},
    },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "update_api"),
  }),
  defineOperation({
    name: "apis.listKeys",
    operation: "listKeys",
    method: "GET",
    summary: "List the keys of an API",
    description:
      "One page, in the order of creation; with `externalId` only the keys of that identity. Send the `cursor` of a " +
      "response to get the next page. `decrypt=true` shows the secrets of recoverable keys, and needs `decrypt_key`, too.",
    queryTypes: { limit: "integer", decrypt: "boolean", revalidateKeysCache: "boolean" },
    response: keyList,
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: { input: { apiId: API_ID, limit: 2 }, response: { keys: [KEY], total: 1 } },
    requiredPermissions: ({ apiId, decrypt }) =>
      decrypt === true
        ? onApiById(apiId, "read_key", "read_api", "decrypt_key")
        : onApiById(apiId, "read_key", "read_api"),
  }),
  defineOperation({
    name: "apis.deleteApi",
    operation: "deleteApi",
    method: "POST",
    summary: "Delete an API and all of its keys",
    description: "Its keys are invalid at once.",
    response: empty,
    errors: ["NOT_FOUND", "DELETE_PROTECTED"],
    example: { input: { apiId: API_ID }, response: {} },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "delete_api"),
  }),
  defineOperation({
    name: "apis.deleteKeys",
    operation: "deleteKeys",
    method: "POST",
    summary: "Delete every key of an API",
    description: "A key that is created meanwhile may or may not be deleted.",
    response: deletedKeys,
    errors: ["NOT_FOUND"],
    example: { input: { apiId: API_ID }, response: { deletedKeys: 12 } },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "delete_key"),
  }),
];
