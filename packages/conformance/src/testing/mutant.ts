import type {
  Change,
  ChargeMoment,
  ChargePlan,
  ChargeResult,
  KeyStore,
  RecordAddress,
} from "@latchkey/core";
import { aChange } from "../fixtures/records.js";

/** The methods of a store that a mistake replaces. */
export type Methods = Partial<KeyStore>;

/** A mistake that stores have made, or could make, planted into a correct store. */
export interface Mutant {
  /** What the store does; completes "a store that …". */
  readonly mistake: string;
  readonly plant: (store: KeyStore) => Methods;
  /** The sections of the suite, each of which must notice the mistake. */
  readonly noticedBy: readonly string[];
  /** Whether random sequences of calls, one at a time, must notice too. Default: true. */
  readonly isNoticedByModel?: boolean;
  /** A seed of random sequences that notice it soon, if the usual ones take long. */
  readonly seed?: number;
}

/** The methods of a store whose changes are altered before they are carried out. */
export function withChanges(
  store: KeyStore,
  alter: (change: Change, workspaceId: string) => Change | Promise<Change>,
): Methods {
  return {
    commit: async (workspaceId, change) =>
      store.commit(workspaceId, await alter(change, workspaceId)),
  };
}

/** The methods of a store whose plans are altered before they are carried out. */
export function withPlans(
  store: KeyStore,
  alter: (plan: ChargePlan, moment: ChargeMoment) => ChargePlan,
): Methods {
  return {
    charge: (plan, moment) => store.charge({ ...alter(plan, moment), memo: undefined }, moment),
  };
}

/** The methods of a store whose charges happen at another moment than the given one. */
export function withMoments(
  store: KeyStore,
  alter: (moment: ChargeMoment, plan: ChargePlan) => ChargeMoment,
): Methods {
  return {
    charge: (plan, moment) => store.charge(plan, alter(moment, plan)),
  };
}

/** The methods of a store whose answers to charges are altered. */
export function withResults(
  store: KeyStore,
  alter: (
    result: ChargeResult,
    plan: ChargePlan,
    moment: ChargeMoment,
  ) => ChargeResult | Promise<ChargeResult>,
): Methods {
  return {
    charge: async (plan, moment) => alter(await store.charge(plan, moment), plan, moment),
  };
}

/** Lets every other call of this turn of the event loop happen first. */
export const elsewhere = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A change that does nothing. */
export const NOTHING: Change = aChange();

/** The records that have the names that a change claims. */
export async function holdersOf(store: KeyStore, workspaceId: string, { claims }: Change) {
  const { found } = await store.read(
    workspaceId,
    claims.map(({ kind, index, value }) => ({ kind, index, value })),
  );
  return found.map((loaded) => loaded?.record.id ?? null);
}

/** Sets the uses of a record. */
export async function setUses(
  store: KeyStore,
  workspaceId: string,
  { kind, id }: RecordAddress,
  remaining: number,
): Promise<void> {
  const usage = { due: null, operation: { kind: "set", remaining } as const, restartsAt: null };
  await store.commit(workspaceId, { ...NOTHING, counters: [{ kind, id, usage }] });
}
