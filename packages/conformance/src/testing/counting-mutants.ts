import type { ChargeResult, KeyStore, LimitCharge } from "@latchkey/core";
import {
  type Methods,
  type Mutant,
  NOTHING,
  setUses,
  withMoments,
  withPlans,
  withResults,
} from "./mutant.js";

/** Alters the limits of a plan. */
function withLimits(
  store: KeyStore,
  alter: (limit: LimitCharge, now: number) => LimitCharge,
): Methods {
  return withPlans(store, (plan, { now }) => ({
    ...plan,
    limits: plan.limits.map((limit) => alter(limit, now)),
  }));
}

export const COUNTING_MUTANTS: readonly Mutant[] = [
  {
    mistake: "lowers what is left to the amount of a refill",
    noticedBy: ["charge: uses and refills"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const counted = plan.uses === null ? undefined : plan.confirms[plan.uses];
        const { refill } = moment;
        if (counted === undefined || refill === null) return store.charge(plan, moment);
        const { found } = await store.read(plan.workspaceId, [counted]);
        const usage = found[0]?.usage;
        if (usage && (usage.remaining ?? 0) > refill.amount && usage.refilledAt < refill.dueAt)
          await setUses(store, plan.workspaceId, counted, refill.amount);
        return store.charge(plan, moment);
      },
    }),
  },
  {
    mistake: "stores the refill of a charge that it refuses",
    noticedBy: ["charge: uses and refills"],
    plant: (store) =>
      withResults(store, async (result, plan, moment) => {
        const isRefused = result.kind === "usage-exceeded" || result.kind === "rate-limited";
        if (isRefused)
          await store.charge({ ...plan, cost: 0, limits: [] }, { ...moment, request: undefined });
        return result;
      }),
  },
  {
    mistake: "moves counters for a plan that only looks",
    noticedBy: ["charge: uses and refills"],
    plant: (store) => withPlans(store, (plan) => ({ ...plan, mode: "commit" })),
  },
  {
    mistake: "opens a window of its own for a clock that was set back",
    noticedBy: ["charge: limits"],
    plant: (store) =>
      withLimits(store, (limit, now) => ({
        ...limit,
        window: `${limit.window}@${Math.floor(now / limit.duration)}`,
      })),
  },
  {
    mistake: "opens a window a millisecond early",
    noticedBy: ["charge: limits"],
    isNoticedByModel: false,
    plant: (store) => withMoments(store, (moment) => ({ ...moment, now: moment.now + 1 })),
  },
  {
    mistake: "opens a window a millisecond late",
    noticedBy: ["charge: limits"],
    isNoticedByModel: false,
    plant: (store) => withMoments(store, (moment) => ({ ...moment, now: moment.now - 1 })),
  },
  {
    mistake: "admits one more than the limit",
    noticedBy: ["charge: limits"],
    plant: (store) => withLimits(store, (limit) => ({ ...limit, limit: limit.limit + 1 })),
  },
  {
    mistake: "keeps windows by their name alone, whatever record owns them",
    noticedBy: ["charge: limits", "commit: records"],
    plant: (store) => withLimits(store, (limit) => ({ ...limit, owner: null })),
  },
  {
    mistake: "keeps the windows of the workspace with the first record",
    noticedBy: ["charge: limits"],
    plant: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        limits: plan.limits.map((limit) => ({
          ...limit,
          owner: plan.confirms[0]?.version == null ? limit.owner : (limit.owner ?? 0),
        })),
      })),
  },
  {
    mistake: "forgets a window of the workspace at its end",
    noticedBy: ["charge: limits"],
    plant: (store) => {
      const ends = new Map<string, number>();
      return {
        charge: async (plan, moment) => {
          const ended = [...ends].filter(([, end]) => end <= moment.now).map(([name]) => name);
          for (const name of ended) ends.delete(name);
          if (ended.length > 0)
            await store.commit(plan.workspaceId, { ...NOTHING, dropWindows: ended });
          for (const { owner, window, duration } of plan.limits)
            if (owner === null) ends.set(window, moment.now - (moment.now % duration) + duration);
          return store.charge(plan, moment);
        },
      };
    },
  },
  {
    mistake: "reports only the first limit that refused",
    noticedBy: ["charge: limits"],
    plant: (store) =>
      withResults(store, (result) => {
        if (result.kind !== "rate-limited") return result;
        const first = result.limits.findIndex(({ exceeded }) => exceeded);
        const limits = result.limits.map((limit, index) => ({
          ...limit,
          exceeded: index === first,
        }));
        return { ...result, limits };
      }),
  },
  {
    mistake: "sorts the readings by name",
    noticedBy: ["charge: limits"],
    isNoticedByModel: false,
    plant: (store) =>
      withResults(store, (result) => {
        if (!("limits" in result)) return result;
        const limits = result.limits.toSorted((one, other) => (one.name < other.name ? -1 : 1));
        return { ...result, limits };
      }),
  },
  {
    mistake: "forgets every request",
    noticedBy: ["charge: replayed requests"],
    plant: (store) => withMoments(store, (moment) => ({ ...moment, request: undefined })),
  },
  {
    mistake: "forgets a request a millisecond early",
    noticedBy: ["charge: replayed requests"],
    isNoticedByModel: false,
    plant: (store) =>
      withMoments(store, ({ request, ...moment }) => ({
        ...moment,
        request: request && { ...request, rememberUntil: request.rememberUntil - 1 },
      })),
  },
  {
    mistake: "forgets a request a millisecond late",
    noticedBy: ["charge: replayed requests"],
    isNoticedByModel: false,
    plant: (store) =>
      withMoments(store, ({ request, ...moment }) => ({
        ...moment,
        request: request && { ...request, rememberUntil: request.rememberUntil + 1 },
      })),
  },
  {
    mistake: "does not look whether a repeated request asks the same question",
    noticedBy: ["charge: replayed requests"],
    plant: (store) =>
      withMoments(store, ({ request, ...moment }) => ({
        ...moment,
        request: request && { ...request, fingerprint: "" },
      })),
  },
  {
    mistake: "does not remember a refusal",
    noticedBy: ["charge: replayed requests"],
    plant: (store) => ({
      charge: async (plan, moment) => {
        const looked = await store.charge({ ...plan, mode: "peek" }, moment);
        return looked.kind === "charged" || looked.kind === "conflict"
          ? store.charge(plan, moment)
          : looked;
      },
    }),
  },
  {
    mistake: "answers a repeat before it confirms anything",
    noticedBy: ["charge: replayed requests"],
    plant: (store) => {
      const known = new Map<string, ChargeResult>();
      return {
        charge: async (plan, moment) => {
          const name = JSON.stringify([plan.workspaceId, plan.confirms[0]?.id, moment.request]);
          const first = moment.request && known.get(name);
          const result = await store.charge(plan, moment);
          if (moment.request && plan.mode === "commit" && result.kind === "charged")
            known.set(name, result);
          return first ?? result;
        },
      };
    },
  },
  {
    mistake: "remembers requests for the workspace, whatever record they are about",
    noticedBy: ["charge: replayed requests"],
    plant: (store) => {
      const known = new Map<string, string>();
      return {
        charge: async (plan, moment) => {
          const { request } = moment;
          if (request === undefined) return store.charge(plan, moment);
          const name = JSON.stringify([plan.workspaceId, request.id]);
          const first = known.get(name) ?? request.fingerprint;
          known.set(name, first);
          return first === request.fingerprint ? store.charge(plan, moment) : { kind: "conflict" };
        },
      };
    },
  },
];
