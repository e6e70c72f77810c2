import { describe, expect, test } from "vitest";
import { describeOnMemoryOrAll } from "../every-store.js";
import { DAY_MS, HOUR_MS, issue } from "../test-context.js";

describeOnMemoryOrAll("a refusal", (open) => {
  test("for missing permissions names them, and nothing else", async () => {
    const context = open();
    await context.latchkey.createPermission({ name: "docs.read" });
    const { key } = await issue(context, { permissions: ["docs.read"] });
    const ask = (permissions: Parameters<typeof context.latchkey.verifier>[0]) =>
      context.latchkey.verifier(permissions)(key);
    expect(await ask({ permissions: { and: ["docs.read", "docs.write"] } })).toMatchObject({
      code: "INSUFFICIENT_PERMISSIONS",
      missing: "docs.write",
    });
    expect(await ask({ permissions: "docs.read" })).not.toHaveProperty("missing");
  });

  test("by a limit says how long to wait, after which the key passes", async () => {
    const context = open();
    const { key } = await issue(context, { ratelimit: { limit: 1, duration: HOUR_MS } });
    expect(await context.latchkey.verifyKey({ key })).not.toHaveProperty("retryAfterMs");
    const retryAfterMs = HOUR_MS - (context.now() % HOUR_MS);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      code: "RATE_LIMITED",
      retryAfterMs,
      ratelimits: [{ name: "default", exceeded: true, duration: HOUR_MS }],
    });
    context.advance(retryAfterMs);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
  });

  test("for missing uses says how long to wait for the refill, after which the key passes", async () => {
    const context = open();
    const refill = { interval: "daily", amount: 1 } as const;
    const { key } = await issue(context, { remaining: 1, refill });
    await context.latchkey.verifyKey({ key });
    const retryAfterMs = DAY_MS - (context.now() % DAY_MS);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({
      code: "USAGE_EXCEEDED",
      enabled: false,
      retryAfterMs,
    });
    context.advance(retryAfterMs);
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ code: "VALID" });
  });

  describe("does not mention waiting", () => {
    test("for uses without a refill, and for a cost above what a refill restores", async () => {
      const context = open();
      const bare = await issue(context, { remaining: 1 });
      const small = await issue(context, {
        remaining: 1,
        refill: { interval: "daily", amount: 1 },
      });
      for (const { key } of [bare, small]) {
        const verdict = await context.latchkey.verifyKey({ key, remaining: { cost: 2 } });
        expect(verdict.code).toBe("USAGE_EXCEEDED");
        expect(verdict).not.toHaveProperty("retryAfterMs");
      }
    });

    test("for a cost above the limit itself, and for a key that expires earlier", async () => {
      const context = open();
      const ratelimit = { limit: 1, duration: HOUR_MS };
      const { key } = await issue(context, { ratelimit });
      const verdict = await context.latchkey.verifyKey({
        key,
        ratelimits: [{ name: "default", cost: 2 }],
      });
      expect(verdict.code).toBe("RATE_LIMITED");
      expect(verdict).not.toHaveProperty("retryAfterMs");
      const expiring = await issue(context, { ratelimit, expires: context.now() + HOUR_MS });
      await context.latchkey.verifyKey({ key: expiring.key });
      const last = await context.latchkey.verifyKey({ key: expiring.key });
      expect(last.code).toBe("RATE_LIMITED");
      expect(last).not.toHaveProperty("retryAfterMs");
    });
  });
});
