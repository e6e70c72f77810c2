import type { Expectation, KeyStore, RecordAddress } from "@latchkey/core";
import {
  elsewhere,
  type Methods,
  type Mutant,
  NOTHING,
  setUses,
  withMoments,
  withPlans,
  withResults,
} from "./mutant.js";

function withConfirms(
  store: KeyStore,
  alter: (confirms: readonly Expectation[]) => readonly Expectation[],
): Methods {
  return withPlans(store, (plan) => ({ ...plan, confirms: alter(plan.confirms) }));
}

const lenient = (one: Expectation): Expectation => ({
  ...one,
  version: one.version === null ? null : "exists",
});

export const CHARGE_MUTANTS: readonly Mutant[] = [
  {
    mistake: "does not confirm the revision",
    noticedBy: ["charge: confirmation", "workspaces"],
    plant: (store) => withPlans(store, (plan) => ({ ...plan, revision: null })),
  },
  {
    mistake: "confirms only that a version exists",
    noticedBy: ["charge: confirmation", "charge: replayed requests"],
    plant: (store) => withConfirms(store, (confirms) => confirms.map(lenient)),
  },
  {
    mistake: "confirms the first record only",
    noticedBy: ["charge: confirmation"],
    seed: 4,
    plant: (store) => ({
      charge: async (plan, moment) => {
        const result = await store.charge(plan, moment);
        if (result.kind !== "stale" || result.moved === "revision" || result.moved === 0)
          return result;
        const confirms = plan.confirms.map((one, index) => (index === 0 ? one : lenient(one)));
        return store.charge({ ...plan, confirms }, moment);
      },
    }),
  },
  {
    mistake: "says that the first record has moved, whichever has",
    noticedBy: ["charge: confirmation"],
    plant: (store) =>
      withResults(store, (result) =>
        result.kind === "stale" && result.moved !== "revision" ? { ...result, moved: 0 } : result,
      ),
  },
  {
    mistake: "confirms records before the revision",
    noticedBy: ["charge: confirmation"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const looked = await store.charge({ ...plan, revision: null, mode: "peek" }, moment);
        return looked.kind === "stale" ? looked : store.charge(plan, moment);
      },
    }),
  },
  {
    mistake: "takes before it confirms",
    noticedBy: ["charge: confirmation"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const looked = await store.charge({ ...plan, mode: "peek" }, moment);
        if (looked.kind !== "stale") return store.charge(plan, moment);
        await store.charge(
          { ...plan, revision: null, confirms: plan.confirms.map(lenient) },
          moment,
        );
        return looked;
      },
    }),
  },
  {
    mistake: "confirms, and then takes",
    noticedBy: ["charge: uses and refills", "charge: limits"],
    isNoticedByModel: false,
    plant: (store) => ({
      charge: async (plan, moment) => {
        const looked = await store.charge({ ...plan, mode: "peek" }, moment);
        await elsewhere();
        if (looked.kind !== "charged" || plan.mode === "peek") return looked;
        const limits = plan.limits.map((one) => ({ ...one, limit: Number.MAX_SAFE_INTEGER }));
        const taken = await store.charge({ ...plan, limits }, moment);
        return taken.kind === "usage-exceeded" ? looked : { ...looked };
      },
    }),
  },
  {
    mistake: "trusts the handle that comes with a record",
    noticedBy: ["charge: confirmation", "workspaces"],
    isNoticedByModel: false,
    plant: (store) => {
      // Rows never move, and a deleted row still confirms: as if another record had taken the freed row.
      const rows = new WeakMap<object, RecordAddress & { readonly workspaceId: string }>();
      return {
        read: async (workspaceId, wants) => {
          const { revision, found } = await store.read(workspaceId, wants);
          return {
            revision,
            found: found.map((loaded) => {
              if (loaded === null) return null;
              const { kind, id } = loaded.record;
              const handle = {};
              rows.set(handle, { workspaceId, kind, id });
              return { ...loaded, handle };
            }),
          };
        },
        charge: (plan, moment) => {
          const rowOf = ({ handle }: Expectation) =>
            typeof handle === "object" && handle !== null ? rows.get(handle) : undefined;
          const confirms = plan.confirms.map((one) => ({ ...one, ...rowOf(one) }));
          const [first] = plan.confirms;
          const { workspaceId } = (first && rowOf(first)) ?? plan;
          return store.charge({ ...plan, workspaceId, confirms }, moment);
        },
      };
    },
  },
  {
    mistake: "takes a plan for the one that it was copied from",
    noticedBy: ["charge: uses and refills", "workspaces"],
    isNoticedByModel: false,
    plant: (store) => ({
      charge: (plan, moment) => {
        plan.memo ??= { ...plan };
        return store.charge({ ...(plan.memo as typeof plan), memo: undefined }, moment);
      },
    }),
  },
  {
    mistake: "raises the version of a record that it charges",
    noticedBy: ["charge: uses and refills"],
    plant: (store) =>
      withResults(store, async (result, { workspaceId, confirms: [first], mode }) => {
        if (result.kind !== "charged" || first === undefined || mode === "peek") return result;
        const record = (await store.read(workspaceId, [first])).found[0]?.record;
        if (record === undefined) return result;
        const puts = [{ record: { ...record, version: record.version + 1 } }];
        await store.commit(workspaceId, { ...NOTHING, puts });
        return result;
      }),
  },
  {
    mistake: "takes units and uses in two steps",
    noticedBy: ["charge: limits"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const looked = await store.charge({ ...plan, mode: "peek" }, moment);
        if (looked.kind !== "usage-exceeded" || plan.mode === "peek")
          return store.charge(plan, moment);
        await store.charge({ ...plan, uses: null }, { ...moment, request: undefined });
        return looked;
      },
    }),
  },
  {
    mistake: "takes from one limit after another",
    noticedBy: ["charge: limits"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const looked = await store.charge({ ...plan, mode: "peek" }, moment);
        if (looked.kind !== "rate-limited" || plan.mode === "peek")
          return store.charge(plan, moment);
        for (const limit of plan.limits)
          await store.charge(
            { ...plan, uses: null, limits: [limit] },
            { ...moment, request: undefined },
          );
        return looked;
      },
    }),
  },
  {
    mistake: "refuses for want of uses before it looks at limits",
    noticedBy: ["charge: limits"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        if (plan.uses === null || moment.request) return store.charge(plan, moment);
        const uses = await store.charge({ ...plan, limits: [], mode: "peek" }, moment);
        const result = await store.charge(plan, moment);
        return uses.kind === "usage-exceeded" && result.kind === "rate-limited"
          ? { ...result, kind: "usage-exceeded" }
          : result;
      },
    }),
  },
  {
    mistake: "takes what is left if the cost is higher",
    noticedBy: ["charge: uses and refills"],
    plant: (store) =>
      withResults(store, async (result, plan) => {
        const counted = plan.uses === null ? undefined : plan.confirms[plan.uses];
        if (result.kind !== "usage-exceeded" || !counted || counted.version === null) return result;
        await setUses(store, plan.workspaceId, counted, 0);
        return result;
      }),
  },
  {
    mistake: "admits a cost of 0 if nothing is left",
    noticedBy: ["charge: uses and refills"],
    plant: (store) =>
      withResults(store, (result, { cost }) =>
        result.kind === "usage-exceeded" && cost === 0 ? { ...result, kind: "charged" } : result,
      ),
  },
  {
    mistake: "takes a missing record for one with unlimited uses",
    noticedBy: ["charge: uses and refills"],
    plant: (store) =>
      withPlans(store, (plan) => {
        const counted = plan.uses === null ? undefined : plan.confirms[plan.uses];
        return counted?.version === null ? { ...plan, uses: null } : plan;
      }),
  },
  {
    mistake: "takes uses from the first record, whatever the plan says",
    noticedBy: ["charge: uses and refills"],
    plant: (store) => withPlans(store, (plan) => ({ ...plan, uses: plan.uses && 0 })),
  },
  {
    mistake: "never refills",
    noticedBy: ["charge: uses and refills"],
    plant: (store) => withMoments(store, (moment) => ({ ...moment, refill: null })),
  },
  {
    mistake: "refills with every charge",
    noticedBy: ["charge: uses and refills"],
    plant: (store) => {
      let dueAt = 0;
      return withMoments(store, (moment) => {
        dueAt = Math.max(dueAt + 1, moment.now);
        return { ...moment, refill: moment.refill && { ...moment.refill, dueAt } };
      });
    },
  },
  {
    mistake: "refills once more at the instant up to which it has refilled",
    noticedBy: ["charge: uses and refills"],
    plant: (store) =>
      withMoments(store, (moment) => ({
        ...moment,
        refill: moment.refill && { ...moment.refill, dueAt: moment.refill.dueAt + 1 },
      })),
  },
];
