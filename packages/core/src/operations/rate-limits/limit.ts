import { z } from "zod";
import type { RatelimitState } from "../../verification/verdict.js";
import type { OperationContext } from "../context.js";
import { flag, list, metadata, namespace, parseInput, text, wholeNumber } from "../input.js";

/**
 * Input of limit. `namespace`: what is limited, 1 to 128 characters of `A-Z a-z 0-9 _ . : -`; `identifier`: who is, 1 to 255
 * characters; at most `limit` units in each window of `duration` ms; `cost` units are asked for, 1 unless given, and 0
 * only looks. Without `namespace` it is `default`. `async`, `meta` and `resources` are accepted for clients of long standing,
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
 * that is below what was taken already leaves 0, and refuses a look too. Whether the workspace is switched on is not asked.
 */
export async function limit(
  context: OperationContext,
  input: z.input<typeof limitInput>,
): Promise<LimitAnswer> {
  const { namespace, identifier, cost, ...asked } = parseInput(limitInput, input);
  const { store, workspaceId } = context;
  const { limit, duration } = asked;
  const counter = { workspaceId, namespace, identifier, duration };
  const plan = { ...counter, limit, cost, now: context.now() };
  const { kind, window } = await store.takeFromNamespace(plan);
  return {
    success: kind === "admit",
    limit,
    remaining: Math.max(0, limit - window.used),
    reset: window.startedAt + duration,
  };
}
