import { memoryStore } from "@latchkey/memory";
import { realImmediate } from "./real.js";
import type { OtherStores } from "./store-process.js";

/** Opens the stores of worlds. */
export type Stores = Pick<OtherStores, "begin" | "open" | "idle">;

/** Memory stores, which answer at once. */
const IN_MEMORY: Stores = {
  begin: () => undefined,
  open: memoryStore,
  idle: async () => false,
};

/** The instant at which every simulated world begins: just before midnight UTC and the end of a month, so that refills fall due. */
export const BEGIN_AT = Date.UTC(2030, 0, 31, 23, 59, 55);

/** Most steps until a world comes to rest. A few hundred are usual. */
const MOST_STEPS = 50_000;

/** A scheduled event. */
export interface Scheduled {
  readonly at: number;
  /** Events of one instant run in ascending order. */
  readonly order: number;
  readonly run: () => void;
}

/** Simulated time. Only scheduled events happen, one at a time, in an order that follows from the seed. */
export class Scheduler {
  /** The true time of the world in ms since the Unix epoch. */
  now = BEGIN_AT;
  readonly #waiting = new Set<Scheduled>();
  #tick = 0;
  readonly stores: Stores;

  constructor(stores: Stores = IN_MEMORY) {
    this.stores = stores;
    stores.begin();
  }

  /** Ticks order all events of a world. */
  nextTick(): number {
    this.#tick += 1;
    return this.#tick;
  }

  /** Schedules `run`. @returns A function that cancels it. */
  after(delayMs: number, order: number, run: () => void): () => void {
    const scheduled = { at: this.now + Math.max(0, delayMs), order, run };
    this.#waiting.add(scheduled);
    return () => this.#waiting.delete(scheduled);
  }

  /** Runs all events up to an instant; by default, until none is left. */
  async run(until = Number.POSITIVE_INFINITY): Promise<void> {
    for (let steps = 0; ; steps += 1) {
      if (steps > MOST_STEPS) throw new Error("it goes on and on, and nothing comes of it");
      await settled();
      while (await this.stores.idle()) await settled();
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

/** How many turns are requested from the host at once: a round of its event loop takes longer than a turn. */
const TURNS_OF_A_ROUND = 100;

let turnsLeft = 0;
const waiting: (() => void)[] = [];

function turn(): void {
  turnsLeft -= 1;
  waiting.shift()?.();
}

/** Resolves when all promise callbacks have run, and the host has noted rejections that nobody handled. */
function settled(): Promise<void> {
  if (turnsLeft === 0) for (; turnsLeft < TURNS_OF_A_ROUND; turnsLeft += 1) realImmediate(turn);
  return new Promise((resolve) => waiting.push(resolve));
}
