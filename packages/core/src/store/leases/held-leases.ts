import { unref } from "../../lib/event-loop.js";
import type { Clocks } from "../../rules/lease.js";
import { limitNameOf } from "../../rules/limit-state.js";
import type { Clock, EpochMs, SpanMs, Timer } from "../../time.js";
import type { AppliedCharge, ChargePlan } from "../charge.js";
import type { KeyStore } from "../key-store.js";
import type { EndStep } from "../settle.js";
import { DEAD_AFTER_MS, holdersOf, nameOf } from "./other-leases.js";

/** Longest pause between two tries to give something back. */
const LONGEST_PAUSE_MS = 10_000;

/** For how long closing tries to give everything back: by then, a server that restarts is back. */
const CLOSING_MS: SpanMs = 3_000;

/** Pause between two tries on closing. */
const CLOSING_PAUSE_MS: SpanMs = 50;

/** How many leases are given back at once on closing: thousands would wait for each other until the store seems not to answer. */
const MOST_AT_ONCE = 50;

/** For how long an unanswered request for units may still reach the store, after the one that gives them back. */
const LATE_MS: SpanMs = 60_000;

/** Units that this process has taken ahead for one key: enough for `count` verifications of one plan. */
export interface Lease {
  readonly id: string;
  readonly plan: ChargePlan;
  /** Uses that each verification takes: 0 if they are unlimited. */
  readonly cost: number;
  /** The clocks before the store was asked. */
  readonly since: Clocks;
  /** When the latest refill was due then: units are not used past the next one. */
  readonly dueAt: EpochMs | null;
  /** From then on its units would count in another window or group than the one they were taken from. */
  until: EpochMs;
  readonly count: number;
  /** What the store answered when it took all the units. Null: it has not answered, and it is unknown whether they were taken. */
  charge: AppliedCharge | null;
  /** Verifications so far. */
  used: number;
  /** How far giving it back has got. Null: its units may be used. */
  returning: Returning | null;
}

/** Two promises that never reject. */
interface Returning {
  /** The store was told once, or did not answer. */
  readonly tried: Promise<void>;
  /** The store answered, or there are no more tries. */
  readonly ended: Promise<void>;
}

/** The name of a counter that a plan takes from. `window`: of a limit; empty for uses. */
export function counterOf(plan: ChargePlan, owner: number | null, window = ""): string {
  return `${nameOf(plan, owner)} ${window}`;
}

/** The step that reports how much of a lease was used. */
export function endStepOf({ id, plan, cost, used }: Lease): EndStep {
  const limits = plan.limits.map(({ window, cost: units }) => ({
    name: limitNameOf(window),
    cost: used * units,
  }));
  return { kind: "end", id, uses: used * cost, limits, rest: true };
}

/**
 * The leases of this process. Each is closed first: from then on, none of its units is used. Then the store is told how many were used,
 * until it answers. No id is used twice, so a repeat changes nothing.
 */
export class HeldLeases {
  /** Leases by the names of the records that they belong to. */
  readonly #byRecord = new Map<string, Set<Lease>>();
  readonly #ids = new Set<string>();
  /** Held units of each counter. */
  readonly #units = new Map<string, number>();
  readonly #store: Pick<KeyStore, "settle">;
  readonly #pauseMs: SpanMs;
  readonly #now: Clock;
  readonly #steady: Timer;
  /** From then on, by the steady clock, nothing is tried again. */
  #closedAt = Number.POSITIVE_INFINITY;
  /** Ends the pauses between tries. */
  readonly #wake = new Set<() => void>();

  /** `pauseMs`: between the first two tries to give something back. */
  constructor(store: Pick<KeyStore, "settle">, pauseMs: SpanMs, now: Clock, steady: Timer) {
    this.#store = store;
    this.#pauseMs = pauseMs;
    this.#now = now;
    this.#steady = steady;
  }

