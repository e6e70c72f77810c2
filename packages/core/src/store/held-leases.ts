import { unref, withEachAtOnce } from "../lib/promises.js";
import { isLease } from "../rules/hold.js";
import type { Clocks } from "../rules/lease.js";
import { limitNameOf } from "../rules/limit-state.js";
import type { Clock, EpochMs, SpanMs, Timer } from "../time.js";
import type { RecordAddress } from "./change.js";
import type { AppliedCharge, ChargeMoment, ChargePlan } from "./charge.js";
import type { KeyStore } from "./key-store.js";
import type { EndStep, HoldStep } from "./settle.js";
import type { SettledCharge, SettledStore } from "./settled-store.js";

/** A process that has not given its units back for this long is dead, by the clock of the process that watches. */
const DEAD_AFTER_MS: SpanMs = 600_000;

/** How often the leases of a record in use are checked. */
const LOOK_EVERY_MS: SpanMs = 10_000;

/** Most leases of one record that are checked, and most records that are remembered. */
const MOST_LEASES = 1_000;
const MOST_RECORDS = 10_000;

/** The leases seen of one record. */
interface Seen {
  readonly lookedAt: number;
  /** When each was first seen, by its id. */
  leases: ReadonlyMap<string, number>;
}

/** The records that have the holds of what a plan takes ahead: its key, and its identity if it takes units of that too. */
export function holdersOf({ confirms, uses, limits }: ChargePlan): readonly RecordAddress[] {
  const isShared = uses === 1 || limits.some(({ owner }) => owner === 1);
  return confirms.slice(0, isShared ? 2 : 1);
}

/** The name of one of the records that a plan confirms. */
export function nameOf({ workspaceId, confirms }: ChargePlan, place: number | null): string {
  const record = confirms[place ?? 0];
  return `${workspaceId} ${record?.kind} ${record?.id}`;
}

/** Ends the lease of a dead process: all of it counts as used. */
export function endOfLease(id: string): HoldStep {
  return { kind: "end", id, uses: null, limits: [], rest: true };
}

/**
 * Watches what other processes hold of the records that this one takes units of. No clock is compared with that of another process: the
 * process of a lease is dead once this process has seen the lease for longer than {@link DEAD_AFTER_MS}, by its own clock.
 */
export function createOtherLeases(
  store: Pick<KeyStore, "holds" | "settle">,
  now: Clock,
  steady: Timer,
  mostRecords: number = MOST_RECORDS,
) {
  const known = new Map<string, Seen>();

  /** Makes room. Records without leases go first, because a forgotten lease counts as new when it is seen again. */
  function forget(): void {
    for (const [name, { leases }] of known) if (leases.size === 0) known.delete(name);
    if (known.size > mostRecords / 2) known.clear();
  }

  return {
    /** How many leases there were at the last check. `name`: as {@link nameOf} returns it. */
    count: (name: string): number => known.get(name)?.leases.size ?? 0,

    /** Checks now and then, and ends the leases of dead processes: all that they held counts as used. */
    look(plan: ChargePlan, isOwn: (id: string) => boolean): void {
      const { workspaceId } = plan;
      const time = steady();
      for (const [place, record] of holdersOf(plan).entries()) {
        const name = nameOf(plan, place);
        const before = known.get(name);
        if (before && time - before.lookedAt < LOOK_EVERY_MS) continue;
        if (known.size >= mostRecords) forget();
        const seen: Seen = { lookedAt: time, leases: before?.leases ?? new Map() };
        known.set(name, seen);
        const end = async () => {
          const leases = new Map<string, number>();
          for (const hold of await store.holds(workspaceId, record, null, MOST_LEASES)) {
            if (!isLease(hold) || isOwn(hold.id)) continue;
            const since = seen.leases.get(hold.id) ?? time;
            leases.set(hold.id, since);
            if (time - since > DEAD_AFTER_MS)
              await store.settle(workspaceId, endOfLease(hold.id), { now: now(), revision: null });
          }
          seen.leases = leases;
        };
        // The next check tries again.
        end().catch(() => undefined);
      }
    },
  };
}

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
function endStepOf({ id, plan, cost, used }: Lease): EndStep {
  const limits = plan.limits.map(({ window, cost: units }) => ({
    name: limitNameOf(window),
    cost: used * units,
  }));
  return { kind: "end", id, uses: used * cost, limits, rest: true };
}

