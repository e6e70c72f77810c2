import type { SpanMs } from "../time.js";

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

/** A named limit: at most `limit` units per window of `duration`. */
export interface RateLimit {
  readonly name: string;
  /** Units per window: a whole number >= 1. */
  readonly limit: number;
  /** Window length in ms: a whole number >= 1. */
  readonly duration: SpanMs;
}

/** A limit that an identity's keys share. */
export interface IdentityRateLimit extends RateLimit {
  /** Whether it applies to every verification by itself, and not only to those that name it. */
  readonly autoApply: boolean;
}

/** A limit of an identity in the words of the HTTP contract. */
export interface WireRateLimit<Name extends string = string> {
  /** No two limits of an identity have one name. */
  readonly name: Name;
  /** Units in each window, of all keys together. */
  readonly limit: number;
  /** Length of a window in ms. */
  readonly duration: SpanMs;
  /** Whether it applies to every verification by itself; absent where it is false. */
  readonly autoApply?: boolean;
}

/** Reads limits given in the words of the HTTP contract. */
export function fromWireLimits(
  limits: readonly (RateLimit & { readonly autoApply?: boolean | undefined })[],
): readonly IdentityRateLimit[] {
  return limits.map(({ name, limit, duration, autoApply = false }) => {
    return { name, limit, duration, autoApply };
  });
}

/** Writes limits in the words of the HTTP contract. */
export function toWireLimits(limits: readonly IdentityRateLimit[]): readonly WireRateLimit[] {
  return limits.map(({ autoApply, ...limit }) => (autoApply ? { ...limit, autoApply } : limit));
}
