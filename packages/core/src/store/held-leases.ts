import { unref } from "../lib/event-loop.js";
import type { Clocks } from "../rules/lease.js";
import { limitNameOf } from "../rules/limit-state.js";
import type { Clock, EpochMs, SpanMs, Timer } from "../time.js";
import type { AppliedCharge, ChargePlan } from "./charge.js";
import type { KeyStore } from "./key-store.js";
import { DEAD_AFTER_MS, nameOf } from "./other-leases.js";

/** Longest pause between two tries to give something back. */
const LONGEST_PAUSE_MS = 10_000;

/** How many are given back at once on closing: thousands would wait for each other until the store seems not to answer. */
const MOST_AT_ONCE = 50;

/** For how long a taking without an answer may still arrive at the store, behind what gives it back. */
const LATE_MS: SpanMs = 60_000;

/** Units of one key that this process has taken ahead: enough for `count` verifications of one plan. */
export interface Lease {
  readonly id: string;
  readonly plan: ChargePlan;
  /** Uses that each verification takes: 0 where they are unlimited. */
  readonly cost: number;
  /** Read before the store was asked. */
  readonly since: Clocks;
  /** Which refill was due then: units are not used past the next one. */
  readonly dueAt: EpochMs | null;
  readonly count: number;
  /** What the store answered when all of the units were taken. Null: it has not, and nobody knows whether they were. */
  charge: AppliedCharge | null;
  /** Verifications so far. */
  used: number;
  /** How far it is given back. Null: its units may be used. */
  returning: Returning | null;
}

/** Two promises, none of which rejects. */
interface Returning {
  /** The store was told once, or did not answer. */
  readonly tried: Promise<void>;
  /** The store answered, or nobody tries any more. */
  readonly ended: Promise<void>;
}

const NONE: ReadonlySet<Lease> = new Set();

/**
 * The leases of this process. Each is closed first: none of its units is used from then on. Then the store is told how many were, until
 * it answers. No id is used twice, so a repeat changes nothing.
 */
export class HeldLeases {
  readonly #byKey = new Map<string, Set<Lease>>();
  readonly #store: Pick<KeyStore, "settle">;
  readonly #pauseMs: SpanMs;
  readonly #now: Clock;
  readonly #steady: Timer;
  #isClosing = false;
  /** Ends the pauses between tries. */
  readonly #wake = new Set<() => void>();

  /** @param pauseMs - Between the first two tries to give something back. */
  constructor(store: Pick<KeyStore, "settle">, pauseMs: SpanMs, now: Clock, steady: Timer) {
    this.#store = store;
    this.#pauseMs = pauseMs;
    this.#now = now;
    this.#steady = steady;
  }

  add(lease: Lease): void {
    const name = nameOf(lease.plan);
    const own = this.#byKey.get(name);
    if (own === undefined) this.#byKey.set(name, new Set([lease]));
    else own.add(lease);
  }

  /** The leases of the key of a plan, those included that are being given back. */
  of(plan: ChargePlan): ReadonlySet<Lease> {
    return this.#byKey.get(nameOf(plan)) ?? NONE;
  }

  giveBack(lease: Lease): Returning {
    lease.returning ??= this.#begin(lease);
    return lease.returning;
  }

  #begin(lease: Lease): Returning {
    let endTry = (): void => undefined;
    const tried = new Promise<void>((resolve) => {
      endTry = resolve;
    });
    const ended = this.#report(lease, endTry).then(() => {
      const name = nameOf(lease.plan);
      const own = this.#byKey.get(name);
      own?.delete(lease);
      if (own?.size === 0) this.#byKey.delete(name);
    });
    return { tried, ended };
  }

  /** Gives everything back. From now on each is tried only once more. */
  async giveAllBack(): Promise<void> {
    this.#isClosing = true;
    for (const wake of this.#wake) wake();
    const left = [...this.#byKey.values()].flatMap((leases) => [...leases]);
    const next = async () => {
      for (let lease = left.pop(); lease !== undefined; lease = left.pop())
        await this.giveBack(lease).ended;
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, next));
  }

  /** Says how much was used, until the store answers, or others count the lease as that of a dead process. */
  async #report({ id, plan, cost, used, charge }: Lease, onTried: () => void): Promise<void> {
    const limits = plan.limits.map(({ window, cost: units }) => ({
      name: limitNameOf(window),
      cost: used * units,
    }));
    const step = { kind: "end", id, uses: used * cost, limits, rest: true } as const;
    const since = this.#steady();
    for (let pause = this.#pauseMs; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const elapsed = this.#steady() - since;
      const isLast = this.#isClosing || elapsed > DEAD_AFTER_MS;
      try {
        const moment = { now: this.#now(), revision: null };
        const { kind } = await this.#store.settle(plan.workspaceId, step, moment);
        const mayArrive = charge === null && kind === "unknown" && elapsed < LATE_MS;
        if (isLast || !mayArrive) return;
      } catch {
        if (isLast) return;
      } finally {
        onTried();
      }
      await this.#pause(pause);
    }
  }

  #pause(ms: SpanMs): Promise<void> | undefined {
    if (this.#isClosing) return;
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#wake.delete(end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      unref(timer);
      this.#wake.add(end);
    });
  }
}
