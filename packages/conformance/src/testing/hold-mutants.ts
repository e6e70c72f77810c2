import type {
  ChargePlan,
  Hold,
  HoldResult,
  HoldSums,
  KeyStore,
  RecordAddress,
} from "@latchkey/core";
import { aChange } from "../fixtures/records.js";
import {
  type Methods,
  type Mutant,
  NOTHING,
  withMoments,
  withPlans,
  withResults,
} from "./mutant.js";

/** The methods of a store that does something more once a hold has ended, unless it had ended before. */
function afterEnds(
  store: KeyStore,
  then: (workspaceId: string, ended: HoldResult & { readonly kind: "ended" }) => Promise<unknown>,
): Methods {
  return {
    settle: async (workspaceId, step, moment) => {
      const result = await store.settle(workspaceId, step, moment);
      if (result.kind === "ended" && !result.isRepeat) await then(workspaceId, result);
      return result;
    },
  };
}

/** The records that a hold is beside. */
function ownersOf({ keyId, identityId }: Hold): readonly RecordAddress[] {
  const key = { kind: "key", id: keyId } as const;
  return identityId === null ? [key] : [key, { kind: "identity", id: identityId }];
}

/** Adds to the uses that a hold took from. */
async function giveUses(store: KeyStore, workspaceId: string, hold: Hold, by: number) {
  const owner = ownersOf(hold)[hold.usesOf ?? -1];
  if (owner === undefined || by <= 0) return;
  const usage = { due: null, operation: { kind: "increment", by } as const, restartsAt: null };
  await store.commit(workspaceId, { ...NOTHING, counters: [{ ...owner, usage }] });
}

/** Rewrites the sums of holds that counters have, and the holds. */
async function rewriteSums(
  store: KeyStore,
  workspaceId: string,
  of: RecordAddress,
  change: (sums: HoldSums) => HoldSums,
  changeHold = (hold: Hold): Hold => hold,
): Promise<void> {
  const { found } = await store.read(workspaceId, [of]);
  const sums = found[0]?.usage?.holds;
  if (sums === undefined) return;
  const holds = (await store.holds(workspaceId, of, null, 1_000)).map(changeHold);
  const step = { kind: "restore", of, sums: change(sums), holds } as const;
  await store.settle(workspaceId, step, { now: 0, revision: null });
}

/** The methods of a store that rewrites those sums after each commit that changes counters. */
function afterChanges(
  store: KeyStore,
  change: (sums: HoldSums, before: HoldSums | undefined) => HoldSums,
): Methods {
  return {
    commit: async (workspaceId, wanted) => {
      const { found } = await store.read(workspaceId, wanted.counters);
      const result = await store.commit(workspaceId, wanted);
      if (result.kind !== "committed") return result;
      for (const [index, of] of wanted.counters.entries())
        await rewriteSums(store, workspaceId, { kind: of.kind, id: of.id }, (sums) =>
          change(sums, found[index]?.usage?.holds),
        );
      return result;
    },
  };
}

function withHolds(
  store: KeyStore,
  alter: (hold: NonNullable<ChargePlan["hold"]>) => NonNullable<ChargePlan["hold"]>,
): Methods {
  return withPlans(store, (plan) =>
    plan.hold === undefined ? plan : { ...plan, hold: alter(plan.hold) },
  );
}

/** Takes slots that nobody holds. */
async function takeSlots(store: KeyStore, workspaceId: string, hold: Hold): Promise<void> {
  for (const { window, owner, units } of hold.limits) {
    const of = owner === null ? undefined : ownersOf(hold)[owner];
    if (!window.startsWith("c") || of === undefined) continue;
    const limit = { name: "kept", window, owner: 0, cost: units, shadow: false, burst: 1 };
    const figures = { algorithm: "concurrent", limit: 1_000, duration: 1_000 } as const;
    const plan: ChargePlan = {
      ...{ workspaceId, revision: null, mode: "commit", cost: 0, uses: null },
      confirms: [{ ...of, version: "exists" }],
      limits: [{ ...limit, ...figures }],
    };
    await store.charge(plan, { now: 0, refill: null });
  }
}

