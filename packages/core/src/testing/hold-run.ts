import { expect } from "vitest";
import { judgeChange } from "../adapters/judge-change.js";
import { limitAt, roomOf } from "../rules/limit-algorithm.js";
import type { DueRefill } from "../rules/refill.js";
import { type CounterChange, EMPTY_CHANGE } from "../store/change.js";
import type { ChargePlan, LimitCharge } from "../store/charge.js";
import {
  DURATION,
  dueBetween,
  figures,
  isConcurrent,
  LIMITS,
  limitOf,
  nameOf,
  type Owner,
  PERIOD,
  type PlainCounters,
  PlainHolds,
  RATES,
  type Refilling,
  ROOM,
  START,
  type Step,
  type StepOf,
  windowOf,
} from "./holds.js";
import { usageOf } from "./records.js";

const addressOf = (place: 0 | 1) =>
  ({ kind: place === 0 ? "key" : "identity", id: "any" }) as const;
const idOf = (number: number) => `rsv_${String(number).padStart(3, "0")}`;

/** What a charge or a reservation took. Once the outcome of a reservation is known, its figures are replaced by what it used. */
interface Taken {
  readonly at: number;
  readonly uses: 0 | 1 | null;
  cost: number;
  readonly units: Map<number, number>;
  /** Units that flowed into a bucket in `DURATION` until then. */
  readonly rate: number;
}

type Entry =
  | { readonly at: number; readonly taken: Taken }
  | { readonly at: number; readonly change: StepOf<"change"> };

/** What the rules really did, and beside it a list from which the same results are computed from scratch. */
export class Run {
  readonly holds: PlainHolds;
  readonly entries: Entry[] = [];
  readonly open = new Map<string, Taken>();
  now = START;
  rate: number = RATES[0];
  #next = 1;

  constructor(
    readonly granted: readonly [number | null, number | null],
    readonly refills: readonly [Refilling, Refilling],
  ) {
    const [ofKey, ofIdentity] = granted;
    this.holds = new PlainHolds(usageOf(ofKey, START), usageOf(ofIdentity, START));
  }

  due(place: 0 | 1, now = this.now): DueRefill | null {
    const refill = this.refills[place];
    if (refill === null) return null;
    const dueAt = now - (now % PERIOD);
    const { amount, bound } = refill;
    if (bound === null) return { amount, dueAt };
    const { refilledAt } = this.holds.counters(addressOf(place)).usage;
    const countedFrom = () => expect.unreachable();
    const carry = { units: amount * dueBetween(refilledAt, now), since: refilledAt, countedFrom };
    return { amount: bound, dueAt, carry };
  }

