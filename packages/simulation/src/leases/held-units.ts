import type { Clocks, Moment } from "./clocks.js";
import type { CounterName, HeldUnits, KeyName } from "./counters.js";
import { Violation } from "./laws.js";
import type { Ending } from "./lease-store.js";
import type { Owner, World } from "./world.js";

/** A process that keeps a lease for longer than this, by the watching process's clock, counts as dead. */
const DEAD_AFTER = 250;

/** Shortest time between two looks at what others hold. */
const LOOK_EVERY = 30;

/** How long a request without an answer may still arrive at the store. */
const LATE = 250;

/** Pauses between attempts to give a lease back: the first, and the longest. */
const PAUSE = 60;
const LONGEST_PAUSE = 240;

/** Units that a process has taken in advance, for `count` verifications of one plan. */
export interface Lease {
  readonly id: number;
  readonly key: KeyName;
  readonly cost: number;
  readonly count: number;
  /** Clock readings before the store was asked. */
  since: Moment;
  /** For each counter of uses, the refill period at that time. */
  readonly due: ReadonlyMap<CounterName, number>;
  /** Null: not known whether they were taken. */
  units: readonly HeldUnits[] | null;
  used: number;
  isReturning: boolean;
  /** Called after the first attempt to give the lease back, whether or not the store answered. */
  readonly tried: (() => void)[];
}

export function isUsable({ units, used, count, isReturning }: Lease): boolean {
  return units !== null && !isReturning && used < count;
}

/** The process that holds something. */
interface Holder extends Owner {
  readonly name: string;
  readonly clocks: Clocks;
  readonly isClosing: boolean;
}

/** The leases that a process holds and gives back, and what it knows about those of others. */
export class HeldUnitsAhead {
  readonly #world: World;
  readonly #holder: Holder;
  readonly #held = new Set<Lease>();
  /** Units of each counter that were really used, by lease id, for every lease that was ever requested. */
  readonly #used = new Map<number, number>();
  /** Leases that it may leave unreturned, because it was closing or was stopped for too long. */
  readonly #givenUp = new Set<number>();
  readonly #others = new Map<KeyName, { at: number; readonly since: Map<number, number> }>();

  constructor(world: World, holder: Holder) {
    this.#world = world;
    this.#holder = holder;
  }

  /** Notes that a lease is being requested. */
  note(id: number): void {
    this.#used.set(id, 0);
  }

  add(lease: Lease): void {
    this.#held.add(lease);
  }

  use(lease: Lease): void {
    lease.used += 1;
    this.#used.set(lease.id, (this.#used.get(lease.id) ?? 0) + lease.cost);
  }

  /** Units of each counter that were used of a lease; null: the lease belongs to another process. */
  usedOf(id: number): number | null {
    return this.#used.get(id) ?? null;
  }

  mayKeep(id: number): boolean {
    return this.#holder.isDead || this.#givenUp.has(id);
  }

  all(): readonly Lease[] {
    return [...this.#held];
  }

  of(key: KeyName): readonly Lease[] {
    return this.all().filter((lease) => lease.key === key);
  }

  /** `then`: called once, after one attempt for each lease. */
  giveAllBack(leases: readonly Lease[], then: () => void): void {
    let left = leases.length;
    for (const lease of leases) {
      lease.tried.push(() => {
        left -= 1;
        if (left === 0) then();
      });
      this.giveBack(lease);
    }
  }

  /** Gives a lease back. None of its units is used after this. */
  giveBack(lease: Lease): void {
    if (lease.isReturning || this.#world.has("never-gives-back")) return;
    lease.isReturning = true;
    const used = lease.used * lease.cost;
    this.#report(lease, used, PAUSE, this.#holder.clocks.read().steady);
  }

  /**
   * The end of a lease, for the store to apply in the step of a charge. None of its units is used after this. Null: it is being given back
   * already.
   */
  closing(lease: Lease): Ending | null {
    if (lease.isReturning || this.#world.has("never-gives-back")) return null;
    lease.isReturning = true;
    return { id: lease.id, used: lease.used * lease.cost };
  }

  /** Handles the answer to that charge. `isTold`: whether the lease has ended with it. */
  told(lease: Lease, { used }: Ending, isTold: boolean): void {
    if (!isTold && !this.#world.has("charge-taken-for-told")) {
      this.#report(lease, used, PAUSE, this.#holder.clocks.read().steady);
      return;
    }
    for (const go of lease.tried.splice(0)) go();
    this.#held.delete(lease);
  }

  /** Reports how much was used, until the store answers. Lease ids are unique, so a repeat changes nothing. */
  #report(lease: Lease, used: number, pause: number, since: number): void {
    const world = this.#world;
    const { clocks, isClosing, name } = this.#holder;
    const elapsed = clocks.read().steady - since;
    const isLast = isClosing || elapsed > DEAD_AFTER;
    const now = this.#holder.clocks.now();
    const work = () => world.store.end(lease.id, used, now);
    world.call(this.#holder, work, (answer) => {
      world.tell(`${name} gives #${lease.id} back, ${used} used: ${answer ?? "no answer"}`);
      for (const go of lease.tried.splice(0)) go();
      const mayArrive = answer === "unknown" && lease.units === null && elapsed < LATE;
      const isOpen = answer === null || (mayArrive && !world.has("unknown-taken-for-done"));
      if (isOpen && isLast) this.#givenUp.add(lease.id);
      if (!isOpen || isLast || world.has("gives-back-once")) this.#held.delete(lease);
      else {
        const again = () => this.#report(lease, used, Math.min(2 * pause, LONGEST_PAUSE), since);
        world.at(world.time + clocks.truly(pause), this.#holder, again);
      }
    });
  }

  /** How many leases on a key others held at the last look. */
  others(key: KeyName): number {
    return this.#others.get(key)?.since.size ?? 0;
  }

  /** Looks at the leases of others, at most every `LOOK_EVERY`, and ends those that have been there for too long. */
  look(key: KeyName): void {
    const world = this.#world;
    const { steady } = this.#holder.clocks.read();
    const seen = this.#others.get(key) ?? { at: Number.NEGATIVE_INFINITY, since: new Map() };
    if (steady - seen.at < LOOK_EVERY) return;
    this.#others.set(key, seen);
    seen.at = steady;
    const end = (id: number) =>
      world.call(
        this.#holder,
        () => world.store.end(id, null, this.#holder.clocks.now()),
        () => undefined,
      );
    world.call(
      this.#holder,
      () => world.store.holds(key),
      (holds) => {
        const before = new Map(seen.since);
        if (holds !== null) seen.since.clear();
        for (const { id, takenAt } of holds ?? []) {
          if (this.all().some((own) => own.id === id)) continue;
          const since = before.get(id) ?? steady;
          seen.since.set(id, since);
          if (steady - since <= DEAD_AFTER && !world.has("others-look-dead")) continue;
          if (world.time - takenAt < DEAD_AFTER / 2)
            throw new Violation("E3", `#${id} is ended, which was taken a moment ago`);
          end(id);
        }
      },
    );
  }
}
