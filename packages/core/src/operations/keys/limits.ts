import type { KeyRateLimit, RateLimitType } from "../../records/key.js";
import type { DefaultTypes, LatchkeyTypes, LimitName } from "../../rules/latchkey-types.js";
import type { SpanMs } from "../../time.js";

/** A limit of a key in the words of the HTTP contract. */
export interface WireKeyLimit<Types extends LatchkeyTypes = DefaultTypes> {
  /** Name of the limit. */
  readonly name: LimitName<Types>;
  /** Units in each window. */
  readonly limit: number;
  /** Length of a window in ms. */
  readonly duration: SpanMs;
  /** Whether it applies to every verification by itself. */
  readonly autoApply: boolean;
  /** As it was given. */
  readonly async: boolean;
  /** As it was given. */
  readonly type?: RateLimitType;
}

/** Limits of a key in the words of the HTTP contract. */
export function toWireKeyLimits(
  limits: readonly KeyRateLimit[],
): readonly (WireKeyLimit & { readonly [field: string]: string | number | boolean })[] {
  return limits.map(({ name, limit, duration, autoApply, async, type }) => {
    const wire = { name, limit, duration, autoApply, async };
    return type === null ? wire : { ...wire, type };
  });
}
