import { noInput } from "@latchkey/core";
import { NOTHING } from "../needs.js";
import { define, type Operation } from "../operation.js";

/** Whether the service runs. */
export const LIVENESS: readonly Operation[] = [
  define({
    name: "liveness",
    method: "GET",
    input: noInput,
    isPublic: true,
    needs: () => NOTHING,
    run: async () => ({}),
  }),
];
