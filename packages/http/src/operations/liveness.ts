import { noInput } from "@latchkey/core";
import { NOTHING } from "../auth/needs.js";
import { nothing } from "../response-schemas/shared.js";
import { define, type Operation } from "./operation.js";

/** Whether the service runs, and whether it can answer. */
export const LIVENESS: readonly Operation[] = [
  define({
    name: "liveness",
    method: "GET",
    summary: "Whether the service runs",
    description: "Answered to everyone, without a look at the store.",
    input: noInput,
    answers: nothing,
    refusals: [],
    example: { takes: {}, answers: {} },
    isPublic: true,
    needs: () => NOTHING,
    run: async () => ({}),
  }),
  define({
    name: "readiness",
    method: "GET",
    summary: "Whether the service can answer",
    description: "Answered to everyone. Reads one small record: a 503 says that the store is away.",
    input: noInput,
    answers: nothing,
    refusals: ["STORE_UNAVAILABLE"],
    example: { takes: {}, answers: {} },
    isPublic: true,
    needs: () => NOTHING,
    run: async ({ latchkey }) => {
      await latchkey.isWorkspaceEnabled();
      return {};
    },
  }),
];
