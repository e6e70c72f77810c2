import { z } from "zod";
import { badField, LatchkeyError } from "../errors.js";
import { type IdentityRecord, identityType } from "../records/identity.js";
import { type KeyRecord, keyType } from "../records/key.js";
import type { RecordType } from "../records/record-type.js";
import type { Duration } from "../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../rules/latchkey-types.js";
import { LIMIT_ALGORITHMS, type LimitAlgorithm } from "../rules/limit-state.js";
import { fromWireFigures, type RateLimit } from "../rules/rate-limit.js";
import type { ChargePlan, LimitReading } from "../store/charge.js";
import type { Transaction } from "../store/transaction.js";
import type { SpanMs } from "../time.js";
import {
  adHocWindow,
  configuredWindow,
  namespaceWindow,
  takenFrom,
} from "../verification/limit-precedence.js";
import { limitRetryAfterMs } from "../verification/retry-after.js";
import { type RatelimitState, ratelimitState } from "../verification/verdict.js";
import {
  countGiven,
  evenWithIssues,
  id,
  namespace,
  optional,
  refuseField,
  text,
  wholeNumber,
} from "./input.js";
import { addCountingIssues, figureFields, type LimitFiguresInput } from "./limit-input.js";
import { operation, type TableOf, write } from "./operation.js";
import { readRecordIn } from "./read.js";
import { duration } from "./time-input.js";
import { refuseUsageChange } from "./uses-and-refill.js";

export type LimitInput = LimitFiguresInput & {
  /** What is limited: 1 to 128 of `A-Z a-z 0-9 _ . : -`. Default: `default`. */
  readonly namespace?: string | undefined;
  /** Who is limited, such as a user or an address: 1 to 255 characters. */
  readonly identifier: string;
  /** Units to take: whole and >= 0; 0 only reads the limit. Default: 1. */
  readonly cost?: number | undefined;
};

/**
 * Input of resetLimit: a limit of a key (`keyId` and `name`) or of an identity (`identityId` and `name`), or the one of a
 * namespace (`namespace`, `identifier` and `duration`).
 */
export type ResetLimitInput<Types extends LatchkeyTypes = DefaultTypes> = {
  /** Id of the key. */
  readonly keyId?: string | undefined;
  /** Id of the identity. */
  readonly identityId?: string | undefined;
  /** Name of the limit of the key or the identity: 1 to 128 characters. */
  readonly name?: LimitName<Types> | undefined;
  /** As in limit: 1 to 128 of `A-Z a-z 0-9 _ . : -`. */
  readonly namespace?: string | undefined;
  /** As in limit: 1 to 255 characters. */
  readonly identifier?: string | undefined;
  /** Whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. With `keyId`, for an ad-hoc limit; not with `identityId`. */
  readonly duration?: Duration | undefined;
};

/** Whether there was room, and the limit afterwards. */
export interface LimitAnswer extends RatelimitState {
  /** False: nothing was taken. Always true for a shadow limit. */
  readonly success: boolean;
  /** For a shadow limit: whether it would have refused. */
  readonly exceeded?: boolean;
  /**
   * If it refused: ms from now until the same call would be admitted if nothing else is taken, a whole number >= 1. Absent if the cost can
   * never fit, and for fixed windows, where that is `reset`.
   */
  readonly retryAfterMs?: SpanMs;
}

export interface LimitOperations<Types extends LatchkeyTypes = DefaultTypes> {
  /**
   * Takes from a rate limit that belongs to no key, in one atomic step. Namespace, identifier, algorithm and duration name a counter, which
   * continues if you call with another `limit`. If more than `limit` was taken already, a cost of 0 is refused too. Works in a disabled
   * workspace as well.
   *
   * @throws LatchkeyError `BAD_REQUEST`.
   * @example
   * const { success, reset } = await latchkey.limit({
   *   namespace: "login",
   *   identifier: "192.0.2.7",
   *   limit: 5,
   *   duration: "1m",
   * });
   */
  limit(input: LimitInput): Promise<LimitAnswer>;
  /**
   * Resets a rate limit of a key, an identity or a namespace. This also repairs one that a wrong clock put into the future.
   *
   * @throws LatchkeyError `NOT_FOUND`; `BAD_REQUEST` if there is no limit of this name.
   * @example
   * await latchkey.resetLimit({ namespace: "login", identifier: "192.0.2.7", duration: "1m" });
   */
  resetLimit(input: ResetLimitInput<Types>): Promise<Record<string, never>>;
}

const limitInput = z
  .strictObject({
    namespace: namespace.default("default"),
    identifier: text(1, 255),
    ...figureFields,
    cost: wholeNumber(0).default(1),
  })
  .superRefine(addCountingIssues)
  .superRefine(({ algorithm }, sink) => {
    if (algorithm === "concurrent")
      refuseField(sink, "algorithm", 'must not be "concurrent": nobody could free its slots');
  });

