import type { SpanMs } from "../time.js";
import type { LimitAlgorithm, LimitFigures } from "./limit-state.js";

/** Namespace of a rate limit without a key. Never `*`, which means all of them in permissions. */
export const NAMESPACE_PATTERN = /^[A-Za-z0-9_.:-]{1,128}$/;

/** Name of the limit that a key's `ratelimit` sets. It always applies, whatever its `autoApply`, and is the `ratelimit` of a verdict. */
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
  /** Whether it counts but refuses nobody. */
  readonly shadow: boolean;
}

/** A limit that an identity's keys share. */
export interface IdentityRateLimit extends RateLimit {
  /** Whether it applies to every verification by itself, and not only to those that name it. */
  readonly autoApply: boolean;
}

/** The figures of a limit, as the HTTP API shows them. */
export type WireLimitFigures = {
  /** Units per `duration`. */
  readonly limit: number;
  /** In ms: the length of a window or span, or the time in which `limit` units flow into a token bucket. */
  readonly duration: SpanMs;
  /** Absent: `fixed`. */
  readonly algorithm?: LimitAlgorithm;
  /** Units that a token bucket holds; absent otherwise, or if equal to `limit`. */
  readonly burst?: number;
  /** Whether it counts but refuses nobody; absent: false. */
  readonly shadow?: boolean;
};

/** The same, but any field may be missing. */
export type PartialWireLimit = {
  readonly [Field in keyof WireLimitFigures]?: WireLimitFigures[Field] | undefined;
};

/** The same as input: fields may be undefined. */
export type WireLimitInput = PartialWireLimit & Pick<WireLimitFigures, "limit" | "duration">;

/** A limit given only by its figures: it counts in fixed windows, and refuses. */
export function fixedFigures(limit: number, duration: SpanMs): LimitFigures & { shadow: boolean } {
  return { algorithm: "fixed", limit, duration, burst: limit, shadow: false };
}

/** Reads the figures of a limit from the fields of the HTTP API, without inherited ones. */
export function fromWireFigures(wire: WireLimitInput): LimitFigures & { shadow: boolean } {
  const own: WireLimitInput = Object.assign(Object.create(null), wire);
  const { limit, duration, algorithm = "fixed", burst = limit, shadow = false } = own;
  return { algorithm, limit, duration, burst, shadow };
}

/** The reverse of {@link fromWireFigures}. */
export function toWireFigures(
  figures: LimitFigures & { readonly shadow: boolean },
): WireLimitFigures {
  const { algorithm, limit, duration, burst, shadow } = figures;
  return {
    limit,
    duration,
    ...(algorithm !== "fixed" && { algorithm }),
    ...(algorithm === "token-bucket" && burst !== limit && { burst }),
    ...(shadow && { shadow }),
  };
}

/** A limit of an identity. */
export type WireRateLimit<Name extends string = string> = WireLimitFigures & {
  /** Unique in the identity. */
  readonly name: Name;
  /** Whether it applies to every verification; absent: false. */
  readonly autoApply?: boolean;
};

/** Whether whole numbers can hold what a limit counts: a token bucket counts in units × `duration`. */
export function isCountable({ algorithm, limit, duration, burst }: LimitFigures): boolean {
  return algorithm !== "token-bucket" || Number.isSafeInteger(burst * duration + limit);
}

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

export function toWireLimits(limits: readonly IdentityRateLimit[]): readonly WireRateLimit[] {
  return limits.map((limit) => ({
    name: limit.name,
    ...toWireFigures(limit),
    ...(limit.autoApply && { autoApply: true }),
  }));
}
