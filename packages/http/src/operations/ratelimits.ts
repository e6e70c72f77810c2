import { limitInput } from "@latchkey/core";
import { onNamespace } from "../auth/required-permissions.js";
import { limitResult } from "../response-schemas/limits.js";
import { START } from "./examples.js";
import { defineOperation, type Operation } from "./operation.js";

/** Limits that belong to no key. */
export const RATELIMITS: readonly Operation[] = [
  defineOperation({
    name: "ratelimits.limit",
    operation: "limit",
    method: "POST",
    summary: "Take from a limit that belongs to no key",
    description:
      "A refusal is a 200 too: read `success`. It takes nothing, and `cost: 0` only looks. Namespace, identifier and " +
      "duration name a counter; the limit is that of the call. Without `namespace` it is `default`.",
    input: limitInput,
    response: limitResult,
    errors: [],
    example: {
      input: { namespace: "mail", identifier: "user_1", limit: 10, duration: 60_000 },
      response: { success: true, limit: 10, remaining: 9, reset: START + 60_000 },
    },
    requiredPermissions: ({ namespace }) => onNamespace(namespace, "limit"),
  }),
];
