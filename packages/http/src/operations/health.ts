import { noInput } from "@latchkey/core";
import { NO_PERMISSIONS } from "../auth/required-permissions.js";
import { nothing } from "../response-schemas/shared.js";
import { defineOperation, type Operation } from "./operation.js";

/** Whether the service runs, and whether it can answer. */
export const HEALTH: readonly Operation[] = [
  defineOperation({
    name: "liveness",
    method: "GET",
    summary: "Whether the service runs",
    description: "Answered to everyone, without a look at the store.",
    input: noInput,
    answers: nothing,
    refusals: [],
    example: { takes: {}, answers: {} },
    isPublic: true,
    requiredPermissions: () => NO_PERMISSIONS,
    run: async () => ({}),
  }),
  defineOperation({
    name: "readiness",
    method: "GET",
    summary: "Whether the service can answer",
    description: "Answered to everyone. Reads one small record: a 503 says that the store is away.",
    input: noInput,
    answers: nothing,
    refusals: ["STORE_UNAVAILABLE"],
    example: { takes: {}, answers: {} },
    isPublic: true,
    requiredPermissions: () => NO_PERMISSIONS,
    run: async ({ latchkey }) => {
      await latchkey.isWorkspaceEnabled();
      return {};
    },
  }),
];
