import { type EpochMs, type NamedRatelimitState, refillMs, type SpanMs } from "@latchkey/core";
import { writeList } from "./structured-field.js";

/** The header fields of a response, by name. */
export type HeaderFields = Readonly<Record<string, string>>;

const NO_FIELDS: HeaderFields = Object.freeze({});

/**
 * `RateLimit-Policy` and `RateLimit` for every evaluated limit that can refuse: `"minute";q=10;w=60` and `"minute";r=9;t=42`. A client that
 * takes `q` units at once can take them again after `w` seconds; `r` units are left, and all of them are back in `t` seconds. Seconds are
 * rounded up. Shadow limits are left out: they are only for the host.
 *
 * Slots of a concurrent limit are freed when their work is done, so they have no seconds: `"parallel";q=5;qu="concurrent-requests"` and
 * `"parallel";r=4`.
 *
 * @param now - Unix epoch ms, by the clock of the verdict.
 * @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/
 */
export function rateLimitFields(
  ratelimits: readonly NamedRatelimitState[] | undefined,
  now: EpochMs,
): HeaderFields {
  if (ratelimits === undefined || ratelimits.length === 0) return NO_FIELDS;
  const shown = ratelimits.map(ownOf).filter(({ shadow }) => shadow !== true);
  if (shown.length === 0) return NO_FIELDS;
  return {
    "RateLimit-Policy": writeList(
      shown.map((state) => ({
        text: state.name,
        parameters: isOfSlots(state)
          ? { q: state.limit, qu: "concurrent-requests" }
          : { q: state.burst ?? state.limit, w: windowSeconds(state) },
      })),
    ),
    RateLimit: writeList(
      shown.map((state) => ({
        text: state.name,
        parameters: { r: state.remaining, t: resetSeconds(state, now) },
      })),
    ),
  };
}

function windowSeconds(state: NamedRatelimitState): number | undefined {
  const { limit, duration, algorithm = "fixed", burst = limit } = state;
  if (duration === undefined) return undefined;
  return wholeSeconds(refillMs({ algorithm, limit, duration, burst }));
}

function resetSeconds(state: NamedRatelimitState, now: EpochMs): number | undefined {
  return state.reset === undefined || isOfSlots(state)
    ? undefined
    : wholeSeconds(state.reset - now);
}

function isOfSlots({ algorithm }: NamedRatelimitState): boolean {
  return algorithm === "concurrent";
}

/** Only own fields: what was added to `Object.prototype` does not belong to a limit. */
function ownOf(state: NamedRatelimitState): NamedRatelimitState {
  return Object.assign(Object.create(null), state);
}

/** Whole seconds, rounded up, so that waiting that long is enough. */
export function wholeSeconds(span: SpanMs): number {
  return Math.ceil(span / 1000);
}
