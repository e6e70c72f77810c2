import type { KeyRateLimit, RateLimitType } from "../../records/key.js";
import type { SpanMs } from "../../time.js";

/** A named limit of a key in the words of the HTTP contract. `duration` in ms. */
export interface WireKeyLimit {
  readonly name: string;
  readonly limit: number;
  readonly duration: SpanMs;
  readonly autoApply: boolean;
  readonly async: boolean;
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
