import type { Fault } from "./faults.js";

/** Uses: `first` at the start, and at least `amount` after each refill. */
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

/** A token bucket: `limit` units flow in per `duration`, until there are `burst`. */
interface BucketRule {
  readonly kind: "bucket";
  readonly limit: number;
  readonly duration: number;
  readonly burst: number;
}

/** The counters of all keys. They are tiny, so that processes often compete for the last units. */
export const COUNTERS = {
  "k1.uses": { kind: "uses", first: 44, amount: 36, every: 230 },
  "k1.window": { kind: "window", limit: 48, duration: 170 },
  "k2.uses": { kind: "uses", first: 90, amount: 0, every: Number.POSITIVE_INFINITY },
  "k2.window": { kind: "window", limit: 30, duration: 90 },
  "k4.bucket": { kind: "bucket", limit: 30, duration: 50, burst: 48 },
} as const satisfies Readonly<Record<string, UsesRule | WindowRule | BucketRule>>;

export type CounterName = keyof typeof COUNTERS;
export type KeyName = "k1" | "k2" | "k3" | "k4";

/** A verification takes its cost from all counters of its key, or from none. */
export const COUNTERS_OF: Readonly<Record<KeyName, readonly CounterName[]>> = {
  k1: ["k1.uses", "k1.window"],
  k2: ["k2.uses", "k2.window"],
  k3: [],
  k4: ["k4.bucket"],
};

export const COUNTER_NAMES = Object.keys(COUNTERS) as readonly CounterName[];

export function keyOf(name: CounterName): KeyName {
  return name.slice(0, 2) as KeyName;
}

/** The refill period that an instant lies in, or the start of its window; 0 for a bucket, which has neither. */
export function tagAt(name: CounterName, now: number): number {
  const counter = COUNTERS[name];
  if (counter.kind === "bucket") return 0;
  if (counter.kind === "uses") return Math.floor(now / counter.every);
  return now - (now % counter.duration);
}

/** Units that were taken from a counter for a lease. */
export interface HeldUnits {
  readonly name: CounterName;
  readonly units: number;
  /** The period or window that they belong to: {@link tagAt}, as the store had it. */
  readonly tag: number;
  /** How often the counter had been set or reset. */
  readonly epoch: number;
}

/** The stored state of one counter. */
export class Counter {
  readonly name: CounterName;
  tag = 0;
  epoch = 0;
  left: number;
  /** Null: the counter is no bucket. */
  readonly fill: BucketFill | null;
  /** Units that refills added while units were held. They are set off against units returned from an earlier period. */
  #raises: { readonly before: number; units: number }[] = [];

  constructor(name: CounterName, fault: Fault | null) {
    const rule = COUNTERS[name];
    this.name = name;
    this.fill = rule.kind === "bucket" ? new BucketFill(rule, fault) : null;
    this.left = fullOf(name);
  }

  /** Begins the window, or makes the refill, that is due at an instant. @returns Whether there was one. */
  refresh(now: number): boolean {
    if (this.fill !== null) this.left = this.fill.leftAt(now);
    const tag = tagAt(this.name, now);
    if (tag <= this.tag) return false;
    const counter = COUNTERS[this.name];
    if (counter.kind === "window") this.left = counter.limit;
    else if (counter.kind === "uses") {
      // Held units count as used.
      const units = Math.max(0, counter.amount - this.left);
      this.left += units;
      this.#raises.push({ before: tag, units });
    }
    this.tag = tag;
    return true;
  }

  take(units: number, isLease: boolean): void {
    this.left -= units;
    this.fill?.take(units, isLease);
  }

  /** @returns How many units come back: none to a window that is over. */
  giveBack(
    held: HeldUnits,
    units: number,
    isPaid: boolean,
    mayBeLater: boolean,
    now: number,
  ): number {
    if (this.fill !== null) {
      this.fill.giveBack(held.units, units, now);
      this.left += units;
      return units;
    }
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

  /** Sets the uses, or resets the limit: units held from before no longer belong to any counter. */
  renew(uses: number): void {
    this.epoch += 1;
    this.left = COUNTERS[this.name].kind === "uses" ? uses : fullOf(this.name);
    this.#raises = [];
    this.fill?.empty();
  }
}

/** The level of a bucket. It fills up to its burst less the units held. */
export class BucketFill {
  readonly rule: BucketRule;
  readonly #fault: Fault | null;
  /** The latest instant at which units were taken, or a lease ended. */
  at = 0;
  /** Units × `duration` that are missing, including the units held. */
  missing = 0;
  held = 0;
  /** Most units held at once so far. */
  mostHeld = 0;

  constructor(rule: BucketRule, fault: Fault | null) {
    this.rule = rule;
    this.#fault = fault;
  }

  /** Units × `duration` that are missing at an instant. */
  #missingAt(now: number): number {
    const { limit, duration } = this.rule;
    const held = this.#fault === "bucket-fills-while-held" ? 0 : this.held * duration;
    return Math.max(held, this.missing - Math.max(0, now - this.at) * limit);
  }

  /** Lets units flow in up to `now`. @returns Units left. */
  leftAt(now: number): number {
    const { duration, burst } = this.rule;
    this.missing = this.#missingAt(now);
    this.at = Math.max(this.at, now);
    return burst - Math.ceil(this.missing / duration);
  }

  take(units: number, isLease: boolean): void {
    this.missing += units * this.rule.duration;
    if (isLease) this.held += units;
    else if (this.#fault === "bucket-forgets-what-is-held") this.held = 0;
    this.mostHeld = Math.max(this.mostHeld, this.held);
  }

  /** `held`: units no longer held. `units`: how many of these were not used. */
  giveBack(held: number, units: number, now: number): void {
    // Used units count from now on: until now the bucket filled as far as the units held allow.
    if (this.#fault !== "bucket-fills-as-if-nothing-was-held") this.leftAt(now);
    this.missing = Math.max(0, this.missing - units * this.rule.duration);
    const isHeldOn = this.#fault === "bucket-holds-what-was-used";
    this.held = Math.max(0, this.held - (isHeldOn ? units : held));
  }

  empty(): void {
    this.missing = 0;
    this.held = 0;
  }
}

function fullOf(name: CounterName): number {
  const counter = COUNTERS[name];
  if (counter.kind === "bucket") return counter.burst;
  return counter.kind === "uses" ? counter.first : counter.limit;
}
