import { onApi, onApiById, onKeys, toListKeys } from "../auth/required-permissions.js";
import {
  api,
  apiList,
  createdApi,
  deletedKeys,
  disabledKeys,
  enabledKeys,
  ensuredApi,
  keyList,
} from "../response-schemas/apis.js";
import { empty } from "../response-schemas/shared.js";
import { API_ID, KEY } from "./examples.js";
import { LIST_KEYS, listKeysText } from "./list-keys.js";
import { defineOperation, type Operation } from "./operation.js";

/** Which keys deleteKeys, disableKeys and enableKeys act on. */
const WHICH_KEYS =
  "With `apiId` the keys of that API; with `externalId` or `identityId` the keys of that owner, in that API or in all; or the keys in " +
  "`keyIds`, where unknown ids are ignored. Without `apiId` it needs the permission for all APIs, with `keyIds` for the API of each key. " +
  "It works in bounded steps.";

/** Operations on an API and on all of its keys. */
export const APIS: readonly Operation[] = [
  defineOperation("apis.createApi", {
    summary: "Create an API",
    description:
      "An API is a key space: each key belongs to one, and root keys can be limited to one. With an " +
      "`ipWhitelist` its keys are valid from those addresses only.",
    response: createdApi,
    example: { input: { name: "payments" }, response: { apiId: API_ID } },
    requiredPermissions: () => onApi(["create_api"]),
  }),
  defineOperation("apis.ensureApi", {
    summary: "Get or create an API by name",
    description:
      "The API of this name, and whether this request created it. If several have the name, it is the oldest, and the same " +
      "from then on. Requests at the same moment all return the same API.",
    response: ensuredApi,
    example: { input: { name: "payments" }, response: { apiId: API_ID, created: true } },
    requiredPermissions: () => onApi(["create_api", "read_api"]),
  }),
  defineOperation("apis.getApi", {
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
  defineOperation("apis.listApis", {
    method: "GET",
    summary: "List the APIs",
    description: "One page, in the order of creation.",
    queryTypes: { limit: "integer" },
    response: apiList,
    example: {
      input: { limit: 2 },
      response: {
        apis: [{ id: API_ID, name: "payments", workspaceId: "ws_default", deleteProtection: true }],
        total: 1,
      },
    },
    requiredPermissions: () => onApi(["read_api"]),
  }),
  defineOperation("apis.updateApi", {
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
  defineOperation("apis.listKeys", {
    ...LIST_KEYS,
    summary: "List the keys of an API",
    description: listKeysText("With `externalId` or `identityId` only the keys of that user."),
    requiredField: "apiId",
    response: keyList,
    example: { input: { apiId: API_ID, limit: 2 }, response: { keys: [KEY], total: 1 } },
    requiredPermissions: toListKeys,
  }),
  defineOperation("apis.deleteApi", {
    summary: "Delete an API and all of its keys",
    description: "Its keys become invalid at once.",
    response: empty,
    errors: ["NOT_FOUND", "DELETE_PROTECTED"],
    example: { input: { apiId: API_ID }, response: {} },
    requiredPermissions: ({ apiId }) => onApiById(apiId, "delete_api"),
  }),
  defineOperation("apis.deleteKeys", {
    summary: "Delete the keys of an API or an owner",
    description: `${WHICH_KEYS} A key that is created meanwhile may or may not be deleted. If the request fails partway, send it again.`,
    response: deletedKeys,
    errors: ["NOT_FOUND"],
    example: { input: { apiId: API_ID }, response: { deletedKeys: 12 } },
    requiredPermissions: (which) => onKeys(which, "delete_key"),
  }),
  defineOperation("apis.disableKeys", {
    summary: "Disable the keys of an API or an owner",
    description: `${WHICH_KEYS} No verification of one of them succeeds after the response.`,
    response: disabledKeys,
    errors: ["NOT_FOUND"],
    example: {
      input: { apiId: API_ID, externalId: "user_1" },
      response: { disabledKeys: 3 },
    },
    requiredPermissions: (which) => onKeys(which, "update_key"),
  }),
  defineOperation("apis.enableKeys", {
    summary: "Enable the keys of an API or an owner",
    description:
      `${WHICH_KEYS} Nothing else of a key changes: one that has expired or has no uses left is still refused. Keys that cannot be ` +
      "read stay unchanged, and are counted.",
    response: enabledKeys,
    errors: ["NOT_FOUND"],
    example: {
      input: { apiId: API_ID, externalId: "user_1" },
      response: { enabledKeys: 3 },
    },
    requiredPermissions: (which) => onKeys(which, "update_key"),
  }),
];
