import { describe, expect, test } from "vitest";
import { fixedWindows, limitNamed, loadedWith } from "../testing/records.js";
import { cachedKey, chargePlanOf, KeyCache } from "./key-cache.js";
import { decideLimits } from "./limit-precedence.js";
import { type LimitRequest, PLAIN_QUESTION } from "./question.js";

const named = (name: string, cost = 1): LimitRequest => ({
  name,
  cost,
  adHoc: null,
  isOptional: false,
});

describe("a cache of keys", () => {
  test("finds a key by any of its hashes, in its own workspace only", () => {
    const cache = new KeyCache(4);
    const kept = cache.keep(loadedWith({ hash: "h1", workspaceId: "ws_a" }));
    expect(cache.find("ws_a", ["other", "h1"])).toBe(kept);
    expect(cache.find("ws_b", ["other", "h1"])).toBeUndefined();
    expect(cache.find("ws_a", [])).toBeUndefined();
    cache.drop(kept);
    expect(cache.find("ws_a", ["h1"])).toBeUndefined();
  });

  test("lets keys with limits alike share one list of them, and no others", () => {
    const cache = new KeyCache(4);
    const planned = (limit: number, duration = 60_000) =>
      cache.keep(loadedWith({ ratelimits: [limitNamed("default", limit, duration)] })).plainPlan;
    const first = planned(10);
    expect(planned(10).limits).toBe(first.limits);
    expect(planned(11).limits).toMatchObject([{ limit: 11, duration: 60_000 }]);
    expect(planned(10, 1_000).limits).toMatchObject([{ limit: 10, duration: 1_000 }]);
    expect(first.limits).toMatchObject([{ limit: 10, duration: 60_000 }]);
  });
});

describe("the plan of a question", () => {
  const cached = () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("charts")] });
    return cachedKey(loaded, decideLimits(loaded, []).limits);
  };

  test("is that of the plain question where neither cost nor limits differ", () => {
    const key = cached();
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, permissions: "a" })).toBe(key.plainPlan);
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, cost: 2 })).not.toBe(key.plainPlan);
  });

  test("is kept for the next question like it, also where that was read anew", () => {
    const key = cached();
    const question = { ...PLAIN_QUESTION, cost: 2, limits: [named("charts", 3)] };
    const plan = chargePlanOf(key, question);
    expect(plan).toMatchObject({ cost: 2, limits: [{ name: "charts", cost: 3 }] });
    expect(chargePlanOf(key, { ...question, limits: [named("charts", 3)] })).toBe(plan);
  });

  test.each([
    { title: "another cost", change: { cost: 1 } },
    { title: "a limit at another cost", change: { limits: [named("charts", 4)] } },
    {
      title: "a limit made up",
      change: { limits: [{ ...named("charts", 3), adHoc: fixedWindows(1, 1) }] },
    },
    { title: "no limit", change: { limits: [] } },
  ])("is made anew for $title", ({ change }) => {
    const key = cached();
    const question = { ...PLAIN_QUESTION, cost: 2, limits: [named("charts", 3)] };
    const before = chargePlanOf(key, question);
    const after = chargePlanOf(key, { ...question, ...change });
    expect(after).not.toBe(before);
    expect(after).toEqual(chargePlanOf(cached(), { ...question, ...change }));
  });

  test("is none where it names a limit that nothing configures", () => {
    const key = cached();
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, limits: [named("tiles")] })).toBeNull();
  });
});
