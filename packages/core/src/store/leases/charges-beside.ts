import type { ChargeMoment, ChargePlan } from "../charge.js";
import type { SettledCharge, SettledStore } from "../settled-store.js";
import { endStepOf, type HeldLeases, type Lease } from "./held-leases.js";

/** A charge, synchronous if the store answers synchronously: one more promise would cost as much as the charge. */
export type Charging = SettledCharge | Promise<SettledCharge>;

/** Charges in the store while this process holds leases: no charge is refused because of units that this process holds for the same key. */
export class ChargesBeside {
  readonly #store: SettledStore;
  readonly #held: HeldLeases;

  constructor(store: SettledStore, held: HeldLeases) {
    this.#store = store;
    this.#held = held;
  }

  /** Charges a plan that the store decides. */
  charge(plan: ChargePlan, moment: ChargeMoment): Charging {
    if (plan.mode === "peek") return this.#store.charge(plan, moment);
    const own = moment.request === undefined ? [] : this.#held.of(plan);
    if (own.length > 0) return this.#chargeAfterReturn(plan, moment, own);
    const result = this.#store.charge(plan, moment);
    if (!("then" in result)) return this.unlessRefused(plan, moment, result);
    return result.then((known) => this.unlessRefused(plan, moment, known));
  }

  /**
   * Charges a plan, and reports in the same step how much of a closed lease was used. If the answer does not show that the report arrived,
   * another step reports it again.
   */
  chargeAndTell(plan: ChargePlan, moment: ChargeMoment, ended: Lease | null): Charging {
    if (ended === null) return this.#store.charge(plan, moment);
    let told = Promise.resolve(false);
    try {
      const result = this.#store.charge(plan, { ...moment, ends: endStepOf(ended) });
      told = Promise.resolve(result).then(
        ({ kind }) => kind !== "stale",
        () => false,
      );
      return result;
    } finally {
      void this.#held.giveBack(ended, told);
    }
  }

  /** The result of a charge. If it is refused while there are leases of the same key, these go back, and the store is asked once more. */
  unlessRefused(plan: ChargePlan, moment: ChargeMoment, result: SettledCharge): Charging {
    const isRefused = "limits" in result && result.kind !== "charged";
    const own = isRefused ? this.#held.of(plan) : [];
    if (own.length === 0) return result;
    return this.#giveBack(own).then(() => this.#store.charge(plan, moment));
  }

  /** A refusal is remembered with its request: leases of the same key go back before the charge, not after it. */
  async #chargeAfterReturn(
    plan: ChargePlan,
    moment: ChargeMoment,
    own: readonly Lease[],
  ): Promise<SettledCharge> {
    const [first] = own;
    if (own.length === 1 && first?.returning === null)
      return this.chargeAndTell(plan, moment, first);
    const { now: at, refill } = moment;
    const look = { ...plan, mode: "peek", hold: undefined, memo: undefined } as const;
    const { kind } = await this.#store.charge(look, { now: at, refill });
    if (kind === "rate-limited" || kind === "usage-exceeded") await this.#giveBack(own);
    return this.#store.charge(plan, moment);
  }

  /** Tries once to give leases back. */
  #giveBack(own: readonly Lease[]): Promise<unknown> {
    return Promise.all(own.map((lease) => this.#held.giveBack(lease).tried));
  }
}