/**
 * The leases of this process. Each is closed first, then the store is told what was used, until it answers: a repeat changes nothing.
 *
 * @param pauseMs - Between the first two tries to give something back.
 */
export function createHeldLeases(
  store: Pick<KeyStore, "settle">,
  pauseMs: SpanMs,
  now: Clock,
  steady: Timer,
) {
  /** Leases by the names of the records that they belong to. */
  const byRecord = new Map<string, Set<Lease>>();
  const ids = new Set<string>();
  /** Held units of each counter. */
  const unitsOf = new Map<string, number>();
  /** From then on, by the steady clock, nothing is tried again. */
  let closedAt = Number.POSITIVE_INFINITY;
  /** Whether the store did not answer the latest try. */
  let isAway = false;
  /** Ends the pauses between tries. */
  const wakes = new Set<() => void>();
  const isClosing = () => closedAt < Number.POSITIVE_INFINITY;

  function remove(lease: Lease): void {
    ids.delete(lease.id);
    count(lease, -1);
    for (const place of holdersOf(lease.plan).keys()) {
      const name = nameOf(lease.plan, place);
      const own = byRecord.get(name);
      own?.delete(lease);
      if (own?.size === 0) byRecord.delete(name);
    }
  }

  /** Counts the units of a lease. They count even before the store is asked for them, because others may be requested meanwhile. */
  function count({ plan, cost, count: times }: Lease, sign: 1 | -1): void {
    const change = (name: string, each: number) => {
      const units = (unitsOf.get(name) ?? 0) + sign * each * times;
      if (units === 0) unitsOf.delete(name);
      else unitsOf.set(name, units);
    };
    change(counterOf(plan, plan.uses), cost);
    for (const { owner, window, cost: each } of plan.limits)
      change(counterOf(plan, owner, window), each);
  }

  function begin(lease: Lease, told?: Promise<boolean>): Returning {
    let endTry = (): void => undefined;
    const tried = new Promise<void>((resolve) => {
      endTry = resolve;
    });
    const reporting = () => report(lease, endTry);
    const reported = told ? told.then((isTold) => (isTold ? endTry() : reporting())) : reporting();
    const ended = reported.then(() => remove(lease));
    return { tried, ended };
  }

  /** `told`: resolves to whether another step has told the store; if not, it is told again. */
  function giveBack(lease: Lease, told?: Promise<boolean>): Returning {
    lease.returning ??= begin(lease, told);
    return lease.returning;
  }

  /** Reports how much was used, until the store answers, or until other processes take this one for dead. */
  async function report(lease: Lease, onTried: () => void): Promise<void> {
    const { plan, charge } = lease;
    const step = endStepOf(lease);
    const since = steady();
    for (let pauseFor = pauseMs; ; pauseFor = Math.min(2 * pauseFor, LONGEST_PAUSE_MS)) {
      const time = steady();
      const elapsed = time - since;
      try {
        const moment = { now: now(), revision: null };
        const { kind } = await store.settle(plan.workspaceId, step, moment);
        isAway = false;
        const mayArrive = charge === null && kind === "unknown" && elapsed < LATE_MS;
        if (isClosing() || !mayArrive) return;
      } catch {
        isAway = true;
        if (time >= since + DEAD_AFTER_MS || steady() >= closedAt) return;
      } finally {
        onTried();
      }
      await pause(pauseFor);
    }
  }

  function pause(ms: SpanMs): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        wakes.delete(end);
        resolve();
      };
      const timer = setTimeout(end, isClosing() ? CLOSING_PAUSE_MS : ms);
      // Closing waits for the timer.
      if (!isClosing()) unref(timer);
      wakes.add(end);
    });
  }

  return {
    /** Adds a lease whose units are already counted. */
    add(lease: Lease): void {
      ids.add(lease.id);
      for (const place of holdersOf(lease.plan).keys()) {
        const name = nameOf(lease.plan, place);
        const own = byRecord.get(name);
        if (own === undefined) byRecord.set(name, new Set([lease]));
        else own.add(lease);
      }
    },
    count,
    has: (id: string): boolean => ids.has(id),
    /** Held units of a counter, including those that were requested or are being given back. */
    units: (counter: string): number => unitsOf.get(counter) ?? 0,
    /** The leases of the records of a plan, including those that are being given back. */
    of(plan: ChargePlan): readonly Lease[] {
      const beside = [...holdersOf(plan).keys()].map((place) => byRecord.get(nameOf(plan, place)));
      return [...new Set(beside.flatMap((own) => [...(own ?? [])]))];
    },
    giveBack,
    /**
     * Gives everything back, for a few seconds if the store does not answer, and as long as it takes if it does. What is left then ends
     * like the leases of a process that was killed.
     */
    async giveAllBack(): Promise<void> {
      closedAt = steady() + CLOSING_MS;
      for (const wake of wakes) wake();
      const all = new Set([...byRecord.values()].flatMap((leases) => [...leases]));
      await withEachAtOnce(all, MOST_AT_ONCE, async (lease) => {
        if (isAway && steady() >= closedAt) return;
        await giveBack(lease).ended;
      });
    },
  };
}