const resetLimitInput = z
  .strictObject(
    optional({
      keyId: id,
      identityId: id,
      name: text(1, 128),
      namespace,
      identifier: text(1, 255),
      duration,
    }),
  )
  .superRefine((input, sink) => {
    const refuse = (path: string, message: string) => refuseField(sink, path, message);
    const { keyId, identityId, name, namespace, identifier, duration } = input;
    if (countGiven(keyId, identityId, namespace) !== 1)
      refuse("keyId", "exactly one of keyId, identityId and namespace must be given");
    else if (namespace === undefined) {
      if (name === undefined) refuse("name", "is required");
      if (identifier !== undefined) refuse("identifier", "needs namespace");
      if (duration !== undefined && identityId !== undefined)
        refuse("duration", "must not be given with identityId");
    } else {
      if (identifier === undefined) refuse("identifier", "is required with namespace");
      if (duration === undefined) refuse("duration", "is required with namespace");
      if (name !== undefined) refuse("name", "must not be given with namespace");
    }
  }, evenWithIssues);

const reset = { type: "ratelimit.reset" } as const;

export const LIMIT_TABLE = {
  limit: operation(limitInput, async (context, input) => {
    const { namespace, identifier, cost, ...wire } = input;
    const limit = { name: namespace, ...fromWireFigures(wire) };
    const window = namespaceWindow(namespace, identifier, limit);
    const taken = takenFrom(limit, cost, window, null);
    const plan: ChargePlan = {
      workspaceId: context.workspaceId,
      revision: null,
      confirms: [],
      mode: "commit",
      cost: 0,
      uses: null,
      limits: [taken],
    };
    const now = context.now();
    const charge = await context.store.charge(plan, { now, refill: null });
    if (!("limits" in charge))
      throw new LatchkeyError(
        "INTERNAL_SERVER_ERROR",
        "the store refused a plan that rests on nothing",
      );
    const [reading] = charge.limits as readonly [LimitReading];
    const success = charge.kind === "charged";
    const answer = { success, ...ratelimitState(reading, taken) };
    if (limit.shadow) return { ...answer, exceeded: reading.exceeded };
    if (success || limit.algorithm === "fixed") return answer;
    const retryAfterMs = limitRetryAfterMs(taken, reading, now);
    return retryAfterMs === null ? answer : { ...answer, retryAfterMs };
  }),

  resetLimit: write(resetLimitInput, async ({ transaction, audit }, input) => {
    const { keyId, identityId, namespace, identifier, duration } = input;
    const name = input.name as string;
    if (keyId !== undefined) {
      const ofKey = (key: KeyRecord) =>
        duration === undefined
          ? []
          : ofAnyAlgorithm((algorithm) =>
              adHocWindow(key.sharedCountersId ?? key.id, { name, algorithm, duration }),
            );
      const key = await dropNamed(transaction, keyType, keyId, name, ofKey);
      transaction.dropWindows(ofKey(key));
      const { identityId } = key;
      audit({ ...reset, resourceId: keyId, keyId, identityId, before: { name } });
    } else if (identityId !== undefined) {
      await dropNamed(transaction, identityType, identityId, name, () => []);
      audit({ ...reset, resourceId: identityId, identityId, before: { name } });
    } else {
      const [space, who] = [namespace as string, identifier as string];
      transaction.dropWindows(
        ofAnyAlgorithm((algorithm) =>
          namespaceWindow(space, who, { algorithm, duration: duration as number }),
        ),
      );
      audit({ ...reset, resourceId: space, before: { name: who } });
    }
    return {};
  }),
} satisfies TableOf<LimitOperations>;

function ofAnyAlgorithm(windowOf: (algorithm: LimitAlgorithm) => string): readonly string[] {
  return LIMIT_ALGORITHMS.map(windowOf);
}

/**
 * Drops the windows of the limits of this name. An unknown name is refused, so that a misspelt one does not pass for a reset.
 *
 * @param adHoc - Windows of the workspace to drop as well: those of an ad-hoc limit of this name. Holds on them belong to the record.
 */
async function dropNamed<Value extends KeyRecord | IdentityRecord>(
  transaction: Transaction,
  type: RecordType<Value>,
  id: string,
  name: string,
  adHoc: (value: Value) => readonly string[],
): Promise<Value> {
  const kind = type.kind as "key" | "identity";
  const { value } = await readRecordIn(transaction, type, id);
  const limits: readonly RateLimit[] = value.ratelimits;
  const own = limits.filter((limit) => limit.name === name).map(configuredWindow);
  const dropWindows = [...own, ...adHoc(value)];
  if (dropWindows.length === 0) {
    const hint = kind === "key" ? "; a limit that only requests name also needs duration" : "";
    throw badField("name", `must name a limit of this ${kind}${hint}`);
  }
  transaction.changeCounters({ kind, id, dropWindows }, (reason) =>
    refuseUsageChange(reason, "name"),
  );
  return value;
}
