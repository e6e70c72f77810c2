import type {
  CounterChange,
  EpochMs,
  FoundHold,
  HoldSums,
  LimitState,
  Usage,
} from "@latchkey/core";
import type { HoldsBeside } from "./holds-beside.js";

/** A limit among counters, and the next of them. */
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
 * Counters of one record, or of several that share them: each of these holds the same object. Written to in place, and only
 * where something is different: an instant is an object to the engine, and a new one in an old place is work for its collector.
 */
export class Counters implements Usage {
  /** How many records have them. */
  holders = 1;
  /** Null where there are none. */
  beside: HoldsBeside<FoundHold<Counters>> | null = null;
  /** The first of them, in no order: most keys have no rate limit, and most others have one. */
  #windows: Window | null = null;

  constructor(
    public remaining: number | null,
    public refilledAt: EpochMs,
    public lastRefillAt: EpochMs | null,
    public holds: HoldSums | undefined,
  ) {}

  /** A copy: counters are copied in and out, so that a charge need not freeze them. */
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
