import { corruptRecord, type RateWindow, type Usage } from "@latchkey/core";

/** The window of one limit. A limit that nothing was taken from yet has none. */
export interface StoredWindow {
  readonly name: string;
  readonly window: RateWindow;
}

/** Counters as `latchkey_counters` holds them. The windows are a few: those of limits that are configured. */
export interface StoredCounters {
  readonly usage: Usage;
  readonly windows: readonly StoredWindow[];
}

const NO_WINDOWS: readonly StoredWindow[] = [];

/** @throws LatchkeyError `STORE_CORRUPT` when the columns cannot be what was written. */
export function readUsage(remaining: unknown, refilledAt: unknown, lastRefillAt: unknown): Usage {
  if (!isWholeOrNull(remaining) || !isWhole(refilledAt) || !isWholeOrNull(lastRefillAt))
    throw corruptRecord("counters");
  return { remaining, refilledAt, lastRefillAt };
}

/** Reads the column `windows`. @throws LatchkeyError `STORE_CORRUPT` when it cannot be what was written. */
export function readWindows(stored: unknown): readonly StoredWindow[] {
  if (stored === "") return NO_WINDOWS;
  return String(stored)
    .split(" ")
    .map((word) => {
      const [, name, start, used] = /^([^=]+)=(\d+)=(\d+)$/.exec(word) ?? [];
      const window = { startedAt: Number(start), used: Number(used) };
      if (name === undefined || !isWhole(window.startedAt) || !isWhole(window.used))
        throw corruptRecord("counters");
      return { name, window };
    });
}

/** The opposite of {@link readWindows}. */
export function writeWindows(windows: readonly StoredWindow[]): string {
  let text = "";
  for (const { name, window } of windows)
    text += `${text === "" ? "" : " "}${name}=${window.startedAt}=${window.used}`;
  return text;
}

/** The windows with one replaced. */
export function withWindow(
  windows: readonly StoredWindow[],
  name: string,
  window: RateWindow,
): readonly StoredWindow[] {
  if (windows.length === 0) return [{ name, window }];
  return [...windows.filter((stored) => stored.name !== name), { name, window }];
}

/** A whole number from 0 to 2^53 − 1. */
export function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isWholeOrNull(value: unknown): value is number | null {
  return value === null || isWhole(value);
}
