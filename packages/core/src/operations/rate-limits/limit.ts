import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { ChargePlan, LimitReading } from "../../store/charge.js";
import type { RatelimitState } from "../../verification/verdict.js";
import { namespaceWindow } from "../../verification/window-name.js";
import type { OperationContext } from "../context.js";
import { flag, list, metadata, namespace, parseInput, text, wholeNumber } from "../input.js";

/**
 * Input of limit. `namespace`: what is limited, 1 to 128 characters of `A-Z a-z 0-9 _ . : -`; `identifier`: who is, 1 to 255
 * characters; at most `limit` units in each window of `duration` ms; `cost` units are taken, 1 unless given; 0
 * only shows the window. Without `namespace` it is `default`. `async`, `meta` and `resources` are accepted for older clients,
 * and have no effect: every limit is exact.
 */
export const limitInput = z.strictObject({
  namespace: namespace.default("default"),
  identifier: text(1, 255),
  limit: wholeNumber(1),
  duration: wholeNumber(1),
  cost: wholeNumber(0).default(1),
  async: flag.optional(),
  meta: metadata.optional(),
  resources: list(z.record(z.string(), z.unknown()), 100, "resources").optional(),
});

/** Whether there was room, and the window as it stands afterwards. */
export interface LimitAnswer extends RatelimitState {
  /** False: nothing was taken. */
  readonly success: boolean;
}

/**
 * Takes from a rate limit that belongs to no key, in one atomic step: the same exact windows as those of keys. Namespace,
 * identifier and duration name a counter; the limit is that of the call, so a counter goes on where it changes. A limit
 * that is below what was taken already leaves 0, and refuses a cost of 0 too. It works in a disabled workspace, too.
 */
export async function limit(
  context: OperationContext,
  input: z.input<typeof limitInput>,
): Promise<LimitAnswer> {
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
}
