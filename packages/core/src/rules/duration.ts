import type { SpanMs } from "../time.js";

/** The longest window: with it, every instant of a date plus a window is still a whole number. */
export const LONGEST_DURATION: SpanMs = 2 ** 52;

/** A duration: whole ms from 1 to 2^52, or a whole number from 1 to 99,999,999 with a unit, such as `"30s"`, `"1m"`, `"1h"` or `"1d"`. */
export type Duration = SpanMs | `${number}${"s" | "m" | "h" | "d"}`;

/** Seconds, minutes, hours and days: at most 99,999,999 of them, so that all are exact in ms. */
export const DURATION_PATTERN = /^[1-9][0-9]{0,7}[smhd]$/;

/** Error message for a wrong duration. */
export const DURATION_ERROR =
  'must be a whole number of ms from 1 to 2^52, or the same in seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"';

const UNITS: Readonly<Record<string, SpanMs>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A {@link Duration} in ms, or null for anything else. A day has 24 hours. */
export function durationMs(value: unknown): SpanMs | null {
  const ms = typeof value === "string" ? msOfText(value) : value;
  const isWhole = typeof ms === "number" && Number.isInteger(ms);
  return isWhole && ms >= 1 && ms <= LONGEST_DURATION ? ms : null;
}

function msOfText(text: string): SpanMs | null {
  if (!DURATION_PATTERN.test(text)) return null;
  return Number(text.slice(0, -1)) * (UNITS[text.slice(-1)] as SpanMs);
}
