import {
  applyCharge,
  type ChargePlan,
  type ChargeResult,
  type KeyStore,
  type LoadedKey,
  NO_CHANGES,
} from "@latchkey/core";
import { elsewhere, type Mutant, withMethods } from "./mutant.js";

function setUses(store: KeyStore, loaded: LoadedKey, remaining: number | null, settledAt: number) {
  const usage = { due: null, operation: { kind: "set", remaining }, settledAt } as const;
  return store.updateKey(
    loaded.key.workspaceId,
    loaded.key.id,
    loaded.key.version,
    { usage },
    NO_CHANGES,
  );
}

async function chargeByReadingAndWriting(store: KeyStore, plan: ChargePlan): Promise<ChargeResult> {
  const loaded = await store.getKey(plan.workspaceId, plan.keyId);
  if (loaded === null || plan.limits.length > 0) return store.charge(plan);
  const { result, next } = applyCharge(
    {
      keyVersion: loaded.key.version,
      identityVersion: loaded.identity?.version ?? null,
      epoch: loaded.workspace.epoch,
      usage: loaded.usage,
      windows: [],
    },
    plan,
  );
  await elsewhere();
  if (next !== null) await setUses(store, loaded, next.usage.remaining, next.usage.refilledAt);
  return result;
}

/** Mistakes in counting. */
export const CHARGING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "reads the uses, decides, and writes them a moment later",
    plant: (store) =>
      withMethods(store, { charge: (plan) => chargeByReadingAndWriting(store, plan) }),
    noticedBy: [
      "of many parallel uses exactly as many are taken as are left",
      "parallel uses of different costs follow one after the other in some order",
      "a refill is settled once, however many charges find it at once",
      "uses added while others are taken all count",
    ],
    isNoticedByModel: false,
  },
  {
    mistake: "takes the uses although a limit refused",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const result = await store.charge(plan);
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          const { remaining = null } = loaded?.usage ?? {};
          if (result.kind === "rate-limited" && loaded !== null && remaining !== null) {
            await setUses(store, loaded, Math.max(0, remaining - plan.cost), 0);
          }
          return result;
        },
      }),
    noticedBy: [
      "a limit that refuses leaves the uses and every other limit untouched",
      "parallel charges over uses and several limits take all of them or none",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "takes from the first limit although the second refused",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const result = await store.charge(plan);
          const [first] = plan.limits;
          if (result.kind === "rate-limited" && first !== undefined && plan.limits.length > 1) {
            await store.charge({ ...plan, cost: 0, limits: [first] });
          }
          return result;
        },
      }),
    noticedBy: ["a limit that refuses leaves the uses and every other limit untouched"],
    isNoticedByModel: true,
  },
  {
    mistake: "applies a refill again that was applied before",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          const { remaining = null } = loaded?.usage ?? {};
          if (
            loaded !== null &&
            plan.refill !== null &&
            remaining !== null &&
            plan.mode === "take"
          ) {
            await setUses(store, loaded, Math.max(remaining, plan.refill.amount), 0);
          }
          return store.charge(plan);
        },
      }),
    noticedBy: [
      "a refill is settled once, however many charges find it at once",
      "a refill that was settled before is not owed again",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "gives what is left when more is asked",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const { usage } = (await store.getKey(plan.workspaceId, plan.keyId)) ?? {};
          return store.charge({
            ...plan,
            cost: Math.min(plan.cost, usage?.remaining ?? plan.cost),
          });
        },
      }),
    noticedBy: ["a cost above what is left is refused and takes nothing"],
    isNoticedByModel: true,
  },
  {
    mistake: "charges although the key, the identity or the workspace changed",
    plant: (store) =>
      withMethods(store, {
        async charge(plan) {
          const loaded = await store.getKey(plan.workspaceId, plan.keyId);
          if (loaded === null) return store.charge(plan);
          const expects = {
            keyVersion: loaded.key.version,
            identityVersion: loaded.identity?.version ?? null,
            epoch: loaded.workspace.epoch,
          };
          return store.charge({ ...plan, expects });
        },
      }),
    noticedBy: [
      "a charge on another version of the key, the identity or the workspace takes nothing",
      "a key switched off is seen at once: no charge on what was read before goes through",
      "a disabled workspace is seen at once: no charge on what was read before goes through",
      "no charge that starts after a key was switched off goes through, whoever else is charging",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "charges when it was asked to look",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, mode: "take" }) }),
    noticedBy: ["a look answers as a charge would and writes nothing"],
    isNoticedByModel: true,
  },
  {
    mistake: "opens a window a millisecond late",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, now: plan.now - 1 }) }),
    noticedBy: ["a window opens at the exact edge and not a millisecond before"],
    isNoticedByModel: true,
  },
  {
    mistake: "forgets requests at once",
    plant: (store) =>
      withMethods(store, { charge: (plan) => store.charge({ ...plan, request: undefined }) }),
    noticedBy: [
      "a repeated request gets the first answer and takes nothing again",
      "of parallel repeats one takes, and all get the same answer",
      "a request id that was used for another question is a conflict and takes nothing",
    ],
    isNoticedByModel: true,
  },
  {
    mistake: "remembers requests beyond the end of the key",
    plant: (store) => {
      const remembered = new Map<string, ChargeResult>();
      return withMethods(store, {
        async charge(plan) {
          const name =
            plan.request && `${plan.keyId} ${plan.request.id} ${plan.request.fingerprint}`;
          const known = name === undefined ? undefined : remembered.get(name);
          const result = known ?? (await store.charge(plan));
          if (name !== undefined && result.kind === "charged") remembered.set(name, result);
          return result;
        },
      });
    },
    noticedBy: [
      "what is remembered does not outlive a change of the key",
      "a request is remembered up to its instant and not at it",
    ],
    isNoticedByModel: false,
  },
];
