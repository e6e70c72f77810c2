import type { KeyStore, LimitAlgorithm, LimitCharge } from "@latchkey/core";
import { type Methods, type Mutant, withPlans, withResults } from "./mutant.js";

/** Alters the limits of one algorithm. */
function withLimitsOf(
  store: KeyStore,
  algorithm: LimitAlgorithm,
  alter: (limit: LimitCharge) => LimitCharge,
): Methods {
  return withPlans(store, (plan) => ({
    ...plan,
    limits: plan.limits.map((limit) => (limit.algorithm === algorithm ? alter(limit) : limit)),
  }));
}

/** A sliding limit whose units count for some sixteenths of the span more, or less. */
function withSpans(store: KeyStore, sixteenths: number): Methods {
  return withLimitsOf(store, "sliding", (limit) => ({
    ...limit,
    duration: Math.max(1, limit.duration + sixteenths * Math.ceil(limit.duration / 16)),
  }));
}

export const ALGORITHM_MUTANTS: readonly Mutant[] = [
  {
    mistake: "rounds what flows into a bucket to whole units a second",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) =>
      withLimitsOf(store, "token-bucket", (limit) => ({
        ...limit,
        limit: Math.max(1, Math.round((limit.limit * 1_000) / limit.duration)),
        duration: 1_000,
      })),
  },
  {
    mistake: "lets a bucket hold a unit more",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) =>
      withLimitsOf(store, "token-bucket", (limit) => ({ ...limit, burst: limit.burst + 1 })),
  },
  {
    mistake: "forgets a group of a sliding limit too early",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) => withSpans(store, -2),
  },
  {
    mistake: "forgets a group of a sliding limit too late",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) => withSpans(store, 2),
  },
  {
    mistake: "counts sliding limits in windows",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) => withLimitsOf(store, "sliding", (limit) => ({ ...limit, algorithm: "fixed" })),
  },
  {
    mistake: "takes from a shadow that has no room",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) =>
      withResults(store, async (result, plan, moment) => {
        if (!("limits" in result) || result.kind !== "charged" || plan.mode === "peek")
          return result;
        const limits = plan.limits
          .filter(({ shadow }, index) => shadow && result.limits[index]?.exceeded)
          .map((limit) => ({ ...limit, limit: 2 ** 40, burst: 2 ** 40 }));
        if (limits.length > 0)
          await store.charge(
            { ...plan, memo: undefined, cost: 0, uses: null, limits },
            { now: moment.now, refill: null },
          );
        return result;
      }),
  },
  {
    mistake: "refuses for a shadow",
    noticedBy: ["charge: algorithms"],
    isNoticedByModel: false,
    plant: (store) =>
      withPlans(store, (plan) => ({
        ...plan,
        limits: plan.limits.map((limit) => ({ ...limit, shadow: false })),
      })),
  },
];