/** A charge, synchronous if the store answers synchronously: one more promise would cost as much as the charge. */
export type Charging = SettledCharge | Promise<SettledCharge>;

/** Charges in the store while this process holds leases: no charge is refused because of units that this process holds for the same key. */
export function createChargesBeside(
  store: SettledStore,
  held: ReturnType<typeof createHeldLeases>,
) {
  /** Charges a plan that the store decides. */
  function charge(plan: ChargePlan, moment: ChargeMoment): Charging {
    if (plan.mode === "peek") return store.charge(plan, moment);
    const own = moment.request === undefined ? [] : held.of(plan);
    if (own.length > 0) return chargeAfterReturn(plan, moment, own);
    const result = store.charge(plan, moment);
    if (!("then" in result)) return unlessRefused(plan, moment, result);
    return result.then((known) => unlessRefused(plan, moment, known));
  }

  /**
   * Charges a plan, and reports in the same step how much of a closed lease was used. If the answer does not show that the report arrived,
   * another step reports it again.
   */
  function chargeAndTell(plan: ChargePlan, moment: ChargeMoment, ended: Lease | null): Charging {
    if (ended === null) return store.charge(plan, moment);
    let told = Promise.resolve(false);
    try {
      const result = store.charge(plan, { ...moment, ends: endStepOf(ended) });
      told = Promise.resolve(result).then(
        ({ kind }) => kind !== "stale",
        () => false,
      );
      return result;
    } finally {
      void held.giveBack(ended, told);
    }
  }

  /** The result of a charge. If it is refused while there are leases of the same key, these go back, and the store is asked once more. */
  function unlessRefused(plan: ChargePlan, moment: ChargeMoment, result: SettledCharge): Charging {
    const isRefused = "limits" in result && result.kind !== "charged";
    const own = isRefused ? held.of(plan) : [];
    if (own.length === 0) return result;
    return giveAllBack(own).then(() => store.charge(plan, moment));
  }

  /** A refusal is remembered with its request: leases of the same key go back before the charge, not after it. */
  async function chargeAfterReturn(
    plan: ChargePlan,
    moment: ChargeMoment,
    own: readonly Lease[],
  ): Promise<SettledCharge> {
    const [first] = own;
    if (own.length === 1 && first?.returning === null) return chargeAndTell(plan, moment, first);
    const { now: at, refill } = moment;
    const look = { ...plan, mode: "peek", hold: undefined, memo: undefined } as const;
    const { kind } = await store.charge(look, { now: at, refill });
    if (kind === "rate-limited" || kind === "usage-exceeded") await giveAllBack(own);
    return store.charge(plan, moment);
  }

  /** Tries once to give leases back. */
  function giveAllBack(own: readonly Lease[]): Promise<unknown> {
    return Promise.all(own.map((lease) => held.giveBack(lease).tried));
  }

  return { charge, chargeAndTell, unlessRefused };
}
