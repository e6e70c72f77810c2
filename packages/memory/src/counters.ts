import type {
  CounterChange,
  EpochMs,
  FoundHold,
  HoldSums,
  LimitState,
  Usage,
} from "@latchkey/core";
import type { HoldsBeside } from "./holds-beside.js";

/** The window of one limit, linked to the next. */
class Window implements LimitState {
  constructor(
    readonly name: string,
    public at: EpochMs,
    public used: number,
    public earlier: readonly number[],
    readonly next: Window | null,
  ) {}
}

/**
 * Counters of one record, or of several records that share them: each record holds the same object. Updated in place, and only in fields
 * that differ: to the engine an instant is an object, and a new one in an old object is work for the garbage collector.
 */
export class Counters implements Usage {
  /** How many records hold these counters. */
  holders = 1;
  /** Null if there are no holds. */
  beside: HoldsBeside<FoundHold<Counters>> | null = null;
  /** The first window; the order is arbitrary. Most keys have no rate limit, and most others have one. */
  #windows: Window | null = null;

  constructor(
    public remaining: number | null,
    public refilledAt: EpochMs,
    public lastRefillAt: EpochMs | null,
    public holds: HoldSums | undefined,
  ) {}

  /** A copy: counters are copied in and out, so a charge need not freeze them. */
  usage(): Usage {
    const { remaining, refilledAt, lastRefillAt, holds } = this;
    return holds === undefined
      ? { remaining, refilledAt, lastRefillAt }
      : { remaining, refilledAt, lastRefillAt, holds };
  }

  setUsage({ remaining, refilledAt, lastRefillAt, holds }: Usage): void {
    this.remaining = remaining;
    this.holds = holds;
    if (this.refilledAt !== refilledAt) this.refilledAt = refilledAt;
    if (this.lastRefillAt !== lastRefillAt) this.lastRefillAt = lastRefillAt;
  }

  get(name: string): Window | null {
    let window = this.#windows;
    while (window !== null && window.name !== name) window = window.next;
    return window;
  }

  set(name: string, { at, used, earlier }: LimitState): void {
    const window = this.get(name);
    if (window === null) {
      this.#windows = new Window(name, at, used, earlier, this.#windows);
      return;
    }
    if (window.at !== at) window.at = at;
    window.used = used;
    if (window.earlier !== earlier) window.earlier = earlier;
  }

  forgetWindows({ keepWindows, dropWindows = [] }: CounterChange): void {
    let window = this.#windows;
    this.#windows = null;
    for (; window !== null; window = window.next)
      if (!dropWindows.includes(window.name) && keepWindows?.includes(window.name) !== false)
        this.set(window.name, window);
  }
}
