import type { VerdictCheck } from "@latchkey/core";
import { describe, expect, test } from "vitest";
import { DAY_MS, describeOnMemory, HOUR_MS, issue, NOON, rejectionOf } from "../test-context.js";

describeOnMemory("a dry run", (open) => {
  const failed = (checks: readonly VerdictCheck[]) => checks.filter(({ passed }) => !passed);

  test("returns each check with its details, and takes nothing", async () => {
    const context = open();
    const { apiId, keyId, key } = await issue(context, {
      remaining: 5,
      refill: { interval: "daily", amount: 5 },
      expires: NOON + DAY_MS,
      ratelimit: { limit: 10, duration: HOUR_MS },
    });
    const ask = () => context.latchkey.verifyKey({ key, remaining: { cost: 2 }, dryRun: true });
    const outcome = await ask();
    expect(outcome).toMatchObject({ valid: true, code: "VALID", remaining: 3 });
    expect(outcome.checks).toEqual([
      { check: "exists", passed: true },
      { check: "enabled", passed: true },
      { check: "api", passed: true, apiId },
      { check: "expiry", passed: true, expires: NOON + DAY_MS },
      { check: "address", passed: true },
      { check: "permissions", passed: true },
      {
        check: "ratelimit",
        passed: true,
        name: "default",
        limit: 10,
        remaining: 10,
        cost: 1,
        reset: NOON + HOUR_MS,
      },
      {
        check: "uses",
        passed: true,
        from: "key",
        remaining: 5,
        cost: 2,
        nextRefillAt: NOON + DAY_MS / 2,
      },
    ]);
    expect(await ask()).toEqual(outcome);
    expect(await context.latchkey.getKey({ keyId })).toMatchObject({ remaining: 5 });
  });

  test("of an unknown secret is NOT_FOUND, with that as the only check", async () => {
    const { latchkey } = open();
    expect(await latchkey.verifyKey({ key: "no such key", dryRun: true })).toEqual({
      valid: false,
      code: "NOT_FOUND",
      checks: [{ check: "exists", passed: false }],
    });
  });

  test("names every failing check, not only the first", async () => {
    const context = open();
    const { key, keyId, apiId } = await issue(context, {
      remaining: 1,
      ratelimit: { limit: 1, duration: HOUR_MS },
    });
    await context.latchkey.verifyKey({ key });
    await context.latchkey.updateKey({ keyId, enabled: false });
    await context.latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] });
    const outcome = await context.latchkey.verifyKey({
      key,
      ipAddress: "198.51.100.7",
      authorization: { permissions: "tides.read" },
      dryRun: true,
    });
    expect(outcome).toMatchObject({ code: "DISABLED", remaining: 0 });
    expect(outcome).not.toHaveProperty("ratelimits");
    expect(failed(outcome.checks)).toEqual([
      { check: "enabled", passed: false },
      { check: "address", passed: false, ipAddress: "198.51.100.7" },
      { check: "permissions", passed: false, missing: "tides.read" },
      {
        check: "ratelimit",
        passed: false,
        name: "default",
        limit: 1,
        remaining: 0,
        cost: 1,
        reset: NOON + HOUR_MS,
        retryAfterMs: HOUR_MS,
      },
      { check: "uses", passed: false, from: "key", remaining: 0, cost: 1 },
    ]);
  });

  describe("right before the actual call gives the same verdict", () => {
    type Case = {
      readonly code: string;
      readonly ask?: object;
      readonly fields?: Parameters<typeof issue>[1];
      readonly before?: (
        latchkey: Parameters<typeof issue>[0]["latchkey"],
        ids: { readonly keyId: string; readonly apiId: string; readonly key: string },
      ) => Promise<unknown>;
    };
    const cases: readonly Case[] = [
      { code: "VALID", fields: { remaining: 1, ratelimit: { limit: 1, duration: HOUR_MS } } },
      {
        code: "DISABLED",
        before: (latchkey, { keyId }) => latchkey.updateKey({ keyId, enabled: false }),
      },
      { code: "FORBIDDEN", ask: { apiId: "api_other" }, fields: { remaining: 3 } },
      {
        code: "FORBIDDEN",
        before: (latchkey, { apiId }) => latchkey.updateApi({ apiId, ipWhitelist: ["::1"] }),
      },
      {
        code: "INSUFFICIENT_PERMISSIONS",
        ask: { authorization: { permissions: "tides.read" } },
        fields: { ratelimit: { limit: 1, duration: HOUR_MS } },
      },
      {
        code: "RATE_LIMITED",
        fields: { remaining: 9, ratelimit: { limit: 2, duration: HOUR_MS } },
        ask: {
          ratelimits: [
            { name: "default", cost: 3 },
            { name: "a", limit: 5, duration: 1_000 },
          ],
        },
      },
      { code: "USAGE_EXCEEDED", fields: { remaining: 1 }, ask: { remaining: { cost: 2 } } },
      {
        code: "USAGE_EXCEEDED",
        fields: { remaining: 1 },
        before: (latchkey, { key }) => latchkey.verifyKey({ key }),
      },
      { code: "NOT_FOUND", before: (latchkey, { keyId }) => latchkey.deleteKey({ keyId }) },
      // An unknown limit name is ignored if the records already refuse.
      {
        code: "DISABLED",
        ask: { ratelimits: [{ name: "nowhere" }] },
        before: (latchkey, { keyId }) => latchkey.updateKey({ keyId, enabled: false }),
      },
    ];

    test.each(cases)("$code %#", async ({ code, fields = {}, ask = {}, before }) => {
      const context = open();
      const ids = await issue(context, fields);
      await before?.(context.latchkey, ids);
      const { checks, ...verdict } = await context.latchkey.verifyKey({
        key: ids.key,
        ...ask,
        dryRun: true,
      });
      expect(verdict.code).toBe(code);
      expect(checks.length).toBeGreaterThan(0);
      expect(await context.latchkey.verifyKey({ key: ids.key, ...ask })).toEqual(verdict);
    });

    test("EXPIRED", async () => {
      const context = open();
      const { key } = await issue(context, { expires: NOON + 1_000 });
      context.advance(1_000);
      const { checks, ...verdict } = await context.latchkey.verifyKey({ key, dryRun: true });
      expect(failed(checks)).toEqual([{ check: "expiry", passed: false, expires: NOON + 1_000 }]);
      expect(await context.latchkey.verifyKey({ key })).toEqual(verdict);
    });
  });

  test("says how long to wait: after exactly that time, the verification is valid", async () => {
    const context = open();
    const { key } = await issue(context, {
      remaining: 1,
      refill: { interval: "daily", amount: 1 },
    });
    await context.latchkey.verifyKey({ key });
    const { checks } = await context.latchkey.verifyKey({ key, dryRun: true });
    const [uses] = failed(checks);
    const retryAfterMs = (uses as { readonly retryAfterMs: number }).retryAfterMs;
    context.advance(retryAfterMs - 1);
    expect((await context.latchkey.verifyKey({ key, dryRun: true })).code).toBe("USAGE_EXCEEDED");
    context.advance(1);
    expect((await context.latchkey.verifyKey({ key, dryRun: true })).code).toBe("VALID");
    expect(await context.latchkey.verifyKey({ key })).toMatchObject({ valid: true });
  });

  test("of a key that draws from its identity shows the shared uses", async () => {
    const context = open();
    await context.latchkey.createIdentity({ externalId: "pier-7", remaining: 4 });
    const { key } = await issue(context, { externalId: "pier-7", usesFrom: "identity" });
    await context.latchkey.verifyKey({ key });
    const { checks } = await context.latchkey.verifyKey({ key, dryRun: true });
    expect(checks.at(-1)).toEqual({
      check: "uses",
      passed: true,
      from: "identity",
      remaining: 3,
      cost: 1,
    });
  });

  test("leaves no trace: no event, no count, no last use, nothing under its request id", async () => {
    const context = open();
    const { keyId, key, apiId } = await issue(context, { remaining: 1 });
    const events: unknown[] = [];
    const latchkey = context.another({ onEvent: (event) => events.push(event) });
    await latchkey.verifyKey({ key, dryRun: true, requestId: "one" });
    await latchkey.verifyKey({ key: "no such key", dryRun: true });
    await latchkey.verifyKey({ key, requestId: "one", remaining: { cost: 0 }, dryRun: true });
    const range = { start: NOON, end: NOON + 1, granularity: "hour" } as const;
    expect(events).toEqual([]);
    expect(await latchkey.getVerifications({ apiId, ...range })).toEqual({
      verifications: [{ time: NOON, success: 0, rateLimited: 0, usageExceeded: 0, outcomes: {} }],
    });
    expect(await latchkey.getKey({ keyId })).not.toHaveProperty("lastUsedAt");
    expect(await latchkey.verifyKey({ key, requestId: "one" })).toMatchObject({ remaining: 0 });
    expect((await latchkey.verifyKey({ key, requestId: "one", dryRun: true })).code).toBe(
      "USAGE_EXCEEDED",
    );
  });

  test("reads the changes of other processes, not the cache", async () => {
    const context = open();
    const { key, keyId } = await issue(context, { remaining: 5 });
    await context.latchkey.verifyKey({ key });
    await context.another().updateRemaining({ keyId, op: "set", value: 2 });
    const { checks } = await context.latchkey.verifyKey({ key, dryRun: true });
    expect(checks.at(-1)).toMatchObject({ check: "uses", remaining: 2 });
  });

  test("fails like the actual call for an unknown limit", async () => {
    const context = open();
    const { key } = await issue(context);
    const unknown = { key, ratelimits: [{ name: "a", limit: 1, duration: 1 }, { name: "nope" }] };
    const dry = await rejectionOf(context.latchkey.verifyKey({ ...unknown, dryRun: true }));
    const wet = await rejectionOf(context.latchkey.verifyKey(unknown));
    expect(dry).toMatchObject({ code: "BAD_REQUEST", issues: wet.issues });
  });

  test("hides keys of other workspaces, and keys outside the caller's scope", async () => {
    const context = open();
    const { key } = await issue(context);
    const outcome = {
      valid: false,
      code: "NOT_FOUND",
      checks: [{ check: "exists", passed: false }],
    };
    expect(await context.latchkey.workspace("ws_2").verifyKey({ key, dryRun: true })).toEqual(
      outcome,
    );
    expect(
      await context.latchkey.verifyKey({ key, dryRun: true }, { apiIds: ["api_other"] }),
    ).toEqual(outcome);
  });
});