export const HOLD_MUTANTS: readonly Mutant[] = [
  {
    mistake: "gives back again what is ended twice",
    noticedBy: ["holds: ended"],
    plant: (store) => ({
      settle: async (workspaceId, step, moment) => {
        const result = await store.settle(workspaceId, step, moment);
        if (result.kind === "ended" && result.isRepeat)
          await giveUses(store, workspaceId, result.hold, result.hold.uses - result.used.uses);
        return result;
      },
    }),
  },
  {
    mistake: "gives a unit too much back",
    noticedBy: ["holds: ended", "holds: changes meanwhile"],
    plant: (store) =>
      afterEnds(store, (workspaceId, { hold }) => giveUses(store, workspaceId, hold, 1)),
  },
  {
    mistake: "lets a hold end a millisecond late",
    noticedBy: ["holds: ended", "holds: slots"],
    plant: (store) => ({
      settle: (workspaceId, step, moment) =>
        store.settle(workspaceId, step, { ...moment, now: moment.now - 1 }),
    }),
  },
  {
    mistake: "decides beside a hold that is over",
    noticedBy: ["holds: taken", "holds: renewed and over", "holds: slots"],
    plant: (store) =>
      withResults(store, async (result, plan, moment) => {
        if (result.kind !== "unsettled") return result;
        const { found } = await store.read(plan.workspaceId, plan.confirms);
        const ends = found.map((each) => each?.usage?.holds?.nextEnd ?? moment.now + 1);
        const now = Math.min(...ends) - 1;
        return store.charge({ ...plan, memo: undefined }, { ...moment, now });
      }),
  },
  {
    mistake: "applies a refill while uses are held without noting what it brought",
    noticedBy: ["holds: changes meanwhile"],
    plant: (store) => ({
      settle: async (workspaceId, step, moment) => {
        const result = await store.settle(workspaceId, step, moment);
        if (step.kind === "refresh" && step.refill !== null)
          await rewriteSums(store, workspaceId, step.of, (sums) => ({ ...sums, raises: [] }));
        return result;
      },
    }),
  },
  {
    mistake: "gives back to a limit that was emptied meanwhile",
    noticedBy: ["holds: changes meanwhile", "holds: slots"],
    plant: (store) => afterChanges(store, (sums) => ({ ...sums, drops: [] })),
  },
  {
    mistake: "gives uses back that were set meanwhile",
    noticedBy: ["holds: changes meanwhile"],
    plant: (store) =>
      afterChanges(store, (sums, before) =>
        before === undefined ? sums : { ...sums, setBefore: before.setBefore, uses: before.uses },
      ),
  },
  {
    mistake: "fills a bucket to which something comes back",
    noticedBy: ["holds: ended"],
    seed: 12,
    plant: (store) =>
      afterEnds(store, async (workspaceId, { hold, used }) => {
        for (const [index, { window, owner, units }] of hold.limits.entries()) {
          const of = owner === null ? undefined : ownersOf(hold)[owner];
          if (!window.startsWith("t") || of === undefined || used.limits[index] === units) continue;
          const { found } = await store.read(workspaceId, [of]);
          if (found[0] !== null)
            await store.commit(
              workspaceId,
              aChange({ counters: [{ kind: of.kind, id: of.id, dropWindows: [window] }] }),
            );
        }
      }),
  },
  {
    mistake: "fills a bucket while leases hold units of it",
    noticedBy: ["holds: leases of buckets"],
    plant: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        limits: plan.limits.map((limit) => ({ ...limit, held: undefined })),
      })),
  },
  {
    mistake: "does not count what has flowed into a bucket since",
    noticedBy: ["holds: ended"],
    isNoticedByModel: false,
    plant: (store) => {
      const made = new Map<string, readonly RecordAddress[]>();
      return {
        charge: async (plan, moment) => {
          const result = await store.charge(plan, moment);
          if ("hold" in result && result.hold) made.set(result.hold.id, plan.confirms);
          return result;
        },
        settle: async (workspaceId, step, moment) => {
          const owners = step.kind === "end" ? made.get(step.id) : undefined;
          const takenNow = (hold: Hold) => ({
            ...hold,
            limits: hold.limits.map((each) => ({ ...each, at: moment.now, flowed: undefined })),
          });
          for (const of of owners ?? [])
            await rewriteSums(store, workspaceId, of, (sums) => sums, takenNow);
          return store.settle(workspaceId, step, moment);
        },
      };
    },
  },
  {
    mistake: "does not free slots that are given back",
    noticedBy: ["holds: slots"],
    isNoticedByModel: false,
    plant: (store) =>
      afterEnds(store, (workspaceId, { hold }) => takeSlots(store, workspaceId, hold)),
  },
  {
    mistake: "lets slots last as long as what they came with",
    noticedBy: ["holds: slots"],
    plant: (store) => withHolds(store, (hold) => ({ ...hold, slotTtl: hold.slotTtl && hold.ttl })),
  },
  {
    mistake: "lets one hold more be open than may be",
    noticedBy: ["holds: taken"],
    seed: 3,
    plant: (store) =>
      withHolds(store, (hold) => ({ ...hold, most: hold.most.map((count) => count + 1) })),
  },
  {
    mistake: "keeps a hold beside the key alone",
    noticedBy: ["holds: taken", "holds: renewed and over", "holds: slots"],
    plant: (store) => withHolds(store, (hold) => ({ ...hold, most: hold.most.slice(0, 1) })),
  },
  {
    mistake: "knows of a hold for only one of the records that share counters",
    noticedBy: ["holds: renewed and over"],
    plant: (store) => ({
      holds: async (workspaceId, of, after, limit) => {
        const holds = await store.holds(workspaceId, of, after, limit);
        return holds.filter(({ keyId, identityId }) => [keyId, identityId].includes(of.id));
      },
    }),
  },
  {
    mistake: "forgets how a hold has ended",
    noticedBy: ["holds: ended"],
    seed: 21,
    plant: (store) => ({
      settle: async (workspaceId, step, moment) => {
        const result = await store.settle(workspaceId, step, moment);
        return result.kind === "ended" && result.isRepeat ? { kind: "unknown" } : result;
      },
    }),
  },
  {
    mistake: "answers a repeated end with the uses that are left by now",
    noticedBy: ["holds: ended"],
    plant: (store) => ({
      settle: async (workspaceId, step, moment) => {
        const result = await store.settle(workspaceId, step, moment);
        if (result.kind !== "ended" || !result.isRepeat || result.usage === null) return result;
        const of = ownersOf(result.hold)[result.hold.usesOf ?? -1];
        const { found } = await store.read(workspaceId, of === undefined ? [] : [of]);
        return { ...result, usage: found[0]?.usage ?? null };
      },
    }),
  },
  {
    mistake: "takes steps whatever the revision is",
    noticedBy: ["holds: ended"],
    plant: (store) => ({
      settle: (workspaceId, step, { now }) =>
        store.settle(workspaceId, step, { now, revision: null }),
    }),
  },
  {
    mistake: "ends everything that is over at once",
    noticedBy: ["holds: renewed and over"],
    isNoticedByModel: false,
    plant: (store) => ({
      settle: async (workspaceId, step, moment) => {
        const expired: Hold[] = [];
        for (;;) {
          const result = await store.settle(workspaceId, step, moment);
          if (result.kind !== "refreshed") return result;
          expired.push(...result.expired);
          if (!result.hasMore) return { ...result, expired };
        }
      },
    }),
  },
  {
    mistake: "answers a repeated request without what it holds",
    noticedBy: ["holds: taken"],
    plant: (store) =>
      withResults(store, (result, _plan, { holdId }) =>
        "hold" in result && result.hold?.id !== holdId ? { ...result, hold: undefined } : result,
      ),
  },
  {
    mistake: "holds something again for a request that is repeated",
    noticedBy: ["holds: taken"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const result = await store.charge(plan, moment);
        const isRepeat = "hold" in result && result.hold && result.hold.id !== moment.holdId;
        if (!isRepeat) return result;
        const { request: _, ...again } = moment;
        const charged = await store.charge({ ...plan, memo: undefined }, again);
        return charged.kind === "charged" ? result : charged;
      },
    }),
  },
  {
    mistake: "ends nothing in the step of a charge",
    noticedBy: ["holds: ended by a charge"],
    plant: (store) => withMoments(store, ({ ends: _, ...moment }) => moment),
  },
  {
    mistake: "ends a hold behind a charge",
    noticedBy: ["holds: ended by a charge"],
    plant: (store) => ({
      charge: async (plan, { ends, ...moment }) => {
        const result = await store.charge(plan, moment);
        const when = { now: moment.now, revision: plan.revision };
        if (ends !== undefined) await store.settle(plan.workspaceId, ends, when);
        return result;
      },
    }),
  },
  {
    mistake: "ends a hold beside a charge whatever the revision is",
    noticedBy: ["holds: ended by a charge"],
    plant: (store) => ({
      charge: async (plan, { ends, ...moment }) => {
        const when = { now: moment.now, revision: null };
        if (ends !== undefined) await store.settle(plan.workspaceId, ends, when);
        return store.charge(plan, moment);
      },
    }),
  },
];
