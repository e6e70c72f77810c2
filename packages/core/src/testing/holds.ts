import fc from "fast-check";
import { plainCharge, plainHoldBook, type WorkspaceBook } from "../adapters/plain-store.js";
import type { Hold } from "../rules/hold.js";
import type { LimitAlgorithm, LimitFigures, LimitState } from "../rules/limit-state.js";
import type { RecordAddress } from "../store/change.js";
import type { ChargeMoment, ChargePlan } from "../store/charge.js";
import type { Usage } from "../store/counters.js";
import {
  applyHoldStep,
  type FoundHold,
  type HoldResult,
  type HoldStep,
  type RememberedEnd,
} from "../store/settle.js";
import type { SettledCharge } from "../store/settled-store.js";
import type { EpochMs } from "../time.js";

/** The distance between refills, and the instant of the first. */
export const PERIOD = 50;
export const START = 1_000;
export const DURATION = 40;

const OWNERS = [0, 1, null] as const;
export type Owner = (typeof OWNERS)[number];

/** One limit of each algorithm for each owner. */
export const LIMITS = OWNERS.flatMap((owner) =>
  (["fixed", "sliding", "token-bucket", "concurrent"] as const).map((algorithm) => ({
    owner,
    algorithm,
  })),
);
export type Which = (typeof LIMITS)[number];
export const limitOf = (which: number) => LIMITS[which] as Which;
export const isConcurrent = (which: number) => limitOf(which).algorithm === "concurrent";

const MARKS: Record<LimitAlgorithm, string> = {
  fixed: "",
  sliding: "s",
  "token-bucket": "t",
  concurrent: "c",
};
export const nameOf = ({ owner, algorithm }: Which) => `${owner ?? "none"}-${algorithm}`;
export const windowOf = (which: Which) => `${MARKS[which.algorithm]}${DURATION}:${nameOf(which)}`;
export const ROOM = 60;
/** Units that flow into a bucket in `DURATION`: the first value, and those that it is changed to. */
export const RATES = [17, 1, 300] as const;
export const figures = ({ algorithm }: Which, rate: number): LimitFigures => ({
  algorithm,
  limit: algorithm === "token-bucket" ? rate : ROOM,
  duration: DURATION,
  burst: ROOM,
});

function weighted<Fields>(
  weight: number,
  fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> },
) {
  return { weight, arbitrary: fc.record(fields) };
}

/** Steps that take from some of the limits, and from the uses of some of the records. */
function stepsOver(whiches: readonly number[], places: readonly (0 | 1 | null)[]) {
  const costs = fc.uniqueArray(
    fc.record({ which: fc.constantFrom(...whiches, -1), cost: fc.integer({ min: 1, max: 9 }) }),
    { selector: ({ which }) => which, maxLength: 3 },
  );
  const taking = {
    uses: fc.constantFrom(...places),
    cost: fc.nat({ max: 12 }),
    costs: costs.map((all) => all.filter(({ which }) => which >= 0)),
  };
  const place = fc.constantFrom(...places.filter((each) => each !== null));
  const which = fc.constantFrom(...whiches, -1);
  const operation = fc.oneof(
    weighted(3, { kind: fc.constant("keep" as const) }),
    weighted(1, {
      kind: fc.constant("set" as const),
      remaining: fc.option(fc.nat({ max: 90 }), { freq: 4 }),
    }),
    weighted(1, {
      kind: fc.constantFrom("increment" as const, "decrement" as const),
      by: fc.nat({ max: 9 }),
    }),
  );
  const step = fc.oneof(
    weighted(3, { type: fc.constant("charge" as const), ...taking }),
    weighted(4, {
      type: fc.constant("reserve" as const),
      ...taking,
      ttl: fc.constantFrom(5, 30, 200, 1_000),
    }),
    weighted(4, {
      type: fc.constant("settle" as const),
      /** Which hold, the latest first, and how many percent of each thing that it holds were used. */
      pick: fc.nat({ max: 6 }),
      percent: fc.constantFrom(0, 0, 10, 50, 90, 100),
    }),
    weighted(1, {
      type: fc.constant("renew" as const),
      pick: fc.nat({ max: 6 }),
      ttl: fc.option(fc.constantFrom(10, 300)),
    }),
    weighted(2, {
      type: fc.constant("change" as const),
      place,
      operation,
      rate: fc.constantFrom(...RATES),
      reset: which,
      keeps: fc.oneof(
        { weight: 4, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.subarray([...whiches]) },
      ),
    }),
    weighted(1, { type: fc.constant("refresh" as const), place }),
  );
  const move = fc.oneof(fc.nat({ max: 8 }), fc.constantFrom(0, 25, 50, 120));
  return fc.array(fc.tuple(move, step), { maxLength: 40, size: "max" });
}

