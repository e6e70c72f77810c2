import fc from "fast-check";
import { expect, test } from "vitest";
import { describeOnEveryStore } from "./every-store.js";
import { HOUR_MS, issue } from "./test-context.js";

/** A step, and the hours since the previous one. */
const step = fc.record({
  hours: fc.nat({ max: 3 }),
  cost: fc.nat({ max: 9 }),
  kind: fc.constantFrom("verify" as const, "look" as const, "add" as const),
});
const setup = fc.record({
  amount: fc.integer({ min: 1, max: 6 }),
  carryOver: fc.nat({ max: 12 }),
  remaining: fc.integer({ min: 1, max: 20 }),
  steps: fc.array(step, { minLength: 4, maxLength: 12 }),
});

describeOnEveryStore("a refill that carries over", (open) => {
  test("leaves max(left, min(amount + carryOver, left + n × amount)) after n periods", async () => {
    const context = open();
    const { latchkey } = context;
    await fc.assert(
      fc.asyncProperty(setup, async ({ amount, carryOver, remaining, steps }) => {
        const refill = { interval: "hourly", amount, carryOver } as const;
        const one = await issue(context, { remaining, refill });
        let left = remaining;
        for (const { hours, cost, kind } of steps) {
          context.advance(hours * HOUR_MS);
          left = Math.max(left, Math.min(amount + carryOver, left + hours * amount));
          if (kind === "verify") {
            const isValid = left > 0 && cost <= left;
            const verdict = await latchkey.verifyKey({ key: one.key, remaining: { cost } });
            if (isValid) left -= cost;
            expect(verdict).toMatchObject({ valid: isValid, remaining: left });
          } else if (kind === "add") {
            const { keyId } = one;
            const answer = await latchkey.updateRemaining({
              keyId,
              op: "increment",
              value: cost + 1,
            });
            left += cost + 1;
            expect(answer).toEqual({ remaining: left });
          } else expect((await latchkey.getKey({ keyId: one.keyId })).remaining).toBe(left);
        }
      }),
      { numRuns: 15 },
    );
  });

  test("leaves room for what a reservation returns, and restores no more than that", async () => {
    const context = open();
    const { latchkey } = context;
    const refill = { interval: "hourly", amount: 10, carryOver: 5 } as const;
    const one = await issue(context, { remaining: 10, refill });
    const verdict = await latchkey.reserve({ key: one.key, remaining: { cost: 8 }, ttl: "24h" });
    if (verdict.code !== "VALID") throw new Error(verdict.code);
    expect(verdict.remaining).toBe(2);
    context.advance(HOUR_MS);
    // 2 and 10 more. Without the 8 held uses, there would be 15.
    expect(await latchkey.verifyKey({ key: one.key, remaining: { cost: 0 } })).toMatchObject({
      remaining: 12,
    });
    const { reservationId } = verdict;
    expect(await latchkey.release({ reservationId })).toMatchObject({ remaining: 15 });
  });
});
