import { z } from "zod";
import type { Duration } from "../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../rules/latchkey-types.js";
import { LIMIT_ALGORITHMS, type LimitAlgorithm } from "../rules/limit-state.js";
import {
  DEFAULT_LIMIT,
  fromWireFigures,
  isCountable,
  type PartialWireLimit,
} from "../rules/rate-limit.js";
import {
  flag,
  type IssueSink,
  type ListSchema,
  list,
  oneOf,
  oneOfNames,
  optional,
  refuseField,
  text,
  wholeNumber,
} from "./input.js";
import { duration } from "./time-input.js";

/** Most limits of a key, an identity or a request. */
export const MOST_LIMITS = 50;

/** The figures of a limit. */
export interface LimitFiguresInput {
  /** Units per `duration`: whole and >= 1. */
  readonly limit: number;
  /**
   * Length of a window or span, or the time in which `limit` units flow into a token bucket: whole ms from 1 to 2^52, or a text such as
   * `"30s"`, `"1m"`, `"1h"`, `"1d"`.
   */
  readonly duration: Duration;
  /**
   * `"fixed"` (default): at most `limit` in each window, aligned to the Unix epoch. `"sliding"`: at most `limit` in any span of `duration`.
   * `"token-bucket"`: `limit` units per `duration` flow into a bucket that holds `burst`. `"concurrent"`: at most `limit` at once; a slot
   * that is neither freed nor renewed is free after `duration`. Changing it resets the count.
   */
  readonly algorithm?: LimitAlgorithm | undefined;
  /** Units that a token bucket holds: whole and >= 1. Default: `limit`. `burst` × `duration` + `limit` is at most 2^53 − 1. */
  readonly burst?: number | undefined;
  /** Whether the limit counts but refuses nobody. Default: false. */
  readonly shadow?: boolean | undefined;
}

/** The limit of a key named `default`. */
export interface KeyLimitInput extends LimitFiguresInput {
  /** Stored without effect: every limit is exact. */
  readonly type?: "fast" | "consistent" | undefined;
  /** Stored without effect: every limit is exact. */
  readonly async?: boolean | undefined;
}

/** A limit that the keys of an identity share. */
export interface IdentityLimitInput<Types extends LatchkeyTypes = DefaultTypes>
  extends LimitFiguresInput {
  /** 1 to 128 characters, unique. */
  readonly name: LimitName<Types>;
  /** Whether it applies to every verification, and not only to those that name it. Default: false. */
  readonly autoApply?: boolean | undefined;
}

/** A named limit of a key. */
export interface NamedKeyLimitInput<Types extends LatchkeyTypes = DefaultTypes>
  extends KeyLimitInput,
    IdentityLimitInput<Types> {
  /** 1 to 128 characters, unique. `default` applies to every verification. */
  readonly name: LimitName<Types>;
}

/** How a limit counts, apart from its figures. {@link addCountingIssues} checks the fields together. */
export const countingFields = optional({
  algorithm: oneOfNames(LIMIT_ALGORITHMS),
  burst: wholeNumber(1),
  shadow: flag,
});

export const figureFields = { limit: wholeNumber(1), duration, ...countingFields };

const limitFields = {
  ...optional({ type: oneOf(["fast", "consistent"]), async: flag }),
  ...figureFields,
};

/** The limit that applies to every verification of a key. */
export const keyRatelimit = z.strictObject(limitFields).superRefine(addCountingIssues);

const limitName = text(1, 128);

/** The named limits of a key. The one named `default` always applies without being named. */
export const namedKeyRatelimits = limitList(
  z
    .strictObject({ name: limitName, ...limitFields, autoApply: flag.optional() })
    .superRefine(addCountingIssues),
).superRefine((limits, sink) => {
  for (const [index, { name, autoApply }] of limits.entries())
    if (name === DEFAULT_LIMIT && autoApply === false)
      refuseField(
        sink,
        [index, "autoApply"],
        `must not be false: the limit named "${DEFAULT_LIMIT}" always applies by itself`,
      );
});

export const identityRatelimits = limitList(
  z
    .strictObject({ name: limitName, ...figureFields, autoApply: flag.optional() })
    .superRefine(addCountingIssues),
);

/** Adds an issue for a `burst` without a token bucket, and for a bucket whose units × ms exceed whole numbers. */
export function addCountingIssues(limit: PartialWireLimit, sink: IssueSink): void {
  const { duration } = limit;
  if (limit.algorithm === "concurrent" && limit.shadow === true)
    refuseField(sink, "shadow", 'must not be given with algorithm "concurrent"');
  if (limit.algorithm !== "token-bucket") {
    if (limit.burst !== undefined)
      refuseField(sink, "burst", 'is only allowed with algorithm "token-bucket"');
  } else if (limit.limit !== undefined && duration !== undefined) {
    if (!isCountable(fromWireFigures({ ...limit, limit: limit.limit, duration })))
      refuseField(
        sink,
        limit.burst === undefined ? "limit" : "burst",
        `must be smaller, or the duration shorter: burst × duration in ms + limit is at most ${Number.MAX_SAFE_INTEGER}`,
      );
  }
}

/** A list of limits with unique names. */
export function limitList<Limit extends z.ZodType<{ readonly name: string }>>(
  limit: Limit,
): ListSchema<Limit> {
  return list(limit, MOST_LIMITS, "limits").superRefine((limits, sink) => {
    const seen = new Set<string>();
    for (const [index, { name }] of limits.entries()) {
      if (seen.has(name)) refuseField(sink, [index, "name"], "must not be given twice");
      seen.add(name);
    }
  });
}
