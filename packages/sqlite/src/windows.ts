import type { RateLimit, RateWindow } from "@latchkey/core";
import { damaged, json, text, whole } from "./values.js";

/** The window of one configured limit. A limit that nothing was taken from yet has none. */
export interface StoredWindow {
  readonly name: string;
  readonly durationMs: number;
  readonly window: RateWindow;
}

/** Windows of the configured limits of one key or one identity: a few, as many as are configured. */
export type StoredWindows = readonly StoredWindow[];

type LimitName = Pick<RateLimit, "name" | "durationMs">;

const NONE: StoredWindows = [];
const NONE_TEXT = "[]";
const FIELDS = 4;

/** Reads the column `windows`: a flat list of name, duration, start and units used, for each window. */
export function decodeWindows(value: unknown): StoredWindows {
  if (value === NONE_TEXT) return NONE;
  const flat = json(value);
  if (!Array.isArray(flat) || flat.length % FIELDS !== 0) return damaged();
  const windows: StoredWindow[] = [];
  for (let at = 0; at < flat.length; at += FIELDS) {
    windows.push({
      name: text(flat[at]),
      durationMs: whole(flat[at + 1], 1),
      window: { startedAt: whole(flat[at + 2]), used: whole(flat[at + 3]) },
    });
  }
  return windows;
}

/** The opposite of {@link decodeWindows}. */
export function encodeWindows(windows: StoredWindows): string {
  if (windows.length === 0) return NONE_TEXT;
  // Written out: a charge encodes every time, and JSON.stringify of the list costs it three times as much.
  let flat = "";
  for (const { name, durationMs, window } of windows) {
    if (flat !== "") flat += ",";
    flat += `${JSON.stringify(name)},${durationMs},${window.startedAt},${window.used}`;
  }
  return `[${flat}]`;
}

/** The stored window of a limit, or null. */
export function findWindow(windows: StoredWindows, limit: LimitName): RateWindow | null {
  for (const stored of windows) if (isOf(stored, limit)) return stored.window;
  return null;
}

/** The windows with that of one limit replaced. */
export function withWindow(
  windows: StoredWindows,
  limit: LimitName,
  window: RateWindow,
): StoredWindows {
  const { name, durationMs } = limit;
  const others = windows.filter((stored) => !isOf(stored, limit));
  return [...others, { name, durationMs, window }];
}

/** The windows of limits that keep their name and duration; those of all others are forgotten. */
export function keptWindows(windows: StoredWindows, limits: readonly RateLimit[]): StoredWindows {
  return windows.filter((stored) => limits.some((limit) => isOf(stored, limit)));
}

function isOf(stored: StoredWindow, { name, durationMs }: LimitName): boolean {
  return stored.name === name && stored.durationMs === durationMs;
}