  /** Adds a lease whose units are already counted. */
  add(lease: Lease): void {
    this.#ids.add(lease.id);
    for (const place of holdersOf(lease.plan).keys()) {
      const name = nameOf(lease.plan, place);
      const own = this.#byRecord.get(name);
      if (own === undefined) this.#byRecord.set(name, new Set([lease]));
      else own.add(lease);
    }
  }

  #remove(lease: Lease): void {
    this.#ids.delete(lease.id);
    this.count(lease, -1);
    for (const place of holdersOf(lease.plan).keys()) {
      const name = nameOf(lease.plan, place);
      const own = this.#byRecord.get(name);
      own?.delete(lease);
      if (own?.size === 0) this.#byRecord.delete(name);
    }
  }

  /** Counts the units of a lease. They count even before the store is asked for them, because others may be requested meanwhile. */
  count({ plan, cost, count }: Lease, sign: 1 | -1): void {
    const change = (name: string, each: number) => {
      const units = (this.#units.get(name) ?? 0) + sign * each * count;
      if (units === 0) this.#units.delete(name);
      else this.#units.set(name, units);
    };
    change(counterOf(plan, plan.uses), cost);
    for (const { owner, window, cost: each } of plan.limits)
      change(counterOf(plan, owner, window), each);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Held units of a counter, including those that were requested or are being given back. */
  units(counter: string): number {
    return this.#units.get(counter) ?? 0;
  }

  /** The leases of the records of a plan, including those that are being given back. */
  of(plan: ChargePlan): readonly Lease[] {
    const beside = [...holdersOf(plan).keys()].map((place) =>
      this.#byRecord.get(nameOf(plan, place)),
    );
    return [...new Set(beside.flatMap((own) => [...(own ?? [])]))];
  }

  /** `told`: resolves to whether another step has told the store; if not, it is told again. */
  giveBack(lease: Lease, told?: Promise<boolean>): Returning {
    lease.returning ??= this.#begin(lease, told);
    return lease.returning;
  }

  #begin(lease: Lease, told?: Promise<boolean>): Returning {
    let endTry = (): void => undefined;
    const tried = new Promise<void>((resolve) => {
      endTry = resolve;
    });
    const report = () => this.#report(lease, endTry);
    const reported = told ? told.then((isTold) => (isTold ? endTry() : report())) : report();
    const ended = reported.then(() => this.#remove(lease));
    return { tried, ended };
  }

  get #isClosing(): boolean {
    return this.#closedAt < Number.POSITIVE_INFINITY;
  }

  /** Gives everything back. Each lease is tried at least once, and again for a few seconds while the store does not answer. */
  async giveAllBack(): Promise<void> {
    this.#closedAt = this.#steady() + CLOSING_MS;
    for (const wake of this.#wake) wake();
    const left = [...new Set([...this.#byRecord.values()].flatMap((leases) => [...leases]))];
    const next = async () => {
      for (let lease = left.pop(); lease !== undefined; lease = left.pop())
        await this.giveBack(lease).ended;
    };
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, next));
  }

  /** Reports how much was used, until the store answers, or until other processes take this one for dead. */
  async #report(lease: Lease, onTried: () => void): Promise<void> {
    const { plan, charge } = lease;
    const step = endStepOf(lease);
    const since = this.#steady();
    for (let pause = this.#pauseMs; ; pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const time = this.#steady();
      const elapsed = time - since;
      const isLast = time >= Math.min(this.#closedAt, since + DEAD_AFTER_MS);
      try {
        const moment = { now: this.#now(), revision: null };
        const { kind } = await this.#store.settle(plan.workspaceId, step, moment);
        const mayArrive = charge === null && kind === "unknown" && elapsed < LATE_MS;
        if (this.#isClosing || !mayArrive) return;
      } catch {
        if (isLast) return;
      } finally {
        onTried();
      }
      await this.#pause(pause);
    }
  }

  #pause(ms: SpanMs): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        this.#wake.delete(end);
        resolve();
      };
      const timer = setTimeout(end, this.#isClosing ? CLOSING_PAUSE_MS : ms);
      // Closing waits for the timer.
      if (!this.#isClosing) unref(timer);
      this.#wake.add(end);
    });
  }
}
