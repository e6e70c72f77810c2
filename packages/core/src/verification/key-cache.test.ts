import { describe, expect, test } from "vitest";
import { fixedWindows, identityWith, limitNamed, loadedWith } from "../testing/records.js";
import { cachedKey, chargePlanOf, KeyCache, reservedKeyOf } from "./key-cache.js";
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

  test("lets only keys with equal limits share one list of them", () => {
    const cache = new KeyCache(4);
    const planned = (limit: number, duration = 60_000) =>
      cache.keep(loadedWith({ ratelimits: [limitNamed("default", limit, duration)] })).plainPlan;
    const first = planned(10);
    expect(planned(10).limits).toBe(first.limits);
    expect(planned(11).limits).toMatchObject([{ limit: 11, duration: 60_000 }]);
    expect(planned(10, 1_000).limits).toMatchObject([{ limit: 10, duration: 1_000 }]);
    expect(first.limits).toMatchObject([{ limit: 10, duration: 60_000 }]);
  });

  test("caches a thousand such lists", () => {
    const cache = new KeyCache(4);
    const planned = (limit: number) =>
      cache.keep(loadedWith({ ratelimits: [limitNamed("default", limit)] })).plainPlan.limits;
    const first = planned(1);
    for (let limit = 2; limit <= 1_000; limit += 1) planned(limit);
    expect(planned(1)).toBe(first);
    planned(1_001);
    expect(planned(1)).not.toBe(first);
  });
});

describe("the plan of a question", () => {
  const cached = () => {
    const loaded = loadedWith({ ratelimits: [limitNamed("charts")] });
    return cachedKey(loaded, decideLimits(loaded, []).limits);
  };

  test("is that of the plain question if neither cost nor limits differ", () => {
    const key = cached();
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, permissions: "a" })).toBe(key.plainPlan);
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, cost: 2 })).not.toBe(key.plainPlan);
  });

  test("is kept for the next equal question, even if that was parsed again", () => {
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
      title: "an ad hoc limit",
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

  test("of a reservation is another one, kept apart from that of a verification", () => {
    const key = cached();
    const [verified, reserved] = [
      { ...PLAIN_QUESTION, cost: 2 },
      { ...PLAIN_QUESTION, cost: 2, ttl: 5_000 },
    ];
    const plans = [chargePlanOf(key, verified), chargePlanOf(key, reserved)];
    expect(plans[0]?.hold).toBeUndefined();
    expect(plans[1]).toMatchObject({ mode: "commit", hold: { keeps: "all", ttl: 5_000 } });
    expect([chargePlanOf(key, verified), chargePlanOf(key, reserved)]).toEqual(plans);
    expect(chargePlanOf(key, verified)).toBe(plans[0]);
    expect(chargePlanOf(key, reserved)).toBe(plans[1]);
    expect(chargePlanOf(key, { ...reserved, ttl: 6_000 })).toMatchObject({ hold: { ttl: 6_000 } });
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, ttl: 5_000 })).toMatchObject({
      ...{ cost: 1, hold: { ttl: 5_000 } },
    });
  });

  test("says what it counts if the store counts in the step, except for uses of a reservation", () => {
    const key = cachedKey(loadedWith(), [], true);
    const charged = (cost: number, ttl?: number) =>
      chargePlanOf(key, { ...PLAIN_QUESTION, cost, ...(ttl !== undefined && { ttl }) })?.counts;
    expect(charged(1)).toMatchObject({
      subjects: [
        { kind: "key", id: "key_1" },
        { kind: "api", id: "api_1" },
      ],
      sums: { charged: { VALID: 1 } },
    });
    expect(key.plainPlan.mode).toBe("commit");
    expect(charged(3)?.sums.charged).toEqual({ VALID: 1, EXTRA_USES: 2 });
    expect(charged(3, 5_000)?.sums.charged).toEqual({ VALID: 1, FREE: 1 });
    const beside = cachedKey(loadedWith(), []);
    expect([beside.subjects, beside.plainPlan.counts]).toEqual([null, undefined]);
    expect(chargePlanOf(beside, { ...PLAIN_QUESTION, cost: 3 })?.counts).toBeUndefined();
    expect(new KeyCache(1).keep(loadedWith()).subjects).toBeNull();
    expect(new KeyCache(1, true).keep(loadedWith()).subjects).not.toBeNull();
  });

  test("is null if it names a limit that is not configured", () => {
    const key = cached();
    expect(chargePlanOf(key, { ...PLAIN_QUESTION, limits: [named("tiles")] })).toBeNull();
  });
});

describe("what a reservation keeps of its key", () => {
  test("is the subjects it counts for and the refill, once for all reservations", () => {
    const refill = { interval: "daily", amount: 9 } as const;
    const fields = { refill, tags: ["eu"], identityId: "id_1", name: "laptop" };
    const cached = cachedKey(loadedWith(fields, { identity: identityWith() }), []);
    const { id, apiId, workspaceId, tags, uncountedTags } = cached.key;
    const key = { id, apiId, workspaceId, tags, uncountedTags };
    const reserved = reservedKeyOf(cached);
    expect(reserved).toStrictEqual({ key, identity: { id: "id_1" }, refill, counts: null });
    expect(reservedKeyOf(cached)).toBe(reserved);
  });

  test("has no identity if the key has none", () => {
    expect(reservedKeyOf(cachedKey(loadedWith(), [])).identity).toBeNull();
  });
});
