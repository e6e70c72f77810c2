import { isCorruptRecord } from "../errors.js";
import type { Hold } from "../rules/hold.js";
import type { Clock, EpochMs } from "../time.js";
import type { RecordAddress } from "./change.js";
import type { ChargeMoment, ChargePlan, ChargeResult } from "./charge.js";
import { countedRefill } from "./counters.js";
import type { KeyStore, LoadedRecord, StoredRecordState } from "./key-store.js";

/** What became of a plan, once nothing beside its counters had to be settled first. */
export type SettledCharge = Exclude<ChargeResult, { kind: "unsettled" }>;

/** A store that settles what has to be settled before it answers. */
export interface SettledStore extends KeyStore {
  charge(plan: ChargePlan, moment: ChargeMoment): SettledCharge | Promise<SettledCharge>;
}

/** Is told of holds that ended by themselves, when that is noticed. */
export type ExpiryListener = (workspaceId: string, expired: readonly Hold[], at: EpochMs) => void;

/**
 * A store in which no hold is open whose time has passed, as far as anybody sees: whoever meets one ends it first, and looks again. So
 * nothing has to run for it. Where a refill falls due beside open holds, it is worked out first as well.
 *
 * @param store - A plain object, of which the methods that this says nothing of are taken.
 */
export function createSettledStore(
  store: KeyStore,
  now: Clock,
  onExpired: ExpiryListener,
): SettledStore {
  async function refresh(
    workspaceId: string,
    of: RecordAddress,
    at: EpochMs,
    due: ChargeMoment["refill"],
  ) {
    let refill = due;
    if (due?.carry?.since === null) {
      const { found } = await store.read(workspaceId, [of]);
      const usage = found[0]?.usage ?? null;
      refill = usage && countedRefill(usage, due);
    }
    const step = { kind: "refresh", of, refill } as const;
    for (let hasMore = true; hasMore; ) {
      const result = await store.settle(workspaceId, step, { now: at, revision: null });
      if (result.kind !== "refreshed") return;
      if (result.expired.length > 0) onExpired(workspaceId, result.expired, at);
      ({ hasMore } = result);
    }
  }

  async function chargeSettled(
    plan: ChargePlan,
    moment: ChargeMoment,
    first: ChargeResult,
  ): Promise<SettledCharge> {
    let result = first;
    while (result.kind === "unsettled") {
      const { record } = result;
      const of = plan.confirms[record] as RecordAddress;
      const refill = record === plan.uses ? moment.refill : null;
      await refresh(plan.workspaceId, of, moment.now, refill);
      result = await store.charge(plan, moment);
    }
    return result;
  }

  /** Records whose counters have a hold beside them that is over. */
  function unsettled(
    found: readonly (LoadedRecord | null)[],
    at: EpochMs,
  ): readonly RecordAddress[] {
    const addresses: RecordAddress[] = [];
    const look = (state: StoredRecordState | null | undefined) => {
      const holds = state?.usage?.holds;
      if (state && holds !== undefined && holds.nextEnd <= at) addresses.push(state.record);
    };
    for (const each of found) {
      look(each);
      look(each?.linked);
    }
    return addresses;
  }

  /** Reads, and reads again what had to be settled. Without `async`: every read of a key goes through here. */
  function settled<Result extends { readonly found: readonly (LoadedRecord | null)[] }>(
    workspaceId: string,
    read: () => Promise<Result>,
  ): Promise<Result> {
    return read().then(async (result) => {
      const at = now();
      const addresses = unsettled(result.found, at);
      if (addresses.length === 0) return result;
      try {
        for (const { kind, id } of addresses) await refresh(workspaceId, { kind, id }, at, null);
      } catch (error) {
        // It is shown as it is, so that its key can be revoked: a charge is refused.
        if (isCorruptRecord(error)) return result;
        throw error;
      }
      return settled(workspaceId, read);
    });
  }

  return {
    ...store,
    read: (workspaceId, wants) => settled(workspaceId, () => store.read(workspaceId, wants)),
    page: (workspaceId, want) => settled(workspaceId, () => store.page(workspaceId, want)),
    charge(plan, moment) {
      const result = store.charge(plan, moment);
      if ("then" in result)
        return result.then((known) =>
          known.kind === "unsettled" ? chargeSettled(plan, moment, known) : known,
        );
      return result.kind === "unsettled" ? chargeSettled(plan, moment, result) : result;
    },
  };
}
