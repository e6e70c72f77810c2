import type { SpanMs } from "../time.js";

/** The length of a window as it is given: whole ms >= 1, or a whole number from 1 to 99,999,999 with its unit. */
export type Duration = SpanMs | `${number}${"s" | "m" | "h" | "d"}`;

/** Seconds, minutes, hours and days: at most 99,999,999 of them, so that all are exact in ms. */
export const DURATION_PATTERN = /^[1-9][0-9]{0,7}[smhd]$/;

/** What a duration must be, in words. */
export const DURATION_ERROR =
  'must be a whole number of ms >= 1, or 1 to 99999999 seconds, minutes, hours or days, such as "30s", "1m", "1h" or "1d"';

const UNITS: Readonly<Record<string, SpanMs>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** A {@link Duration} in ms, or null for anything else. A day has 24 hours. */
export function durationMs(value: unknown): SpanMs | null {
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 1 ? value : null;
  if (typeof value !== "string" || !DURATION_PATTERN.test(value)) return null;
  return Number(value.slice(0, -1)) * (UNITS[value.slice(-1)] as SpanMs);
}
