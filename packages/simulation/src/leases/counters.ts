/** Uses: so many at first, and with each refill at least `amount`. */
interface UsesRule {
  readonly kind: "uses";
  readonly first: number;
  readonly amount: number;
  readonly every: number;
}

/** A fixed limit: at most `limit` in each window. */
interface WindowRule {
  readonly kind: "window";
  readonly limit: number;
  readonly duration: number;
}

/** What the counters of keys are. They are tiny, so that processes meet at their ends. */
export const COUNTERS = {
  "k1.uses": { kind: "uses", first: 44, amount: 36, every: 230 },
  "k1.window": { kind: "window", limit: 48, duration: 170 },
  "k2.uses": { kind: "uses", first: 90, amount: 0, every: Number.POSITIVE_INFINITY },
  "k2.window": { kind: "window", limit: 30, duration: 90 },
} as const satisfies Readonly<Record<string, UsesRule | WindowRule>>;

export type CounterName = keyof typeof COUNTERS;
export type KeyName = "k1" | "k2" | "k3";

/** A verification takes its cost from all counters of its key, or from none. */
export const COUNTERS_OF: Readonly<Record<KeyName, readonly CounterName[]>> = {
  k1: ["k1.uses", "k1.window"],
  k2: ["k2.uses", "k2.window"],
  k3: [],
};

export const COUNTER_NAMES = Object.keys(COUNTERS) as readonly CounterName[];

export function keyOf(name: CounterName): KeyName {
  return name.slice(0, 2) as KeyName;
}

/** The refill period, or the start of the window, that an instant lies in. */
export function tagAt(name: CounterName, now: number): number {
  const counter = COUNTERS[name];
  if (counter.kind === "uses") return Math.floor(now / counter.every);
  return now - (now % counter.duration);
}

/** Units that were taken of a counter for a lease. */
export interface HeldUnits {
  readonly name: CounterName;
  readonly units: number;
  /** What they belong to: {@link tagAt}, as the store had it. */
  readonly tag: number;
  /** How often the counter had been set, or reset. */
  readonly epoch: number;
}

/** What the store keeps of one counter. */
export class Counter {
  readonly name: CounterName;
  tag = 0;
  epoch = 0;
  left: number;
  /** What refills brought while units were held: it pays for what comes back from before. */
  #raises: { readonly before: number; units: number }[] = [];

  constructor(name: CounterName) {
    this.name = name;
    this.left = fullOf(name);
  }

  /** Has the window begin, or the refill made, that an instant calls for. @returns Whether it is another. */
  refresh(now: number): boolean {
    const tag = tagAt(this.name, now);
    if (tag <= this.tag) return false;
    const counter = COUNTERS[this.name];
    if (counter.kind === "window") this.left = counter.limit;
    else {
      // As if all that is held were used.
      const units = Math.max(0, counter.amount - this.left);
      this.left += units;
      this.#raises.push({ before: tag, units });
    }
    this.tag = tag;
    return true;
  }

  /** @returns What of it comes back: to a window that is over, nothing. */
  giveBack(held: HeldUnits, units: number, isPaid: boolean, mayBeLater: boolean): number {
    if (COUNTERS[this.name].kind === "window") {
      if (held.tag !== this.tag && !mayBeLater) return 0;
      this.left += units;
      return units;
    }
    let rest = units;
    for (const raise of isPaid ? this.#raises : []) {
      if (held.tag >= raise.before) continue;
      const paid = Math.min(rest, raise.units);
      raise.units -= paid;
      rest -= paid;
    }
    this.left += rest;
    return units;
  }

  /** Sets the uses, or empties the limit: what is held of it from before is of no counter any more. */
  renew(uses: number): void {
    this.epoch += 1;
    this.left = COUNTERS[this.name].kind === "uses" ? uses : fullOf(this.name);
    this.#raises = [];
  }
}

function fullOf(name: CounterName): number {
  const counter = COUNTERS[name];
  return counter.kind === "uses" ? counter.first : counter.limit;
}
