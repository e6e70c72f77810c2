import type { EpochMs, NamedRatelimitState, SpanMs } from "@latchkey/core";
import { writeList } from "./structured-field.js";

/** The header fields of an answer, by name. */
export type HeaderFields = Readonly<Record<string, string>>;

const NO_FIELDS: HeaderFields = Object.freeze({});

/**
 * `RateLimit-Policy` and `RateLimit` of every limit that a verification has evaluated: `"minute";q=10;w=60` and
 * `"minute";r=9;t=42`. `q` units in a window of `w` seconds; `r` units left, and `t` seconds until the next window opens. Seconds
 * are rounded up.
 *
 * @param now - Unix epoch ms, by the clock that the verdict was given by.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export function rateLimitFields(
  ratelimits: readonly NamedRatelimitState[] | undefined,
  now: EpochMs,
): HeaderFields {
  if (ratelimits === undefined || ratelimits.length === 0) return NO_FIELDS;
  return {
    "RateLimit-Policy": writeList(
      ratelimits.map(({ name, limit, duration }) => ({
        text: name,
        parameters: { q: limit, w: duration === undefined ? undefined : wholeSeconds(duration) },
      })),
    ),
    RateLimit: writeList(
      ratelimits.map(({ name, remaining, reset }) => ({
        text: name,
        parameters: { r: remaining, t: wholeSeconds(reset - now) },
      })),
    ),
  };
}

/** Whole seconds, rounded up: who waits that long has waited long enough. */
export function wholeSeconds(span: SpanMs): number {
  return Math.ceil(span / 1000);
}
