import { LatchkeyError } from "../errors.js";
import { unref } from "../lib/promises.js";
import {
  type Clocks,
  isLeaseAlive,
  type LeaseSettings,
  verificationsAhead,
} from "../rules/lease.js";
import { afterTaking, endOfGroup } from "../rules/limit-algorithm.js";
import { type Clock, type EpochMs, LAST_INSTANT, type Timer } from "../time.js";
import {
  type AppliedCharge,
  type ChargeMoment,
  type ChargePlan,
  type LimitCharge,
  type LimitReading,
  readLimit,
} from "./charge.js";
import {
  type Charging,
  counterOf,
  createChargesBeside,
  createHeldLeases,
  createOtherLeases,
  holdersOf,
  type Lease,
  nameOf,
} from "./held-leases.js";
import type { SettledCharge, SettledStore } from "./settled-store.js";

/** What a lease holds never ends by itself, so that no clock ends it for a process that is still running. */
const HELD = { keeps: "all", ttl: LAST_INSTANT, slotTtl: null } as const;

/** A lease is only taken while its key, and its identity, have fewer open leases and reservations than this. */
const MOST_BESIDE: readonly [ofKey: number, ofIdentity: number] = [100, 1_000];

/** Verifications that the first lease of a key is taken for. */
const FIRST_WANTED = 8;

/** A key is in use if the store is asked about it this often within a lease: taking one and giving it back costs two more calls. */
const IN_USE = 4;

interface PlanState {
  /** The latest lease, until it is replaced. */
  lease: Lease | null;
  /** Resolves when the store has answered the request for a lease. */
  taking: Promise<unknown> | null;
  /** The latest answer of the store, which says how much is left. */
  latest: AppliedCharge | null;
  /** How often the store was asked since `askedSince`. */
  asked: number;
  askedSince: number;
  /** Verifications that the next lease is taken for. */
  wanted: number;
  /** Until then nothing is taken ahead. */
  restsUntil: number;
}

