import type { EpochMs, LimitCharge, RateWindow, SpanMs } from "@latchkey/core";

/**
 * How long the window of an ad-hoc limit is kept after its end. Long enough that a clock set back by less finds
 * it still there: no window goes back.
 */
const KEPT_AFTER_END_MS = 24 * 60 * 60 * 1000;

interface AdHocWindow {
  readonly durationMs: SpanMs;
  window: RateWindow;
}

/**
 * Windows of limits that requests made up, of all keys of the store.
 *
 * Nothing configures these limits, so nothing bounds their number: those that ended over 24 hours ago are
 * forgotten, a few with every charge that takes from such a limit.
 */
export class AdHocWindows {
  readonly #windows = new Map<string, AdHocWindow>();
  /**
   * Kept between sweeps: an iterator of a Map goes on where it stood and sees what was added since, whereas a
   * new one would first step over every hole that deleted entries left at the front.
   */
  #sweeping: Iterator<[string, AdHocWindow]> = this.#windows.entries();

  get size(): number {
    return this.#windows.size;
  }

  find(keyId: string, limit: LimitCharge): RateWindow | null {
    return this.#windows.get(nameOf(keyId, limit))?.window ?? null;
  }

  set(keyId: string, limit: LimitCharge, window: RateWindow): void {
    const name = nameOf(keyId, limit);
    const known = this.#windows.get(name);
    if (known === undefined) this.#windows.set(name, { durationMs: limit.durationMs, window });
    else known.window = window;
  }

  clear(): void {
    this.#windows.clear();
  }

  /** Looks at up to `count` windows and forgets those that ended over 24 hours before `now`. */
  sweep(now: EpochMs, count: number): void {
    for (let looked = 0; looked < count; looked += 1) {
      const next = this.#sweeping.next();
      if (next.done) {
        this.#sweeping = this.#windows.entries();
        return;
      }
      const [name, { window, durationMs }] = next.value;
      if (window.startedAt + durationMs + KEPT_AFTER_END_MS < now) this.#windows.delete(name);
    }
  }
}

/** The duration comes before the name, which may hold any character. */
function nameOf(keyId: string, { name, durationMs }: LimitCharge): string {
  return `${keyId} ${durationMs} ${name}`;
}
