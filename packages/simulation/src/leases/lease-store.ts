import {
  COUNTER_NAMES,
  COUNTERS_OF,
  Counter,
  type CounterName,
  type HeldUnits,
  type KeyName,
  keyOf,
} from "./counters.js";
import type { Fault } from "./faults.js";
import type { Claims, Observer } from "./laws.js";

/** Records that a verification rests on: a key, and the identity that all keys share. */
export type RecordName = KeyName | "id";

/** Of each counter, at most a quarter of the units left is taken in advance, and none if fewer than 4 per holder are left. */
export const SHARE = 4;

/** Lease times: each process that takes leases has one of these. */
export const SHORT_MS = 60;
export const LONGEST_MS = 100;

/** The records as a process has read them. A deleted record has no version. */
export interface Known {
  readonly revision: number;
  readonly versions: Readonly<Partial<Record<RecordName, number>>>;
  /** How often each counter was set or reset. */
  readonly epochs: Readonly<Record<string, number>>;
  /** Version of the record that has the lease times. */
  readonly timesVersion: number;
  /** The longest lease that may be taken, and how long a change waits. */
  readonly grant: number;
  readonly wait: number;
}

/** For how many verifications the share of `left` suffices, less the units that the process already holds. */
export function countWithin(left: number, cost: number, ours: number, holders: number): number {
  if (left < SHARE * holders) return 0;
  return Math.max(0, Math.floor((Math.floor(left / SHARE) - ours) / cost));
}

/** A request for the units of one verification, or of many. */
export interface Taking {
  readonly key: KeyName;
  readonly known: Known;
  /** By the process's clock. */
  readonly now: number;
  /** Units of each verification. */
  readonly cost: number;
  /** Null: one verification, and its units are taken for good. */
  readonly lease: { readonly id: number; readonly count: number } | null;
  /** Lease that ends in the same step. */
  readonly ends: Ending | null;
}

/** How a lease ends. */
export interface Ending {
  readonly id: number;
  /** Units of each counter. */
  readonly used: number;
}

export type Taken =
  | { readonly kind: "stale"; readonly known: Known }
  | { readonly kind: "refused" }
  | {
      readonly kind: "taken";
      /** Units left afterwards, by counter. */
      readonly left: Readonly<Partial<Record<CounterName, number>>>;
      readonly units: readonly HeldUnits[];
    };

/** A change by management. */
export type ChangeOf =
  | { readonly kind: "change" | "repeat" | "delete"; readonly record: RecordName }
  | { readonly kind: "revise" | "stop" | "lower" }
  | { readonly kind: "announce"; readonly ms: number }
  | { readonly kind: "add" | "set"; readonly counter: CounterName; readonly units: number }
  | { readonly kind: "reset"; readonly counter: CounterName };

export type Changed =
  | { readonly kind: "stale" | "refused" | "gone" }
  | { readonly kind: "done"; readonly claims: Claims };

/** The stored record of a lease. It never ends by itself. */
interface Hold {
  readonly id: number;
  readonly key: KeyName;
  readonly units: readonly HeldUnits[];
  /** When it was taken: in real time, and by its process's clock. */
  readonly takenAt: number;
  readonly since: number;
}

/** The store. Each method is one atomic step. */
export class LeaseStore {
  #revision = 1;
  #times = { version: 0, grant: 0, wait: 0 };
  readonly #versions: Partial<Record<RecordName, number>> = { k1: 1, k2: 1, k3: 1, k4: 1, id: 1 };
  readonly #counters: ReadonlyMap<CounterName, Counter>;
  readonly #holds = new Map<number, Hold>();
  /** Holds that have ended, and the use reported for them. */
  readonly #ended = new Map<number, { readonly hold: Hold; readonly used: number | null }>();
  readonly #observer: Observer;
  readonly #fault: Fault | null;
  readonly #time: () => number;

  /** `time`: real time. The store's decisions do not depend on it. */
  constructor(observer: Observer, fault: Fault | null, time: () => number) {
    this.#observer = observer;
    this.#fault = fault;
    this.#counters = new Map(COUNTER_NAMES.map((name) => [name, new Counter(name, fault)]));
    this.#time = time;
  }

