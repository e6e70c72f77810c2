import {
  type BucketFill,
  COUNTER_NAMES,
  COUNTERS,
  type Counter,
  type CounterName,
  type HeldUnits,
  tagAt,
} from "./counters.js";

/** A law that a schedule has broken. */
export class Violation extends Error {
  readonly law: Law;

  constructor(law: Law, how: string) {
    super(how);
    this.law = law;
  }
}

export type Law = keyof typeof LAWS;

/** What must never happen. */
export const LAWS = {
  E1: "no more is admitted than granted, in each window and each refill period",
  E2: "a verification that starts after a change has resolved does not contradict it",
  E3: "without a crash, nothing is lost",
  E4: "a killed process loses what it held, at most its share; no process refuses a verification while it holds units for it",
} as const;

/** Versions that a management call guarantees when it resolves: calls that start later see these or later ones. */
export type Claims = Readonly<Partial<Record<string, number>>>;

/** Uses as they were set, and the grants since, by refill period. */
interface Fund {
  readonly first: number;
  readonly from: number;
  readonly added: Map<number, number>;
  readonly refills: number[];
}

/** Records everything that was admitted, granted, resolved and lost, and checks the laws. */
export class Observer {
  /** The latest versions that resolved calls guarantee. */
  readonly resolved: Record<string, number> = {};
  /** Number of decisions without the store. */
  decisions = 0;
  /** Units, by counter, epoch and tag. */
  readonly #admitted = new Map<string, number>();
  readonly #lost = new Map<string, number>();
  readonly #funds = new Map<CounterName, Fund[]>();
  /** The level of each bucket if it had no leases, by counter and epoch. */
  readonly #ideals = new Map<string, { at: number; level: number }>();

  constructor() {
    for (const name of COUNTER_NAMES) {
      const counter = COUNTERS[name];
      if (counter.kind === "uses") this.#funds.set(name, [fundOf(counter.first, 0)]);
    }
  }