/** Units that a process takes ahead, as holds in the store, and uses without asking it. @see packages/core/decisions/0055-units-ahead-are-holds.md */
export function createUnitsAhead(
  store: SettledStore,
  { ms, share }: LeaseSettings,
  now: Clock,
  steady: Timer,
  newId: () => string,
) {
  const plans = new WeakMap<ChargePlan, PlanState>();
  const held = createHeldLeases(store, ms, now, steady);
  const beside = createChargesBeside(store, held);
  const others = createOtherLeases(store, now, steady);
  const takings = new Set<Promise<unknown>>();
  let isClosed = false;

  function stateOf(plan: ChargePlan): PlanState {
    let state = plans.get(plan);
    if (state === undefined) {
      state = {
        lease: null,
        taking: null,
        latest: null,
        asked: 0,
        askedSince: 0,
        wanted: FIRST_WANTED,
        restsUntil: 0,
      };
      plans.set(plan, state);
    }
    return state;
  }

  /** Decides from a lease; null if its units or its time are not enough. */
  function decide(
    lease: Lease,
    { now: at, refill }: ChargeMoment,
    wall: EpochMs,
  ): AppliedCharge | null {
    const { charge, plan, since, dueAt, until, count, returning } = lease;
    if (charge === null || returning !== null || lease.used >= count) return null;
    if (!isLeaseAlive(since, { steady: steady(), wall }, ms)) return null;
    if (at >= until || (refill?.dueAt ?? null) !== dueAt) return null;
    lease.used += 1;
    return verdictOf(charge, plan, count - lease.used, true);
  }

  function charge(
    plan: ChargePlan,
    moment: ChargeMoment,
    isLeasing: boolean,
    wall = moment.now,
  ): Charging {
    const state = stateOf(plan);
    const { lease, taking } = state;
    if (taking !== null) {
      const again = () => charge(plan, moment, isLeasing, now());
      return taking.then(again, again);
    }
    if (lease !== null) {
      const decided = decide(lease, moment, wall);
      if (decided !== null) return decided;
      stop(state, lease);
    }
    const ended = lease?.returning === null ? lease : null;
    const time = steady();
    if (time - state.askedSince > ms) Object.assign(state, { asked: 0, askedSince: time });
    state.asked += 1;
    const mayTake = isLeasing && !isClosed && state.asked >= IN_USE && time >= state.restsUntil;
    const { latest, wanted } = state;
    const isKnown = mayTake && latest?.kind === "charged";
    const count = isKnown ? countInShare(plan, latest, wanted, ended, false) : 0;
    if (count < 2) return ask(plan, moment, state, ended);
    const result = take(plan, moment, state, count, { steady: time, wall }, ended);
    if ("then" in result) {
      state.taking = result;
      takings.add(result);
      const done = () => {
        state.taking = null;
        takings.delete(result);
      };
      result.then(done, done);
    }
    return result;
  }

  /**
   * For how many verifications, at most `wanted`, the units are within this process's share of what the store says is left.
   *
   * @param lease - With `isTaken`, it was taken just before the store said so; otherwise it goes back before others are taken. Null: none.
   */
  function countInShare(
    plan: ChargePlan,
    { remaining, limits }: AppliedCharge,
    wanted: number,
    lease: Lease | null,
    isTaken: boolean,
  ): number {
    let most = wanted;
    const take = (left: number, each: number, owner: number | null, window?: string) => {
      const units = each * (lease?.count ?? 0);
      const own = isTaken ? 0 : held.units(counterOf(plan, owner, window)) - units;
      const holders = others.count(nameOf(plan, owner)) + 1;
      const before = isTaken ? left + units : left;
      most = Math.min(most, verificationsAhead(before, each, own, share, holders));
    };
    if (remaining !== null) take(remaining, plan.cost, plan.uses);
    plan.limits.forEach(({ owner, window, cost }, index) => {
      take(limits[index]?.remaining ?? 0, cost, owner, window);
    });
    return most;
  }

  function ask(
    plan: ChargePlan,
    moment: ChargeMoment,
    state: PlanState,
    ended: Lease | null,
  ): Charging {
    const keep = (result: SettledCharge) => {
      if ("limits" in result) state.latest = result;
      return beside.unlessRefused(plan, moment, result);
    };
    const result = beside.chargeAndTell(plan, moment, ended);
    return "then" in result ? result.then(keep) : keep(result);
  }

  /** Takes units for many verifications, of which this one is the first. */
  function take(
    plan: ChargePlan,
    moment: ChargeMoment,
    state: PlanState,
    count: number,
    since: Clocks,
    ended: Lease | null,
  ): Charging {
    const isCounted = state.latest?.remaining !== null;
    const lease: Lease = {
      id: newId(),
      plan,
      cost: isCounted ? plan.cost : 0,
      since,
      dueAt: moment.refill?.dueAt ?? null,
      until: LAST_INSTANT,
      count,
      charge: null,
      used: 0,
      returning: null,
    };
    const keep = (result: SettledCharge): Charging => {
      if (result.kind !== "charged") held.count(lease, -1);
      if (result.kind === "stale" || result.kind === "conflict") return result;
      if (result.kind !== "charged") {
        state.restsUntil = steady() + ms;
        return ask(plan, moment, state, null);
      }
      lease.charge = result;
      lease.until = endOf(plan, result);
      held.add(lease);
      if ((result.remaining !== null) !== isCounted) {
        // Uses became limited or unlimited since the store was last asked.
        state.latest = null;
        return held.giveBack(lease).tried.then(() => ask(plan, moment, state, null));
      }
      lease.used = 1;
      const answer = verdictOf(result, plan, count - 1, false);
      state.latest = answer;
      // Others may have taken much since the last answer.
      if (countInShare(plan, result, count, lease, true) < count) void held.giveBack(lease);
      else begin(state, lease);
      return answer;
    };
    const fail = (error: unknown): never => {
      state.restsUntil = steady() + ms;
      // None of it was used, if it was taken at all.
      if (!(error instanceof LatchkeyError) || error.outcome !== "not-applied") {
        held.add(lease);
        void held.giveBack(lease);
      } else held.count(lease, -1);
      throw error;
    };
    const whole: ChargePlan = {
      ...plan,
      cost: lease.cost * count,
      limits: plan.limits.map((limit) => {
        const cost = limit.cost * count;
        return { ...limit, cost, held: cost };
      }),
      hold: { ...HELD, most: MOST_BESIDE.slice(0, holdersOf(plan).length) },
      memo: undefined,
    };
    held.count(lease, 1);
    try {
      const result = beside.chargeAndTell(whole, { ...moment, holdId: lease.id }, ended);
      return "then" in result ? result.then(keep, fail) : keep(result);
    } catch (error) {
      return fail(error);
    }
  }

  function begin(state: PlanState, lease: Lease): void {
    const { plan } = lease;
    state.lease = lease;
    others.look(plan, (id) => held.has(id));
    const end = () => {
      if (state.lease !== lease) return;
      stop(state, lease);
      void held.giveBack(lease);
    };
    unref(setTimeout(end, ms));
  }

  /** Closes a lease: from here on none of its units is used. */
  function stop(state: PlanState, lease: Lease): void {
    const { used, count, since } = lease;
    const time = steady();
    const elapsed = Math.max(1, time - since.steady);
    const pace = used >= count ? Math.max(1, ms / elapsed) : 1;
    state.lease = null;
    state.wanted = Math.ceil(2 * used * pace);
    // The next lease is taken at once, unless this one was not worth it.
    state.asked = used >= IN_USE ? IN_USE - 1 : 0;
    state.askedSince = time;
  }

  return {
    /** Charges a plan that takes units of a key and its identity. `isLeasing`: whether a lease may be taken at the revision of the plan. */
    charge: charge as (plan: ChargePlan, moment: ChargeMoment, isLeasing: boolean) => Charging,
    /** Charges a plan that the store decides: it is never refused because of units that this process holds for the same key. */
    chargeBeside: beside.charge,
    /** Gives back unused units, and waits for the store. */
    async giveAllBack(): Promise<void> {
      isClosed = true;
      await Promise.allSettled(takings);
      await held.giveAllBack();
    },
  };
}

/** From when on units would count in another window or group than the one they were taken from. */
function endOf({ limits }: ChargePlan, { limits: readings }: AppliedCharge): EpochMs {
  const ends = limits.map((limit, at) => endOfGroup((readings[at] as LimitReading).state, limit));
  return Math.min(LAST_INSTANT, ...ends.map((end) => end ?? LAST_INSTANT));
}

/** The verdict on a verification while this process holds units for `rest` more: these count as left. */
function verdictOf(
  { remaining, limits }: AppliedCharge,
  plan: ChargePlan,
  rest: number,
  isLeased: boolean,
): AppliedCharge {
  const left = remaining === null ? null : remaining + rest * plan.cost;
  const readings: LimitReading[] = [];
  for (let index = 0; index < limits.length; index += 1) {
    const limit = plan.limits[index] as LimitCharge;
    const { state } = limits[index] as LimitReading;
    readings.push(readLimit(limit, afterTaking(state, limit, -rest * limit.cost), false));
  }
  const leased = isLeased ? true : undefined;
  const ahead = isLeased ? undefined : rest;
  return { kind: "charged", remaining: left, limits: readings, leased, ahead };
}
