import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ChargePlan, LimitReading } from "../../store/charge.js";
import { namespaceWindow } from "../../verification/window-name.js";
import { flag, list, metadata, namespace, parseInput, text, wholeNumber } from "../input.js";
import type { Run } from "../run.js";
import { duration } from "../time-input.js";
import type { LimitOperations } from "./operations.js";

/** Schema of the input of limit. */
export const limitInput = z.strictObject({
  namespace: namespace.default("default"),
  identifier: text(1, 255),
  limit: wholeNumber(1),
  duration,
  cost: wholeNumber(0).default(1),
  async: flag.optional(),
  meta: metadata.optional(),
  resources: list(z.record(z.string(), z.unknown()), 100, "resources").optional(),
});

/** @see LimitOperations.limit */
export const limit: Run<LimitOperations["limit"]> = async (context, input) => {
  const { namespace, identifier, cost, limit, duration } = parseInput(limitInput, input);
  const window = namespaceWindow(namespace, identifier, duration);
  const plan: ChargePlan = {
    workspaceId: context.workspaceId,
    revision: null,
    confirms: [],
    mode: "commit",
    cost: 0,
    uses: null,
    limits: [{ name: namespace, limit, duration, cost, window, owner: null }],
  };
  const charge = await context.store.charge(plan, { now: context.now(), refill: null });
  if (charge.kind === "stale" || charge.kind === "conflict")
    throw new LatchkeyError(
      "INTERNAL_SERVER_ERROR",
      "the store refused a plan that rests on nothing",
    );
  const [reading] = charge.limits as readonly [LimitReading];
  const { remaining, resetAt } = reading;
  return { success: charge.kind === "charged", limit, remaining, reset: resetAt };
};
