import { NO_PERMISSIONS } from "../auth/required-permissions.js";
import { empty } from "../response-schemas/shared.js";
import { defineHttpOnly, defineOperation, type Operation } from "./operation.js";

/** Whether the service runs, and whether its store is available. */
export const HEALTH: readonly Operation[] = [
  defineHttpOnly("liveness", {
    method: "GET",
    summary: "Check whether the service is running",
    description: "Open to everyone. Does not touch the store.",
    response: empty,
    example: { input: {}, response: {} },
    isPublic: true,
    requiredPermissions: () => NO_PERMISSIONS,
    run: async () => ({}),
  }),
  defineOperation("readiness", {
    operation: "isWorkspaceEnabled",
    method: "GET",
    summary: "Check whether the store is available",
    description:
      "Open to everyone. Reads one small record: a 503 means that the store is unavailable.",
    response: empty,
    errors: ["STORE_UNAVAILABLE"],
    example: { input: {}, response: {} },
    isPublic: true,
    requiredPermissions: () => NO_PERMISSIONS,
    run: async ({ latchkey }) => {
      await latchkey.isWorkspaceEnabled();
      return {};
    },
  }),
];
