import { createLatchkey, LIMIT_ALGORITHMS } from "@latchkey/core";
import { memoryStore } from "@latchkey/memory";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rateLimitFields } from "./rate-limit-fields.js";
import { readList } from "./testing/read-list.js";

const figures = fc
  .record({
    algorithm: fc.constantFrom(...LIMIT_ALGORITHMS.filter((each) => each !== "concurrent")),
    limit: fc.integer({ min: 1, max: 50 }),
    duration: fc.integer({ min: 1, max: 100_000 }),
    burst: fc.integer({ min: 1, max: 80 }),
  })
  .map(({ burst, ...rest }) => (rest.algorithm === "token-bucket" ? { ...rest, burst } : rest));

/** A key with one limit, and a clock. `take` takes units, and returns the parameters of the header fields. */
async function limited(limit: object, startAt: number) {
  let now = startAt;
  const latchkey = createLatchkey({ store: memoryStore(), clock: () => now, usage: false });
  const { apiId } = await latchkey.createApi({ name: "tiles" });
  const ratelimit = { limit: 1, duration: 1, ...limit };
  const { key } = await latchkey.createKey({ apiId, ratelimit });
  return {
    wait: (ms: number) => {
      now += ms;
    },
    take: async (cost: number) => {
      const verdict = await latchkey.verifyKey({ key, ratelimit: { cost } });
      const limits = "ratelimits" in verdict ? verdict.ratelimits : undefined;
      const fields = rateLimitFields(limits, now);
      const parameters = (name: string) => readList(fields[name] ?? "")[0]?.parameters ?? {};
      const { q = -1, w = -1 } = parameters("RateLimit-Policy") as Record<string, number>;
      const { r = -1, t = -1 } = parameters("RateLimit") as Record<string, number>;
      return { isAdmitted: verdict.valid, q, w, r, t };
    },
  };
}

test("the fields promise no more than the limit admits: q units again after w seconds, r now, and q after t seconds", async () => {
  const costs = fc.array(fc.tuple(fc.nat({ max: 9 }), fc.nat({ max: 20_000 })), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(figures, fc.nat({ max: 1e9 }), costs, async (limit, startAt, taken) => {
      const { wait, take } = await limited(limit, startAt);
      for (const [cost, pause] of taken) {
        await take(cost);
        wait(pause);
      }
      const { r } = await take(0);
      const { isAdmitted, q, t } = await take(r);
      expect(isAdmitted).toBe(true);
      wait(t * 1000);
      const all = await take(q);
      expect(all).toMatchObject({ isAdmitted: true, r: 0 });
      wait(all.w * 1000);
      expect(await take(q)).toMatchObject({ isAdmitted: true });
    }),
    { numRuns: 150 },
  );
});

test("for a concurrent limit, q is the number of slots, r the number of free ones, and no seconds are promised", async () => {
  const taken = fc.array(fc.nat({ max: 9 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 50 }), taken, async (limit, costs) => {
      const { take } = await limited({ algorithm: "concurrent", limit, duration: 1_000 }, 0);
      for (const cost of costs) await take(cost);
      const before = await take(0);
      expect(before).toMatchObject({ q: limit, w: -1, t: -1 });
      expect(await take(before.r + 1)).toMatchObject({ isAdmitted: false, r: before.r, t: -1 });
      expect(await take(before.r)).toMatchObject({ isAdmitted: true, r: 0 });
    }),
    { numRuns: 50 },
  );
});

test("a concurrent limit names its unit as in the draft", () => {
  const state = { limit: 5, remaining: 3, reset: 9_000, duration: 120_000, exceeded: false };
  const fields = rateLimitFields([{ name: "parallel", ...state, algorithm: "concurrent" }], 0);
  expect(fields).toEqual({
    "RateLimit-Policy": '"parallel";q=5;qu="concurrent-requests"',
    RateLimit: '"parallel";r=3',
  });
  expect(readList(fields["RateLimit-Policy"] ?? "")).toEqual([
    { text: "parallel", parameters: { q: 5, qu: "concurrent-requests" } },
  ]);
});

test("for a token bucket, q is its capacity, and w the time to fill it from empty", async () => {
  const bucket = { limit: 5, duration: 1_000, algorithm: "token-bucket", burst: 21 };
  const { take } = await limited(bucket, 0);
  expect(await take(1)).toEqual({ isAdmitted: true, q: 21, w: 5, r: 20, t: 1 });
});

test("a shadow limit is in no field", () => {
  const state = { limit: 5, remaining: 0, reset: 9_000, duration: 60_000, exceeded: true };
  const tried = { name: "tried", ...state, shadow: true } as const;
  expect(rateLimitFields([tried], 0)).toEqual({});
  expect(rateLimitFields([tried, { name: "real", ...state }], 0)).toEqual({
    "RateLimit-Policy": '"real";q=5;w=60',
    RateLimit: '"real";r=0;t=9',
  });
});
