import type { SpanMs } from "../time.js";
import type { LimitFigures } from "./limit-algorithm.js";
import type { LimitAlgorithm } from "./limit-state.js";

/** What a rate limit that belongs to no key is for. Never `*`, which stands for all of them in permissions. */
export const NAMESPACE_PATTERN = /^[A-Za-z0-9_.:-]{1,128}$/;

/**
 * Name of the limit that a key's `ratelimit` field sets. It applies to every verification of the key by itself, whether or not
 * `autoApply` says so, and its state is the `ratelimit` of a verdict.
 */
export const DEFAULT_LIMIT = "default";

/** Whether a limit applies to every verification by itself, and not only to those that name it. */
export function isAutoApplied(limit: {
  readonly name: string;
  readonly autoApply?: boolean | undefined;
}): boolean {
  return limit.name === DEFAULT_LIMIT || limit.autoApply === true;
}

/** A named limit. */
export interface RateLimit extends LimitFigures {
  readonly name: string;
  /** Whether it is only tried: decided and counted, and it refuses nobody. */
  readonly shadow: boolean;
}

/** A limit that an identity's keys share. */
export interface IdentityRateLimit extends RateLimit {
  /** Whether it applies to every verification by itself, and not only to those that name it. */
  readonly autoApply: boolean;
}

/** How a limit counts, in the words of the HTTP contract. */
export type WireLimitFigures = {
  /** Units per `duration`. */
  readonly limit: number;
  /** In ms: the length of a window or a span, or in which `limit` units flow into a token bucket. */
  readonly duration: SpanMs;
  /** How it counts; absent where it is `fixed`. */
  readonly algorithm?: LimitAlgorithm;
  /** Units that a token bucket holds; absent for others, and where it is `limit`. */
  readonly burst?: number;
  /** Whether it is only tried, and refuses nobody; absent where it is not. */
  readonly shadow?: boolean;
};

/** The same as it is given: what is absent may be undefined. */
export type WireLimitInput = {
  readonly [Field in keyof WireLimitFigures]: WireLimitFigures[Field] | undefined;
} & Pick<WireLimitFigures, "limit" | "duration">;

/** A limit that says nothing but its figures: it counts in fixed windows, and refuses. */
export function fixedFigures(limit: number, duration: SpanMs): LimitFigures & { shadow: boolean } {
  return { algorithm: "fixed", limit, duration, burst: limit, shadow: false };
}

/** Reads what decides of a limit, given in the words of the HTTP contract. What somebody adds to `Object.prototype` is none of it. */
export function fromWireFigures(wire: WireLimitInput): LimitFigures & { shadow: boolean } {
  const own: WireLimitInput = Object.assign(Object.create(null), wire);
  const { limit, duration, algorithm = "fixed", burst = limit, shadow = false } = own;
  return { algorithm, limit, duration, burst, shadow };
}

/** Writes it in those words. */
export function toWireFigures({
  algorithm,
  limit,
  duration,
  burst,
  shadow,
}: LimitFigures & { readonly shadow: boolean }): WireLimitFigures {
  return {
    limit,
    duration,
    ...(algorithm !== "fixed" && { algorithm }),
    ...(algorithm === "token-bucket" && burst !== limit && { burst }),
    ...(shadow && { shadow }),
  };
}

/** A limit of an identity in the words of the HTTP contract. */
export type WireRateLimit<Name extends string = string> = WireLimitFigures & {
  /** No two limits of an identity have one name. */
  readonly name: Name;
  /** Whether it applies to every verification by itself; absent where it is false. */
  readonly autoApply?: boolean;
};

/** Whether whole numbers can hold what a limit counts: a token bucket counts in units × `duration`. */
export function isCountable({ algorithm, limit, duration, burst }: LimitFigures): boolean {
  return algorithm !== "token-bucket" || Number.isSafeInteger(burst * duration + limit);
}

/** Reads limits given in the words of the HTTP contract. */
export function fromWireLimits(
  limits: readonly (WireLimitInput & {
    readonly name: string;
    readonly autoApply?: boolean | undefined;
  })[],
): readonly IdentityRateLimit[] {
  return limits.map((limit) => ({
    name: limit.name,
    ...fromWireFigures(limit),
    autoApply: limit.autoApply ?? false,
  }));
}

/** Writes limits in the words of the HTTP contract. */
export function toWireLimits(limits: readonly IdentityRateLimit[]): readonly WireRateLimit[] {
  return limits.map((limit) => ({
    name: limit.name,
    ...toWireFigures(limit),
    ...(limit.autoApply && { autoApply: true }),
  }));
}