  read(): Known {
    const epochs: Record<string, number> = {};
    for (const [name, { epoch }] of this.#counters) epochs[name] = epoch;
    const { version, grant, wait } = this.#times;
    const versions = { ...this.#versions };
    return { revision: this.#revision, versions, epochs, timesVersion: version, grant, wait };
  }

  /** Confirms the records, and takes units if there are enough: for good, or for a lease. */
  take({ key, known, now, cost, lease, ends }: Taking): Taken {
    if (ends !== null && known.revision === this.#revision) this.end(ends.id, ends.used, now);
    if (!this.#isAsKnown(key, known)) return { kind: "stale", known: this.read() };
    if (this.#fault === "ends-by-itself") this.#releaseBefore(key, now - LONGEST_MS);
    const units = cost * (lease?.count ?? 1);
    const counters = COUNTERS_OF[key].map((name) => this.#refreshed(name, now));
    if (counters.some(({ left }) => left < units)) return { kind: "refused" };
    const left: Partial<Record<CounterName, number>> = {};
    const taken = counters.map((counter): HeldUnits => {
      const { name, tag, epoch } = counter;
      counter.take(units, lease !== null);
      left[name] = counter.left;
      if (lease === null) this.#observer.admit(name, epoch, tag, units);
      return { name, units, tag, epoch };
    });
    if (lease !== null)
      this.#holds.set(lease.id, {
        id: lease.id,
        key,
        units: taken,
        takenAt: this.#time(),
        since: now,
      });
    return { kind: "taken", left, units: taken };
  }

  #isAsKnown(key: KeyName, { versions, revision }: Known): boolean {
    if (this.#versions[key] === undefined || versions[key] !== this.#versions[key]) return false;
    if (versions.id !== this.#versions.id && this.#fault !== "identity-not-confirmed") return false;
    return revision === this.#revision || this.#fault === "revision-not-confirmed";
  }

  /** Ends a lease: unused units come back. `used`: units of each counter; null: not known, so all count as used. */
  end(id: number, used: number | null, now: number): "ended" | "unknown" | "conflict" {
    const hold = this.#holds.get(id);
    const before = this.#ended.get(id);
    if (hold === undefined) {
      if (before === undefined) return "unknown";
      if (before.used !== used) return "conflict";
      if (this.#fault === "gives-back-twice") this.#giveBack(before.hold, used ?? 0, now);
      return "ended";
    }
    this.#holds.delete(id);
    this.#ended.set(id, { hold, used });
    const isFree = used === null && this.#fault === "dead-give-back";
    this.#giveBack(hold, isFree ? 0 : (used ?? Number.POSITIVE_INFINITY), now);
    return "ended";
  }

  #giveBack({ key, units }: Hold, used: number, now: number): void {
    if (this.#versions[key] === undefined) return;
    for (const held of units) {
      const counter = this.#counters.get(held.name) as Counter;
      const keeps =
        this.#fault === (held.name.endsWith("uses") ? "set-keeps-holds" : "reset-keeps-holds");
      if (held.epoch !== counter.epoch && !keeps) continue;
      const rest = Math.max(0, held.units - used);
      const isPaid = this.#fault !== "back-over-a-refill";
      const mayBeLater = this.#fault === "back-to-a-later-window";
      counter.giveBack(held, rest, isPaid, mayBeLater, now);
      this.#observer.flow(counter);
    }
  }

  #releaseBefore(key: KeyName, before: number): void {
    for (const { id, since } of this.holds(key)) if (since <= before) this.end(id, 0, before);
  }

  /** Units of a counter that leases hold, since it was set or reset. */
  heldOf(name: CounterName, epoch: number): number {
    const all = this.holds(keyOf(name)).flatMap(({ units }) => units);
    const own = all.filter((held) => held.name === name && held.epoch === epoch);
    return own.reduce((sum, { units }) => sum + units, 0);
  }

  /** The holds on a key. */
  holds(key: KeyName): readonly Hold[] {
    return [...this.#holds.values()].filter((hold) => hold.key === key);
  }

  /** Holds that are still open, and those that ended without a report of their use. */
  unreported(): readonly Hold[] {
    const foreign = [...this.#ended.values()].filter(({ used }) => used === null);
    return [...this.#holds.values(), ...foreign.map(({ hold }) => hold)];
  }

  /** A change confirms the record that it rests on and the lease times, so its caller knows how long the leases in use may be. */
  commit(change: ChangeOf, known: Known, now: number): Changed {
    const isOld = known.timesVersion !== this.#times.version;
    if (isOld && this.#fault !== "lease-times-not-expected") return { kind: "stale" };
    if ("record" in change && known.versions[change.record] !== this.#versions[change.record])
      return { kind: "stale" };
    if ("counter" in change && this.#versions[keyOf(change.counter)] === undefined)
      return { kind: "gone" };
    switch (change.kind) {
      case "repeat":
        return done({ [change.record]: known.versions[change.record] ?? 0 });
      case "change":
        this.#versions[change.record] = (this.#versions[change.record] ?? 0) + 1;
        return done({ [change.record]: this.#versions[change.record] ?? 0 });
      case "delete":
        delete this.#versions[change.record];
        for (const hold of this.#holds.values())
          if (hold.key === change.record) this.#holds.delete(hold.id);
        return done({ [change.record]: Number.POSITIVE_INFINITY });
      case "revise":
        this.#revision += 1;
        return done({ revision: this.#revision });
      case "announce":
        this.#setTimes(
          Math.max(this.#times.grant, change.ms),
          Math.max(this.#times.wait, change.ms),
        );
        return done({});
      case "stop":
        if (this.#times.grant === 0) return done({});
        this.#setTimes(0, this.#fault === "ended-at-once" ? 0 : this.#times.wait);
        return done({});
      case "lower":
        if (this.#times.grant > 0) return { kind: "refused" };
        this.#setTimes(0, 0);
        return done({});
      default:
        return this.#changeCounter(change, now);
    }
  }

  #setTimes(grant: number, wait: number): void {
    const isQuiet = this.#fault === "ended-under-the-same-revision" && grant === 0;
    if (!isQuiet) this.#revision += 1;
    this.#times = { version: this.#times.version + 1, grant, wait };
  }

  #changeCounter(
    change: Extract<ChangeOf, { readonly counter: CounterName }>,
    now: number,
  ): Changed {
    const counter = this.#refreshed(change.counter, now);
    const { name, tag } = counter;
    if (change.kind === "add") {
      if (counter.left + change.units < 0) return { kind: "refused" };
      counter.left += change.units;
      this.#observer.added(name, tag, change.units);
      return done({});
    }
    const uses = change.kind === "set" ? change.units : 0;
    counter.renew(uses);
    if (change.kind === "set") this.#observer.set(name, uses, tag);
    return done({ [name]: counter.epoch });
  }

  #refreshed(name: CounterName, now: number): Counter {
    const counter = this.#counters.get(name) as Counter;
    if (counter.refresh(now)) this.#observer.refilled(name, counter.tag);
    this.#observer.flow(counter);
    return counter;
  }

  /** Counters of keys that still exist. */
  counters(): readonly Counter[] {
    return [...this.#counters.values()].filter(({ name }) => this.#versions[keyOf(name)]);
  }
}

function done(claims: Claims): Changed {
  return { kind: "done", claims };
}
