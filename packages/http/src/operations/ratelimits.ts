import { onApiOfKey, onIdentity, onNamespace } from "../auth/required-permissions.js";
import { limitResult } from "../response-schemas/limits.js";
import { empty } from "../response-schemas/shared.js";
import { KEY_ID, START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Operations on rate limits. */
export const RATELIMITS: readonly Operation[] = [
  defineOperation("ratelimits.limit", {
    summary: "Take from a rate limit without a key",
    description:
      "A refusal is a 200, too: read `success`. It takes nothing, and `cost: 0` only looks. Namespace, identifier, " +
      "algorithm and duration identify a counter; each call brings its own `limit`.",
    response: limitResult,
    example: {
      input: { namespace: "mail", identifier: "user_1", limit: 10, duration: 60_000 },
      response: { success: true, limit: 10, remaining: 9, reset: START + 60_000 },
    },
    requiredPermissions: ({ namespace }) => onNamespace(namespace, "limit"),
  }),
  defineOperation("ratelimits.resetLimit", {
    summary: "Reset a rate limit",
    description:
      "The next use opens a new window. Exactly one of: `keyId` and `name`, a limit of a key, also one that only " +
      "verifications name, with its `duration`; `identityId` and `name`, a limit of an identity; `namespace`, " +
      "`identifier` and `duration`, one without a key. Needs `update_key` of the key's API, `update_identity`, or " +
      "`limit` of the namespace.",
    response: empty,
    errors: ["NOT_FOUND"],
    example: { input: { keyId: KEY_ID, name: "default" }, response: {} },
    requiredPermissions: ({ keyId, identityId, namespace }) => {
      if (keyId !== undefined) return onApiOfKey(keyId, "update_key");
      if (identityId !== undefined) return onIdentity("update_identity", { identityId });
      return onNamespace(namespace as string, "limit");
    },
  }),
];
