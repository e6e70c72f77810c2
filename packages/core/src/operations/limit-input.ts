import { z } from "zod";
import type { Duration } from "../rules/duration.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../rules/latchkey-types.js";
import { DEFAULT_LIMIT } from "../rules/rate-limit.js";
import { flag, type IssueSink, list, refuseField, text, wholeNumber } from "./input.js";
import { duration } from "./time-input.js";

/** The limit of a key that is named `default`, as it is given. */
export interface KeyLimitInput {
  /** Units in each window: whole and >= 1. */
  readonly limit: number;
  /** Length of a window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. Windows are aligned to the Unix epoch. */
  readonly duration: Duration;
  /** Accepted and shown: every limit is exact. */
  readonly type?: "fast" | "consistent" | undefined;
  /** Accepted and shown: every limit is exact. */
  readonly async?: boolean | undefined;
}

/** A named limit of a key, as it is given. */
export interface NamedKeyLimitInput<Types extends LatchkeyTypes = DefaultTypes>
  extends KeyLimitInput {
  /** 1 to 128 characters, no two alike. The one named `default` applies to every verification. */
  readonly name: LimitName<Types>;
  /** Whether it applies to every verification by itself, and not only to those that name it: false unless given. */
  readonly autoApply?: boolean | undefined;
}

/** A limit that the keys of an identity share, as it is given. */
export interface IdentityLimitInput<Types extends LatchkeyTypes = DefaultTypes> {
  /** 1 to 128 characters, no two alike. */
  readonly name: LimitName<Types>;
  /** Units in each window, of all keys together: whole and >= 1. */
  readonly limit: number;
  /** Length of a window: whole ms >= 1, or a text such as `"30s"`, `"1m"`, `"1h"`, `"1d"`. Windows are aligned to the Unix epoch. */
  readonly duration: Duration;
  /** Whether it applies to every verification by itself, and not only to those that name it: false unless given. */
  readonly autoApply?: boolean | undefined;
}

const limitFields = {
  type: z.enum(["fast", "consistent"], { error: 'must be "fast" or "consistent"' }).optional(),
  async: flag.optional(),
  limit: wholeNumber(1),
  duration,
};

/** The limit that applies to every verification of a key. */
export const keyRatelimit = z.strictObject(limitFields);

/** A name of a limit. */
const limitName = text(1, 128);

/** The named limits of a key. The one named `default` always applies by itself. */
export const namedKeyRatelimits = list(
  z.strictObject({ name: limitName, ...limitFields, autoApply: flag.optional() }),
  50,
  "limits",
).superRefine((limits, sink) => {
  addDuplicateIssues(limits, sink);
  for (const [index, { name, autoApply }] of limits.entries())
    if (name === DEFAULT_LIMIT && autoApply === false)
      refuseField(
        sink,
        [index, "autoApply"],
        `must not be false: the limit named "${DEFAULT_LIMIT}" always applies by itself`,
      );
});

/** The named limits of an identity. */
export const identityRatelimits = list(
  z.strictObject({
    name: limitName,
    limit: wholeNumber(1),
    duration,
    autoApply: flag.optional(),
  }),
  50,
  "limits",
).superRefine(addDuplicateIssues);

/** Adds an issue for each name that stands in the list before. */
export function addDuplicateIssues(
  items: readonly { readonly name: string }[],
  sink: IssueSink,
): void {
  const seen = new Set<string>();
  for (const [index, { name }] of items.entries()) {
    if (seen.has(name)) refuseField(sink, [index, "name"], "must not be given twice");
    seen.add(name);
  }
}
