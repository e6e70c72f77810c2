import { expect, test } from "vitest";
import { chanceOf } from "./chance.js";
import { describeOnEveryStore } from "./every-store.js";
import { NOON } from "./test-context.js";

const bucket = { algorithm: "token-bucket", limit: 7, duration: 10_000, burst: 9 } as const;
const sliding = { algorithm: "sliding", limit: 9, duration: 10_000 } as const;

describeOnEveryStore("a limit without a key", (open, runs) => {
  test.each([sliding, bucket])(
    "R1: after a refusal, the same call is admitted after exactly retryAfterMs ($algorithm)",
    async (limit) => {
      const context = open();
      const chance = chanceOf(20260311);
      const processes = [context.latchkey, context.another()] as const;
      const name = { namespace: "mail", identifier: "customer_42" };
      const ask = (cost: number) => chance.pick(processes).limit({ ...name, ...limit, cost });
      let refused = 0;
      for (let step = 0; step < runs(120); step += 1) {
        context.advance(chance.below(chance.pick([2, 900])));
        const cost = 1 + chance.below(6);
        const { success, retryAfterMs } = await ask(cost);
        expect(retryAfterMs === undefined).toBe(success);
        if (retryAfterMs === undefined) continue;
        refused += 1;
        context.advance(retryAfterMs - 1);
        expect(await ask(cost)).toMatchObject({ success: false, retryAfterMs: 1 });
        context.advance(1);
        expect((await ask(cost)).success).toBe(true);
      }
      expect(refused).toBeGreaterThan(2);
    },
  );

  test("a cost that can never fit has no retryAfterMs, and neither has a fixed window", async () => {
    const { latchkey } = open();
    const name = { namespace: "mail", identifier: "customer_42" };
    const full = { success: false, remaining: 9, limit: 9, reset: NOON, algorithm: "sliding" };
    expect(await latchkey.limit({ ...name, ...sliding, cost: 10 })).toEqual(full);
    expect(await latchkey.limit({ ...name, ...bucket, cost: 10 })).toEqual({
      ...{ ...full, limit: 7, algorithm: "token-bucket", burst: 9 },
    });
    const fixed = { ...name, limit: 9, duration: 10_000 };
    expect(await latchkey.limit({ ...fixed, cost: 10 })).toEqual({
      ...{ success: false, remaining: 9, limit: 9, reset: NOON + 10_000 },
    });
  });

  test("a shadow limit never refuses, and has no retryAfterMs", async () => {
    const { latchkey } = open();
    const tried = { namespace: "mail", identifier: "customer_42", ...bucket, shadow: true };
    await latchkey.limit({ ...tried, cost: 9 });
    const exceeded = await latchkey.limit(tried);
    expect(exceeded).toMatchObject({ success: true, exceeded: true });
    expect(exceeded).not.toHaveProperty("retryAfterMs");
  });
});
