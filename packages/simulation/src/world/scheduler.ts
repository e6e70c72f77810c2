import { realImmediate } from "./real.js";

/** The instant at which every simulated world begins: a little before midnight UTC, so that refills fall due. */
export const BEGIN_AT = Date.UTC(2030, 0, 31, 23, 59, 55);

/** Most that happens before a world comes to rest: a few hundred steps are usual. */
const MOST_STEPS = 50_000;

/** Something that is going to happen. */
export interface Scheduled {
  readonly at: number;
  /** Among those of one instant the lowest comes first. */
  readonly order: number;
  readonly run: () => void;
}

/** Simulated time. Nothing happens but what was scheduled, one thing at a time, in an order that the seed decides. */
export class Scheduler {
  /** The true time of the world in ms since the Unix epoch. */
  now = BEGIN_AT;
  readonly #waiting = new Set<Scheduled>();
  #tick = 0;

  /** Ticks order all that happens in a world. */
  nextTick(): number {
    this.#tick += 1;
    return this.#tick;
  }

  /** @returns How to call it off. */
  after(delayMs: number, order: number, run: () => void): () => void {
    const scheduled = { at: this.now + Math.max(0, delayMs), order, run };
    this.#waiting.add(scheduled);
    return () => this.#waiting.delete(scheduled);
  }

  /** Runs everything up to an instant; all that was scheduled where none is given. */
  async run(until = Number.POSITIVE_INFINITY): Promise<void> {
    for (let steps = 0; ; steps += 1) {
      if (steps > MOST_STEPS) throw new Error("it goes on and on, and nothing comes of it");
      await settled();
      const next = this.#next();
      if (next === null || next.at > until) break;
      this.#waiting.delete(next);
      this.now = next.at;
      next.run();
    }
    if (until !== Number.POSITIVE_INFINITY) this.now = Math.max(this.now, until);
  }

  #next(): Scheduled | null {
    let next: Scheduled | null = null;
    for (const one of this.#waiting)
      if (next === null || one.at < next.at || (one.at === next.at && one.order < next.order))
        next = one;
    return next;
  }
}

/** Resolves when no promise has anything left to do. */
function settled(): Promise<void> {
  return new Promise((resolve) => realImmediate(resolve));
}
