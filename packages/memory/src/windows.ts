import type { LimitCharge, RateLimit, RateWindow } from "@latchkey/core";

/** The window of one configured limit. A limit that nothing was taken from yet has none. */
interface StoredWindow {
  readonly name: string;
  readonly durationMs: number;
  /** The window itself, moved in place: an object kept for each charge would outlive its generation of garbage. */
  startedAt: number;
  used: number;
}

/** Windows of the configured limits of one key or one identity: a handful, bounded by the configuration. */
export type StoredWindows = readonly StoredWindow[];

/** Shared by all owners that have no window: a key costs no list until something is taken from a limit of it. */
export const NO_WINDOWS: StoredWindows = [];

/** The stored window of a limit as it stands, or null: it moves with the next charge. */
export function findWindow(windows: StoredWindows, limit: LimitCharge): RateWindow | null {
  return entryOf(windows, limit) ?? null;
}

/** The windows with that of one limit replaced. */
export function withWindow(
  windows: StoredWindows,
  limit: LimitCharge,
  window: RateWindow,
): StoredWindows {
  const entry = entryOf(windows, limit);
  if (entry !== undefined) {
    entry.startedAt = window.startedAt;
    entry.used = window.used;
    return windows;
  }
  const { startedAt, used } = window;
  const added = { name: limit.name, durationMs: limit.durationMs, startedAt, used };
  return windows.length === 0 ? [added] : [...windows, added];
}

/** The windows of limits that keep their name and duration; those of all others are forgotten. */
export function keptWindows(windows: StoredWindows, limits: readonly RateLimit[]): StoredWindows {
  const kept = windows.filter(({ name, durationMs }) =>
    limits.some((limit) => limit.name === name && limit.durationMs === durationMs),
  );
  return kept.length === 0 ? NO_WINDOWS : kept;
}

function entryOf(
  windows: StoredWindows,
  { name, durationMs }: Pick<LimitCharge, "name" | "durationMs">,
): StoredWindow | undefined {
  for (const entry of windows) {
    if (entry.name === name && entry.durationMs === durationMs) return entry;
  }
  return undefined;
}
