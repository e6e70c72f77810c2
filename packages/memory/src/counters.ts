import type { Usage } from "@latchkey/core";
import { NO_WINDOWS, type StoredWindows } from "./windows.js";

/** A use counter and the windows of configured limits. Both move in place and are handed out as copies. */
export class Counters {
  windows: StoredWindows = NO_WINDOWS;
  #remaining: number | null;
  #refilledAt: number;

  constructor({ remaining, refilledAt }: Usage) {
    this.#remaining = remaining;
    this.#refilledAt = refilledAt;
  }

  get usage(): Usage {
    return { remaining: this.#remaining, refilledAt: this.#refilledAt };
  }

  set usage({ remaining, refilledAt }: Usage) {
    this.#remaining = remaining;
    this.#refilledAt = refilledAt;
  }
}