  take(step: StepOf<"charge" | "reserve">): void {
    const id = idOf(this.#next++);
    const hasSlots = step.costs.some(({ which }) => isConcurrent(which));
    // Slots without a hold are not tested: core holds slots whenever it takes them.
    const costs = step.costs.filter(({ which }) => step.type === "reserve" || !isConcurrent(which));
    const limits = costs.map(({ which, cost }): LimitCharge => {
      const limit = limitOf(which);
      const named = { name: nameOf(limit), window: windowOf(limit), owner: limit.owner };
      return { ...figures(limit, this.rate), ...named, cost, shadow: false };
    });
    const plan: ChargePlan = {
      ...{ workspaceId: "ws_1", revision: null, mode: "commit" },
      confirms: [
        { kind: "key", id: "key_1", version: 1 },
        { kind: "identity", id: "id_1", version: 1 },
      ],
      ...{ cost: step.cost, uses: step.uses, limits },
      ...(step.type === "reserve" && {
        hold: {
          keeps: "all" as const,
          ttl: step.ttl,
          slotTtl: hasSlots ? DURATION : null,
          most: [1_000, 1_000],
        },
      }),
    };
    const refill = step.uses === null ? null : this.due(step.uses);
    const result = this.holds.charge(plan, { now: this.now, refill, holdId: id });
    this.forgetExpired();
    if (result.kind !== "charged") return;
    const units = new Map(costs.map(({ which, cost }) => [which, cost]));
    const taken = { at: this.now, uses: step.uses, cost: step.cost, units, rate: this.rate };
    this.entries.push({ at: this.now, taken });
    if (step.type === "reserve") this.open.set(id, taken);
  }

  settle({ pick, percent }: StepOf<"settle">): void {
    const id = idOf(this.#next - 1 - pick);
    const taken = this.open.get(id);
    if (taken === undefined) return;
    const of = (units: number) => Math.floor((units * percent) / 100);
    const timed = [...taken.units].filter(([which]) => !isConcurrent(which));
    const limits = timed.map(([which, cost]) => ({ name: nameOf(limitOf(which)), cost: of(cost) }));
    const step = { kind: "end", id, uses: of(taken.cost), limits, rest: percent === 100 } as const;
    const result = this.holds.settle(step, this.now);
    this.open.delete(id);
    this.forgetExpired();
    if (result.kind === "expired") {
      this.release(taken);
      return;
    }
    expect(result).toMatchObject({ kind: "ended", isRepeat: false });
    taken.cost = of(taken.cost);
    for (const [which, units] of taken.units)
      taken.units.set(which, isConcurrent(which) ? 0 : of(units));
    // Repeating the step gets the same answer, and changes nothing.
    const before = JSON.stringify([this.holds.key.usage, this.holds.identity.usage]);
    expect(this.holds.settle(step, this.now)).toEqual({ ...result, isRepeat: true });
    expect(JSON.stringify([this.holds.key.usage, this.holds.identity.usage])).toBe(before);
  }

  release(taken: Taken): void {
    taken.cost = 0;
    for (const which of taken.units.keys()) taken.units.set(which, 0);
  }

  /** Forgets reservations whose holds have expired and are gone; slots separately, because they end earlier. */
  forgetExpired(): void {
    for (const [id, taken] of this.open) {
      const isSlotsOver = !this.holds.holds.has(`${id}.s`);
      for (const which of taken.units.keys())
        if (isSlotsOver && isConcurrent(which)) taken.units.set(which, 0);
      if (this.holds.holds.has(id)) continue;
      this.open.delete(id);
      this.release(taken);
    }
  }

  change(step: StepOf<"change">): void {
    const of = addressOf(step.place as 0 | 1);
    this.rate = step.rate;
    // As core does: it reads what it changes, and a read ends what has expired. Otherwise a decrement is refused although the uses are
    // back.
    this.holds.settle({ kind: "refresh", of, refill: null }, this.now);
    this.forgetExpired();
    const counters = this.holds.counters(of);
    const own = (owner: Owner) => owner === step.place || (owner === null && step.place === 0);
    const limit = LIMITS[step.reset];
    const dropWindows = limit !== undefined && own(limit.owner) ? [windowOf(limit)] : undefined;
    const keepWindows = step.keeps?.map((index) => windowOf(limitOf(index)));
    const { operation } = step;
    const change: CounterChange = {
      ...of,
      usage: {
        due: this.due(step.place as 0 | 1),
        operation,
        // As core does: setting uses restarts their refills.
        restartsAt: operation.kind === "set" ? this.now : null,
      },
      ...(dropWindows && { dropWindows }),
      ...(keepWindows && { keepWindows }),
    };
    const judged = judgeChange<PlainCounters>(
      { ...EMPTY_CHANGE, counters: [change] },
      {
        version: () => null,
        holder: () => undefined,
        counters: () => counters,
        usage: (each) => each.usage,
      },
    );
    if (judged.kind !== "committed") return;
    counters.usage = judged.moved.get(counters) ?? counters.usage;
    for (const name of [...counters.windows.keys()])
      if (dropWindows?.includes(name) || keepWindows?.includes(name) === false)
        counters.windows.delete(name);
    if (dropWindows) this.holds.windows.delete(dropWindows[0] as string);
    this.entries.push({ at: this.now, change: step });
  }

  /** Ends everything that has expired, and applies refills. */
  refresh(place: 0 | 1): void {
    const of = addressOf(place);
    this.holds.settle({ kind: "refresh", of, refill: this.due(place) }, this.now);
    this.forgetExpired();
  }

  do(step: Step): void {
    switch (step.type) {
      case "charge":
      case "reserve":
        this.take(step);
        break;
      case "settle":
        this.settle(step);
        break;
      case "change":
        this.change(step);
        break;
      case "refresh":
        this.refresh(step.place as 0 | 1);
        break;
      case "renew": {
        const id = idOf(this.#next - 1 - step.pick);
        if (this.open.has(id)) this.holds.settle({ kind: "renew", id, ttl: step.ttl }, this.now);
        this.forgetExpired();
        break;
      }
      default:
        step satisfies never;
    }
  }
}

/** Uses, computed from scratch as if each reservation had been charged with what it finally used. */
export function usesAsIf({ entries, granted, refills, now }: Run, place: 0 | 1): number | null {
  let left = granted[place];
  let refilledAt = START;
  const refill = refills[place];
  const pass = (until: number) => {
    for (let count = dueBetween(refilledAt, until); refill !== null && count > 0; count -= 1) {
      if (left === null) continue;
      const { amount, bound } = refill;
      left = Math.max(left, bound === null ? amount : Math.min(bound, left + amount));
    }
    refilledAt = until;
  };
  for (const entry of entries) {
    pass(entry.at);
    if ("taken" in entry) {
      if (entry.taken.uses === place && left !== null) left -= entry.taken.cost;
      continue;
    }
    const { operation, place: changed } = entry.change;
    if (changed !== place) continue;
    if (operation.kind === "set") left = operation.remaining;
    if (operation.kind === "increment" && left !== null) left += operation.by;
    if (operation.kind === "decrement" && left !== null) left -= operation.by;
  }
  pass(now);
  return left;
}

/** What was taken from a limit since it was last emptied, and when. */
function takenFrom({ entries }: Run, which: number) {
  const { owner } = limitOf(which);
  let taken: { at: number; units: number; rate: number }[] = [];
  for (const entry of entries) {
    if ("taken" in entry) {
      const units = entry.taken.units.get(which);
      if (units !== undefined) taken.push({ at: entry.at, units, rate: entry.taken.rate });
      continue;
    }
    const { place, reset, keeps } = entry.change;
    const isOwn = owner === place;
    const isReset = reset === which && (isOwn || (owner === null && place === 0));
    if (isReset || (isOwn && keeps?.includes(which) === false)) taken = [];
  }
  return taken;
}

/** Units left of a limit, computed from what was taken when. */
export function roomAsIf(run: Run, which: number): number {
  const { algorithm } = limitOf(which);
  const { now } = run;
  const group = Math.ceil(DURATION / 16);
  const sum = takenFrom(run, which)
    .filter(({ at }) => {
      if (algorithm === "concurrent") return true;
      if (algorithm === "fixed") return Math.floor(at / DURATION) === Math.floor(now / DURATION);
      // A group counts until its last ms is a span ago.
      return Math.floor(at / group) * group + group - 1 + DURATION > now;
    })
    .reduce((total, { units }) => total + units, 0);
  return ROOM - sum;
}

/** The content of a bucket, in units × duration, had only the used units been taken. */
function levelAsIf(run: Run, which: number): number {
  const full = ROOM * DURATION;
  let [level, at] = [full, START];
  for (const { at: next, units, rate } of takenFrom(run, which)) {
    level = Math.min(full, level + (next - at) * rate) - units * DURATION;
    at = next;
  }
  return Math.min(full, level + (run.now - at) * run.rate);
}

export function stateOf(run: Run, which: number) {
  const limit = limitOf(which);
  const { owner } = limit;
  const holder =
    owner === null ? run.holds.windows : [run.holds.key, run.holds.identity][owner]?.windows;
  return limitAt(holder?.get(windowOf(limit)) ?? null, figures(limit, run.rate), run.now);
}

/** Without `expect`, which takes longer than everything that it would compare. */
export function same(what: string, actual: unknown, expected: unknown): void {
  if (!Object.is(actual, expected)) throw new Error(`${what}: ${actual}, and not ${expected}`);
}

export function check(run: Run): void {
  for (const place of [0, 1] as const) {
    const { usage } = [run.holds.key, run.holds.identity][place] as PlainCounters;
    same(`uses ${place}`, usage.remaining, usesAsIf(run, place));
    same("at least 0", (usage.remaining ?? 0) >= 0, true);
    const { holds } = usage;
    same("open", holds?.open ?? 0, run.open.size);
    same("nothing is held", holds === undefined, run.holds.holds.size === 0);
    if (holds === undefined) continue;
    same("nextEnd", holds.nextEnd, Math.min(...run.holds.open.map((hold) => hold.expiresAt)));
    const mayComeBack = run.holds.open.filter(
      (hold) => hold.usesOf === place && (hold.numbers[place] ?? 0) >= holds.setBefore,
    );
    same(
      "held uses",
      holds.uses,
      mayComeBack.reduce((sum, hold) => sum + hold.uses, 0),
    );
  }
  for (const [which, limit] of LIMITS.entries()) {
    const state = stateOf(run, which);
    const name = nameOf(limit);
    same(`${name} is at least 0`, state.used >= 0, true);
    if (limit.algorithm === "token-bucket") {
      const level = ROOM * DURATION - state.used;
      same(`${name} is no fuller than ideal`, level <= levelAsIf(run, which), true);
    } else {
      same(name, roomOf(state, figures(limit, run.rate)), roomAsIf(run, which));
    }
  }
}
