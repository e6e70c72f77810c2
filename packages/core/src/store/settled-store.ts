import { isCorruptRecord, type LatchkeyError, unavailable } from "../errors.js";
import type { Hold } from "../rules/hold.js";
import type { Clock, EpochMs } from "../time.js";
import type { RecordAddress } from "./change.js";
import type { ChargeMoment, ChargePlan, ChargeResult } from "./charge.js";
import { countedRefill } from "./counters.js";
import type { KeyStore, LoadedRecord, StoredRecordState } from "./key-store.js";
import type { HoldMoment, HoldResult, HoldStep } from "./settle.js";

/** The result of a plan, once nothing had to be settled before it. */
export type SettledCharge = Exclude<ChargeResult, { kind: "unsettled" }>;

/** A store that settles expired holds and due refills itself, so that no charge is `unsettled`. */
export interface SettledStore extends KeyStore {
  charge(plan: ChargePlan, moment: ChargeMoment): SettledCharge | Promise<SettledCharge>;
}

/** Called with expired holds when their end is noticed. */
export type ExpiryListener = (workspaceId: string, expired: readonly Hold[], at: EpochMs) => void;

/** How often a call settles before it gives up: then an expired hold does not end, or others expire all the time. */
const MAX_ROUNDS = 100;

function keptEnding(): LatchkeyError {
  return unavailable("holds kept ending; nothing was taken, try again");
}

type RefreshStep = Extract<HoldStep, { kind: "refresh" }>;
type Refreshed = Extract<HoldResult, { kind: "refreshed" }>;

/**
 * A store that never shows expired holds as open: a call that meets one ends it first, and reads again, so no job is needed. A refill that
 * is due while holds are open is applied first as well.
 *
 * @param store - A plain object; its other methods are used unchanged.
 */
export function createSettledStore(
  store: KeyStore,
  now: Clock,
  onExpired: ExpiryListener,
): SettledStore {
  async function refresh(step: RefreshStep, workspaceId: string, at: EpochMs): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const result = await store.settle(workspaceId, step, { now: at, revision: null });
      if (result.kind !== "refreshed") return;
      if (result.expired.length > 0) onExpired(workspaceId, result.expired, at);
      ({ hasMore } = result);
    }
  }

  /** Ends a hold, after the expired ones of the same counters. */
  async function endSettled(
    workspaceId: string,
    step: HoldStep,
    moment: HoldMoment,
    first: Refreshed,
  ): Promise<HoldResult> {
    let result: HoldResult = first;
    // However many have expired, each round leaves fewer.
    for (let idle = 0; result.kind === "refreshed"; ) {
      if (result.expired.length > 0) onExpired(workspaceId, result.expired, moment.now);
      else idle += 1;
      if (idle > MAX_ROUNDS) throw keptEnding();
      result = await store.settle(workspaceId, step, moment);
    }
    return result;
  }

  async function chargeSettled(
    plan: ChargePlan,
    moment: ChargeMoment,
    unsettled: Extract<ChargeResult, { kind: "unsettled" }>,
  ): Promise<SettledCharge> {
    const { workspaceId, confirms, uses } = plan;
    let result: ChargeResult = unsettled;
    for (let round = 0; result.kind === "unsettled"; round += 1) {
      if (round === MAX_ROUNDS) throw keptEnding();
      const { record } = result;
      const { kind, id } = confirms[record] as RecordAddress;
      let refill = record === uses ? moment.refill : null;
      if (refill?.carry?.since === null) {
        const { found } = await store.read(workspaceId, [{ kind, id }]);
        const usage = found[0]?.usage ?? null;
        refill = usage && countedRefill(usage, refill);
      }
      await refresh({ kind: "refresh", of: { kind, id }, refill }, workspaceId, moment.now);
      result = await store.charge(plan, moment);
    }
    return result;
  }

  /** Records whose counters have an expired hold. */
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

  /** Reads, and reads again if something had to be settled. No `async`: every read of a key goes through here. */
  function settled<Result extends { readonly found: readonly (LoadedRecord | null)[] }>(
    workspaceId: string,
    read: () => Promise<Result>,
    round: number = 0,
  ): Promise<Result> {
    return read().then(async (result) => {
      const at = now();
      const addresses = unsettled(result.found, at);
      if (addresses.length === 0) return result;
      if (round === MAX_ROUNDS) throw keptEnding();
      try {
        for (const { kind, id } of addresses)
          await refresh({ kind: "refresh", of: { kind, id }, refill: null }, workspaceId, at);
      } catch (error) {
        // The damaged record is returned as it is, so that its key can be revoked; a charge of it is refused.
        if (isCorruptRecord(error)) return result;
        throw error;
      }
      return settled(workspaceId, read, round + 1);
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
    settle(workspaceId, step, moment) {
      const settled = store.settle(workspaceId, step, moment);
      if (step.kind !== "end") return settled;
      const endAlone = (error: unknown) => {
        // The damaged hold may be another one. The work of this one was done, so it is ended alone.
        if (!isCorruptRecord(error)) throw error;
        return store.settle(workspaceId, { ...step, isAlone: true }, moment);
      };
      // One step is enough for most ends: they meet no expired hold.
      return settled.then(
        (result) =>
          result.kind === "refreshed"
            ? endSettled(workspaceId, step, moment, result).catch(endAlone)
            : result,
        endAlone,
      );
    },
  };
}