type Steps = ReturnType<typeof stepsOver> extends fc.Arbitrary<infer Value> ? Value : never;
export type Step = Steps[number][1];
export type StepOf<Type extends Step["type"]> = Extract<Step, { readonly type: Type }>;

const EVERY = LIMITS.map((_, index) => index);

/** Few counters, so that a sequence hits them again and again: uses, limits of a key, and everything. */
export const steps = fc.oneof(
  stepsOver([], [0]),
  stepsOver([0, 1, 2, 3], [0]),
  stepsOver([2], [0]),
  stepsOver([4, 7, 8, 10], [1, null]),
  stepsOver(EVERY, [0, 1, null]),
);

/** How uses are restored: to an amount, or by an amount up to a bound. */
export type Refilling = { readonly amount: number; readonly bound: number | null } | null;
export const refilling = fc.option(
  fc.record({
    amount: fc.integer({ min: 1, max: 60 }),
    bound: fc.option(fc.integer({ min: 1, max: 90 })),
  }),
  { freq: 5 },
);

/** Instants at which refills fell due in (after, until]. */
export function dueBetween(after: number, until: number): number {
  return Math.floor(until / PERIOD) - Math.floor(after / PERIOD);
}

/** Counters of one record. */
export interface PlainCounters {
  usage: Usage;
  readonly windows: Map<string, LimitState>;
}

type Found = FoundHold<PlainCounters>;

/** A key, an identity and their holds, as simply as possible: nothing is ordered, and everything is searched. */
export class PlainHolds {
  readonly key: PlainCounters;
  readonly identity: PlainCounters;
  readonly windows = new Map<string, LimitState>();
  readonly holds = new Map<string, Found>();
  readonly #ends = new Map<string, RememberedEnd>();

  constructor(ofKey: Usage, ofIdentity: Usage) {
    this.key = { usage: ofKey, windows: new Map() };
    this.identity = { usage: ofIdentity, windows: new Map() };
  }

  counters({ kind }: Pick<RecordAddress, "kind">): PlainCounters {
    return kind === "key" ? this.key : this.identity;
  }

  /** Charges a plan of the key, and of the identity if it names that, whatever it confirms. Settles first if necessary. */
  charge(plan: ChargePlan, moment: ChargeMoment): SettledCharge {
    const confirms = plan.confirms.map((one) => ({ ...one, version: "exists" as const }));
    for (;;) {
      const result = plainCharge(this.#book(), { ...plan, revision: null, confirms }, moment);
      if (result.kind !== "unsettled") return result as SettledCharge;
      const refill = result.record === plan.uses ? moment.refill : null;
      const of = plan.confirms[result.record] as RecordAddress;
      this.settle({ kind: "refresh", of, refill }, moment.now);
    }
  }

  /** Carries out a step; a refresh until nothing is left to do. */
  settle(step: HoldStep, now: EpochMs): HoldResult {
    const result = this.settleOnce(step, now);
    const hasMore = result.kind === "refreshed" && result.hasMore;
    return hasMore ? this.settle(step, now) : result;
  }

  settleOnce(step: HoldStep, now: EpochMs): HoldResult {
    return applyHoldStep(this.#book(), step, now);
  }

  /** The memory of a hold that has ended. */
  ended(id: string): RememberedEnd | null {
    return this.#ends.get(id) ?? null;
  }

  get open(): readonly Hold[] {
    return [...this.holds.values()].map(({ hold }) => hold);
  }

  #book(): WorkspaceBook<PlainCounters> {
    const { holds } = this;
    const holder = (counters: PlainCounters | null) => counters?.windows ?? this.windows;
    return {
      ...plainHoldBook<PlainCounters>({
        all: () => [...holds.values()],
        set: (found) => holds.set(found.hold.id, found),
        delete: (id) => holds.delete(id),
        counters: (of) => this.counters(of),
      }),
      revision: () => 0,
      version: () => 1,
      request: () => null,
      setRequest: () => undefined,
      addStatistics: () => undefined,
      remembered: (id) => this.ended(id),
      remember: (id, end) => this.#ends.set(id, end),
      usage: (counters) => counters.usage,
      setUsage(counters, usage) {
        counters.usage = usage;
      },
      window: (counters, name) => holder(counters).get(name) ?? null,
      setWindow: (counters, name, state) => holder(counters).set(name, state),
    };
  }
}
