import { expiryIssues } from "@latchkey/core";
import { onWorkspace } from "../auth/required-permissions.js";
import { createdOrRepeatedRootKey, rootKeyList } from "../response-schemas/root-keys.js";
import { empty } from "../response-schemas/shared.js";
import { NEXT_ROOT_KEY_ID, ROOT_KEY_ID, ROOT_SECRET, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

const BOUND =
  "A root key cannot get a permission that the caller does not hold, or expire later than the caller: that is a 403.";

/** Operations on root keys. The commit checks that no caller gives a root key more permissions than it holds. */
export const ROOT_KEYS: readonly Operation[] = [
  defineOperation("rootKeys.createRootKey", {
    summary: "Create a root key",
    description: `Only this response contains the secret. ${BOUND}`,
    extraIssues: expiryIssues,
    response: createdOrRepeatedRootKey,
    example: {
      input: { permissions: ["api.*.verify_key"], name: "gateway" },
      response: { rootKeyId: ROOT_KEY_ID, key: ROOT_SECRET },
    },
    requiredPermissions: () => onWorkspace("root", "create_root_key"),
    run: ({ latchkey, rootKeyScope }, input, _, repeat) =>
      latchkey.createRootKey(input, { ...repeat, ...rootKeyScope }),
  }),
  defineOperation("rootKeys.listRootKeys", {
    method: "GET",
    summary: "List the root keys",
    description: "One page, in the order of creation, without secrets.",
    queryTypes: { limit: "integer" },
    response: rootKeyList,
    example: {
      input: { limit: 2 },
      response: {
        rootKeys: [
          {
            id: ROOT_KEY_ID,
            start: "lk_root_EXAM",
            name: "gateway",
            permissions: ["api.*.verify_key"],
            enabled: true,
            createdAt: START,
          },
        ],
        total: 1,
      },
    },
    requiredPermissions: () => onWorkspace("root", "read_root_key"),
  }),
  defineOperation("rootKeys.updateRootKey", {
    summary: "Update a root key",
    description: `Omitted fields stay unchanged. ${BOUND} Nor can a caller change a root key that holds more than the caller.`,
    extraIssues: expiryIssues,
    response: empty,
    errors: ["NOT_FOUND", "PRECONDITION_FAILED"],
    example: {
      input: { rootKeyId: ROOT_KEY_ID, permissions: ["api.*.read_key"] },
      response: {},
    },
    requiredPermissions: () => onWorkspace("root", "update_root_key"),
    run: ({ latchkey, rootKeyScope }, input, _, repeat) =>
      latchkey.updateRootKey(input, { ...repeat, ...rootKeyScope }),
  }),
  defineOperation("rootKeys.rotateRootKey", {
    summary: "Rotate a root key",
    description: `Creates a root key with a new secret and the same permissions; the old one expires at once, or after \`graceMs\`. Only this response contains the secret. ${BOUND}`,
    response: createdOrRepeatedRootKey,
    errors: ["NOT_FOUND", "CONFLICT", "PRECONDITION_FAILED"],
    example: {
      input: { rootKeyId: ROOT_KEY_ID, graceMs: 3_600_000 },
      response: { rootKeyId: NEXT_ROOT_KEY_ID, key: ROOT_SECRET },
    },
    requiredPermissions: () => onWorkspace("root", "create_root_key", "update_root_key"),
    run: ({ latchkey, rootKeyScope }, input, _, repeat) =>
      latchkey.rotateRootKey(input, { ...repeat, ...rootKeyScope }),
  }),
  defineOperation("rootKeys.revokeRootKey", {
    summary: "Revoke a root key",
    description:
      "Permanent, whatever permissions it holds. From then on, it authorises no request.",
    response: empty,
    errors: ["NOT_FOUND"],
    example: { input: { rootKeyId: ROOT_KEY_ID }, response: {} },
    requiredPermissions: () => onWorkspace("root", "revoke_root_key"),
  }),
];
