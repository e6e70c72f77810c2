import { OPERATIONS as CORE_OPERATIONS } from "@latchkey/core";
import { z } from "zod";
import { allOf, onNamespace } from "../auth/required-permissions.js";
import { START } from "../operations/examples.js";
import type { Operation } from "../operations/operation.js";
import { limitStateAfter as state } from "../response-schemas/limits.js";
import { listOf } from "../response-schemas/shared.js";
import { dataBody } from "./bodies.js";
import { fieldsOf, pick } from "./fields.js";
import { defineV2 } from "./operation.js";

const asked = fieldsOf(CORE_OPERATIONS.limit.input);
const request = z.strictObject({
  namespace: asked.namespace.unwrap(),
  ...pick(asked, "identifier", "limit", "duration", "algorithm", "burst", "shadow", "cost"),
});

const REQUEST = { namespace: "mail", identifier: "user_1", limit: 10, duration: 60_000 };
const STATE = { limit: 10, remaining: 9, reset: START + 60_000 };

/** Operations on rate limits that belong to no key. */
export const RATELIMIT: readonly Operation[] = [
  defineV2("ratelimit.limit", {
    description:
      "A refusal is a 200, too: read `success`. It takes nothing, and `cost: 0` only looks. Namespace, identifier and " +
      "duration and algorithm identify a counter; each call brings its own `limit`.",
    input: request,
    response: dataBody(z.strictObject({ success: z.boolean(), ...state })),
    example: { input: REQUEST, response: { data: { success: true, ...STATE } } },
  }),
  defineV2("ratelimit.multiLimit", {
    operation: "limit",
    summary: "Take from several rate limits without a key",
    description:
      "The body is an array. Each limit is taken from separately, in this order, whatever the results of the others: read " +
      "`passed` of each, or of all.",
    acceptsList: true,
    input: z
      .array(request, { error: "must be a list of 1 to 100 limits" })
      .min(1, { error: "must be a list of 1 to 100 limits" })
      .max(100, { error: "must be a list of 1 to 100 limits" }),
    response: dataBody(
      z.strictObject({
        passed: z
          .boolean()
          .describe("Whether this limit admitted it; outside the list, whether all did."),
        limits: listOf(
          z.strictObject({
            namespace: z.string(),
            identifier: z.string(),
            ...state,
            passed: z.boolean(),
          }),
        ),
      }),
    ),
    example: {
      input: [REQUEST],
      response: {
        data: {
          passed: true,
          limits: [{ namespace: "mail", identifier: "user_1", ...STATE, passed: true }],
        },
      },
    },
    requiredPermissions: (requests) =>
      allOf(requests.map((one) => onNamespace(one.namespace, "limit"))),
    run: async ({ carryOut }, requests) => {
      const limits = [];
      for (const one of requests) {
        const { success, ...after } = await carryOut(one);
        const { namespace: of, identifier: by } = one;
        limits.push({ namespace: of, identifier: by, ...after, passed: success });
      }
      return { data: { passed: limits.every(({ passed }) => passed), limits } };
    },
  }),
];
