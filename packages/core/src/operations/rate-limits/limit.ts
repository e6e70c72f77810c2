import { z } from "zod";
import { LatchkeyError } from "../../errors.js";
import type { Duration } from "../../rules/duration.js";
import type { MetadataInput } from "../../rules/latchkey-types.js";
import type { ChargePlan, LimitReading } from "../../store/charge.js";
import type { RatelimitState } from "../../verification/verdict.js";
import { namespaceWindow } from "../../verification/window-name.js";
import type { OperationContext } from "../context.js";
import { flag, list, metadata, namespace, parseInput, text, wholeNumber } from "../input.js";
import { duration } from "../time-input.js";

/** Input of limit. */
export interface LimitInput {
  /** What is limited: 1 to 128 of `A-Z a-z 0-9 _ . : -`, `default` unless given. */
  readonly namespace?: string | undefined;
  /** Who is limited, such as a user or an address: 1 to 255 characters. */
  readonly identifier: string;
  /** Units in each window: whole and >= 1. */
  readonly limit: number;
  /** Length of a window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. Windows are aligned to the Unix epoch. */
  readonly duration: Duration;
  /** Units to take: whole and >= 0, 1 unless given; 0 only shows the window. */
  readonly cost?: number | undefined;
  /** Accepted for older clients, without effect: every limit is exact. */
  readonly async?: boolean | undefined;
  /** Accepted for older clients, without effect. */
  readonly meta?: MetadataInput | undefined;
  /** Accepted for older clients, without effect: at most 100. */
  readonly resources?: readonly Readonly<Record<string, unknown>>[] | undefined;
}

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

/** Whether there was room, and the window as it stands afterwards. */
export interface LimitAnswer extends RatelimitState {
  /** False: nothing was taken. */
  readonly success: boolean;
}

/** @see LimitOperations.limit */
export async function limit(context: OperationContext, input: LimitInput): Promise<LimitAnswer> {
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
