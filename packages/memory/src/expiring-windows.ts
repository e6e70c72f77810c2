import type { EpochMs, RateWindow, SpanMs } from "@latchkey/core";
import { ExpiringMap } from "./expiring-map.js";

/**
 * How long a window is kept after its end. A clock set back by less than this finds it still there: no window
 * goes back.
 */
const KEPT_AFTER_END_MS = 24 * 60 * 60 * 1000;

/** Windows of limits that no record configures, so that nothing but time says when they are no longer needed. */
export class ExpiringWindows {
  readonly #windows = new ExpiringMap<RateWindow>();

  get(name: string): RateWindow | null {
    return this.#windows.get(name);
  }

  set(name: string, window: RateWindow, durationMs: SpanMs, now: EpochMs): void {
    const keepUntil = window.startedAt + durationMs + KEPT_AFTER_END_MS;
    this.#windows.set(name, window, keepUntil, now);
  }

  clear(): void {
    this.#windows.clear();
  }
}
