import type { Usage } from "@latchkey/core";
import { NO_WINDOWS, type StoredWindows } from "./windows.js";

/**
 * A use counter and the windows of configured limits. Both move in place: the use counter is handed out as a copy.
 *
 * The use counter is kept in numbers from the start on. The engine writes those in place; for a field that has ever held
 * anything else it makes a new object with every number, and each of those outlives its generation of garbage.
 */
export class Counters {
  windows: StoredWindows = NO_WINDOWS;
  /** Infinity for unlimited. */
  #remaining = 0;
  #refilledAt = 0;

  constructor(usage: Usage) {
    this.usage = usage;
  }

  get usage(): Usage {
    const remaining = this.#remaining === Number.POSITIVE_INFINITY ? null : this.#remaining;
    return { remaining, refilledAt: this.#refilledAt };
  }

  set usage({ remaining, refilledAt }: Usage) {
    this.#remaining = remaining ?? Number.POSITIVE_INFINITY;
    this.#refilledAt = refilledAt;
  }
}