  admit(name: CounterName, epoch: number, tag: number, units: number): void {
    add(this.#admitted, placeOf(name, epoch, tag), units);
    const ideal = this.#ideals.get(placeOf(name, epoch, 0));
    const rule = COUNTERS[name];
    if (rule.kind !== "bucket" || ideal === undefined) return;
    ideal.level -= units * rule.duration;
    if (ideal.level < 0)
      throw new Violation(
        "E1",
        `${-ideal.level / rule.duration} more of ${name} than have flowed in`,
      );
  }

  /** E1: lets units flow into the ideal bucket. The store's bucket is never fuller. */
  flow({ name, epoch, fill }: Counter): void {
    if (fill === null) return;
    const { at, rule } = fill;
    const full = rule.burst * rule.duration;
    const place = placeOf(name, epoch, 0);
    const ideal = this.#ideals.get(place) ?? { at, level: full };
    this.#ideals.set(place, ideal);
    ideal.level = Math.min(full, ideal.level + Math.max(0, at - ideal.at) * rule.limit);
    ideal.at = Math.max(ideal.at, at);
    if (full - fill.missing > ideal.level)
      throw new Violation("E1", `${name} holds more than has flowed in`);
  }

  /** Counts units that were taken in advance, not used, and never returned. */
  lose({ name, epoch, tag }: HeldUnits, units: number): void {
    add(this.#lost, placeOf(name, epoch, tag), units);
  }

  refilled(name: CounterName, tag: number): void {
    this.#funds.get(name)?.at(-1)?.refills.push(tag);
  }

  added(name: CounterName, tag: number, units: number): void {
    const fund = this.#funds.get(name)?.at(-1);
    if (fund !== undefined) add(fund.added, tag, units);
  }

  set(name: CounterName, uses: number, tag: number): void {
    this.#funds.get(name)?.push(fundOf(uses, tag));
  }

  resolve(claims: Claims): void {
    for (const [name, version = 0] of Object.entries(claims))
      this.resolved[name] = Math.max(this.resolved[name] ?? 0, version);
  }

  /** E2. `known`: versions that the decision rests on. `seen`: versions that had resolved when the verification began. */
  checkDecision(known: Claims, seen: Claims): void {
    for (const [name, version] of Object.entries(known))
      if ((version ?? 0) < (seen[name] ?? 0))
        throw new Violation(
          "E2",
          `decided on ${name} of version ${version}, after ${seen[name]} had resolved`,
        );
  }

  /** E1: units are used only in their window, and uses only in their refill period, by the clock of the process that decides. */
  checkUnit(name: CounterName, tag: number, now: number): void {
    if (tagAt(name, now) > tag) throw new Violation("E1", `a unit of ${name} was used too late`);
  }

  /** E4. `share`: most units that may be taken in advance. */
  checkShare(name: CounterName, units: number, share: number): void {
    if (units > share)
      throw new Violation("E4", `${units} of ${name} are taken ahead, share ${share}`);
  }

  /** E4. `usable`: usable leases on the same key that the refused process holds. */
  checkRefusal(usable: number): void {
    if (usable > 0) throw new Violation("E4", `refused beside ${usable} leases of its own`);
  }

  /** E1 and E3, for a counter at the end. `held`: units that leases still hold. */
  check(counter: Counter, held: number): void {
    const { name, fill } = counter;
    const rule = COUNTERS[name];
    if (fill !== null) {
      this.#checkBucket(counter, fill, held);
      return;
    }
    if (rule.kind === "uses") {
      this.#checkUses(counter);
      return;
    }
    for (const [place, units] of this.#admitted)
      if (place.startsWith(`${name} `) && units > rule.limit)
        throw new Violation("E1", `${units} of ${name} in a window, limit ${rule.limit}`);
    const now = placeOf(name, counter.epoch, counter.tag);
    const unused = rule.limit - (this.#admitted.get(now) ?? 0);
    compare(counter, unused, this.#lost.get(now) ?? 0);
  }

  /**
   * A bucket lacks, compared with the ideal one, at most the units lost and the most units ever held at once; and it counts as held exactly
   * the units that leases hold.
   */
  #checkBucket({ name, epoch }: Counter, fill: BucketFill, held: number): void {
    const { level } = this.#ideals.get(placeOf(name, epoch, 0)) ?? { level: null };
    if (level === null) return;
    const { burst, duration } = fill.rule;
    const left = burst * duration - fill.missing;
    const lost = this.#lost.get(placeOf(name, epoch, 0)) ?? 0;
    if (left < level - (fill.mostHeld + lost) * duration)
      throw new Violation("E3", `${name} is short by more than was ever held`);
    if (fill.held !== held)
      throw new Violation("E3", `${fill.held} of ${name} are held for ever, ${held} by leases`);
  }

  /** Each grant, with its refills, covers the units admitted from it, and the rest is still there. */
  #checkUses(counter: Counter): void {
    const { name } = counter;
    let unused = 0;
    let lost = 0;
    for (const [epoch, { first, from, added, refills }] of (
      this.#funds.get(name) ?? []
    ).entries()) {
      unused = first;
      lost = 0;
      for (const tag of [from, ...refills]) {
        const { amount = 0 } = COUNTERS[name] as { readonly amount?: number };
        if (tag !== from) unused = Math.max(unused, amount);
        unused += added.get(tag) ?? 0;
        unused -= this.#admitted.get(placeOf(name, epoch, tag)) ?? 0;
        lost += this.#lost.get(placeOf(name, epoch, tag)) ?? 0;
        if (unused < 0) throw new Violation("E1", `${-unused} more of ${name} than granted`);
      }
    }
    compare(counter, unused, lost);
  }
}

function compare({ name, left }: Counter, unused: number, lost: number): void {
  if (left > unused) throw new Violation("E1", `${left} of ${name} left, ${unused} were not used`);
  if (left < unused - lost)
    throw new Violation("E3", `${left} of ${name} left, ${unused} were not used, ${lost} are lost`);
}

function fundOf(first: number, from: number): Fund {
  return { first, from, added: new Map(), refills: [] };
}

function placeOf(name: CounterName, epoch: number, tag: number): string {
  return `${name} ${epoch} ${tag}`;
}

function add<Key>(map: Map<Key, number>, key: Key, units: number): void {
  map.set(key, (map.get(key) ?? 0) + units);
}
