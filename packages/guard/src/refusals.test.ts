import { describe, expect, test, vi } from "vitest";
import { writeChallenge } from "./challenge.js";
import { bearing, deciding, MINUTE_MS, open, refused, START } from "./testing/open.js";

const CHALLENGE = 'Bearer realm="api"';
const problem = "application/problem+json";

describe("a refusal", () => {
  test("without a key is 401 with a challenge that names no error", async () => {
    expect(refused(await deciding(await open())(bearing()))).toEqual({
      admitted: false,
      code: "KEY_MISSING",
      status: 401,
      headers: { "Content-Type": problem, "WWW-Authenticate": CHALLENGE },
      body: {
        title: "Unauthorized",
        status: 401,
        detail: "an API key is needed, in the header Authorization after Bearer, or in X-API-Key",
        code: "KEY_MISSING",
      },
      verdict: null,
    });
  });

  test("of a malformed key is 401 and says what is wrong with it, without repeating it", async () => {
    const { headers, ...refusal } = refused(
      await deciding(await open())(bearing("k1", { apiKey: ["k2"] })),
    );
    expect(refusal).toMatchObject({
      code: "KEY_MALFORMED",
      status: 401,
      body: { detail: "two different API keys were sent" },
    });
    expect(headers["WWW-Authenticate"]).toBe(
      `${CHALLENGE}, error="invalid_token", error_description="two different API keys were sent"`,
    );
  });

  test("of a key that is unknown, disabled or expired is 401, invalid_token", async () => {
    const context = await open();
    const { latchkey, issue } = context;
    const expiring = await issue({ expires: START + 1 });
    context.advance(1);
    const decide = deciding(context);
    for (const [key, code, detail] of [
      ["no-such-key", "NOT_FOUND", "the API key is not valid"],
      [await issue({ enabled: false }), "DISABLED", "the API key is disabled"],
      [expiring, "EXPIRED", "the API key has expired"],
    ] as const) {
      const refusal = refused(await decide(bearing(key)));
      expect(refusal).toMatchObject({
        code,
        status: 401,
        body: { code, detail },
        verdict: { code },
      });
      expect(refusal.headers["WWW-Authenticate"]).toBe(
        `${CHALLENGE}, error="invalid_token", error_description="${detail}"`,
      );
    }
    await latchkey.close();
  });

  test("of a key of another API, or from another address, is 403 without a challenge", async () => {
    const context = await open();
    const { apiId, issue } = context;
    const key = await issue();
    await context.latchkey.updateApi({ apiId, ipWhitelist: ["192.0.2.0/24"] });
    expect(await deciding(context)(bearing(key))).toMatchObject({ admitted: true });
    const away = { remoteAddress: "203.0.113.1" };
    for (const decision of [
      await deciding(context, { apiId: "api_other" })(bearing(key)),
      await deciding(context)(bearing(key, away)),
      await deciding(context)(bearing(key, { remoteAddress: null })),
      await deciding(context)(bearing(key, { ...away, forwardedFor: ["192.0.2.7"] })),
      await deciding(context, {}, { trustProxy: 1 })(bearing(key, { forwardedFor: ["unknown"] })),
      await deciding(context, {}, { getAddress: () => "no address" })(bearing(key)),
    ]) {
      const refusal = refused(decision);
      expect(refusal).toMatchObject({
        code: "FORBIDDEN",
        status: 403,
        body: { title: "Forbidden" },
      });
      expect(refusal.headers).toEqual({ "Content-Type": problem });
    }
    expect(
      await deciding(context, {}, { getAddress: () => "192.0.2.9:443" })(bearing(key, away)),
    ).toMatchObject({ admitted: true });
  });

  test("for missing permissions is 403 and names them, as scopes if all are needed", async () => {
    const context = await open();
    const key = await context.issue({ permissions: ["tiles.read"] });
    const refuse = async (
      permissions: NonNullable<Parameters<typeof deciding>[1]>["permissions"],
    ) => refused(await deciding(context, { permissions: permissions ?? "" })(bearing(key)));
    const all = await refuse({ and: ["tiles.read", "tiles.write", "tiles.delete"] });
    const insufficient = `${CHALLENGE}, error="insufficient_scope", error_description="the API key lacks permissions"`;
    expect([all.status, all.body.missing]).toEqual([403, { and: ["tiles.write", "tiles.delete"] }]);
    expect(all.headers["WWW-Authenticate"]).toBe(
      `${insufficient}, scope="tiles.write tiles.delete"`,
    );
    const any = await refuse({ or: ["tiles.write", "tiles.delete"] });
    expect(any.body.missing).toEqual({ or: ["tiles.write", "tiles.delete"] });
    expect(any.headers["WWW-Authenticate"]).toBe(insufficient);
  });

  test("has only valid scopes in its challenge", () => {
    expect(writeChallenge("insufficient_scope", "no", 'tiles "of" März\r\nX: 1')).toBe(
      `${CHALLENGE}, error="insufficient_scope", error_description="no"`,
    );
  });

  test("for a rate limit is 429 with Retry-After and the fields of the limits", async () => {
    const context = await open();
    const key = await context.issue({ ratelimit: { limit: 1, duration: MINUTE_MS } });
    const decide = deciding(context);
    await decide(bearing(key));
    expect(refused(await decide(bearing(key)))).toMatchObject({
      status: 429,
      headers: {
        "Content-Type": problem,
        "Retry-After": "50",
        "RateLimit-Policy": '"default";q=1;w=60',
        RateLimit: '"default";r=0;t=50',
      },
      body: { title: "Too Many Requests", code: "RATE_LIMITED", retryAfterMs: 50_000 },
    });
    context.advance(49_001);
    expect(refused(await decide(bearing(key))).headers["Retry-After"]).toBe("1");
    context.advance(999);
    expect(await decide(bearing(key))).toMatchObject({ admitted: true });
  });

  test("that waiting does not help has no Retry-After", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 1 });
    const refusal = refused(await deciding(context, { cost: 2 })(bearing(key)));
    expect(refusal.headers).not.toHaveProperty("Retry-After");
    expect(refusal.body).not.toHaveProperty("retryAfterMs");
  });

  test.each([429, 402] as const)(
    "for too few uses is %i, with the time until the refill",
    async (usedUpStatus) => {
      const context = await open();
      const key = await context.issue({ remaining: 1, refill: { interval: "daily", amount: 1 } });
      const decide = deciding(context, {}, { usedUpStatus });
      await decide(bearing(key));
      expect(refused(await decide(bearing(key)))).toMatchObject({
        code: "USAGE_EXCEEDED",
        status: usedUpStatus,
        headers: { "Retry-After": "43190" },
        body: { status: usedUpStatus, retryAfterMs: 43_190_000 },
      });
    },
  );

  test("in a disabled workspace is 403, and is not reported as a failure", async () => {
    const context = await open();
    const key = await context.issue();
    await context.latchkey.setWorkspaceEnabled(false);
    const onError = vi.fn();
    expect(refused(await deciding(context, {}, { onError })(bearing(key))).status).toBe(403);
    expect(onError).not.toHaveBeenCalled();
  });
});
