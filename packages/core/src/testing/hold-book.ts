import { plainCharge, plainHoldBook, type WorkspaceBook } from "../adapters/plain-store.js";
import type { Hold } from "../rules/hold.js";
import type { LimitState } from "../rules/limit-state.js";
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
    const result = applyHoldStep(this.#book(), step, now);
    const hasMore = result.kind === "refreshed" && result.hasMore;
    return hasMore ? this.settle(step, now) : result;
  }

  /** The memory of a hold that has ended. */
  ended(id: string): RememberedEnd | null {
    return this.#ends.get(id) ?? null;
  }

  /** All open holds. */
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
