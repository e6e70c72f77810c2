import { describe, expect, test, vi } from "vitest";
import { createDecision } from "./decide.js";
import type { GuardOptions } from "./options.js";
import {
  bearing,
  DAY_MS,
  deciding,
  MINUTE_MS,
  open,
  refused,
  START,
  type TestRequest,
} from "./testing/open.js";
import { readList } from "./testing/read-list.js";

const CHALLENGE = 'Bearer realm="api"';
const problem = "application/problem+json";

describe("an admission", () => {
  test("carries the verdict, and the fields of every limit that was evaluated", async () => {
    const context = await open();
    const key = await context.issue({
      remaining: 5,
      ratelimit: { limit: 10, duration: MINUTE_MS },
      ratelimits: [{ name: "bulk", limit: 4, duration: DAY_MS }],
    });
    const decide = deciding(context, { cost: 2, ratelimits: [{ name: "bulk", cost: 3 }] });
    expect(await decide(bearing(key))).toEqual({
      admitted: true,
      apiKey: expect.objectContaining({ valid: true, code: "VALID", remaining: 3 }),
      headers: {
        "RateLimit-Policy": '"default";q=10;w=60, "bulk";q=4;w=86400',
        RateLimit: '"default";r=9;t=50, "bulk";r=1;t=43190',
      },
    });
  });

  test("of a key without limits adds no header", async () => {
    const context = await open();
    expect(await deciding(context)(bearing(await context.issue()))).toMatchObject({
      admitted: true,
      headers: {},
    });
  });

  test("may cost what the request says", async () => {
    const context = await open();
    const key = await context.issue({
      remaining: 9,
      ratelimits: [{ name: "bulk", limit: 9, duration: DAY_MS, autoApply: false }],
    });
    const decide = deciding(context, {
      cost: ({ tiles }) => tiles,
      ratelimits: [{ name: "bulk", cost: async ({ tiles }) => tiles * 2 }],
    });
    const decision = await decide(bearing(key), { tiles: 4 });
    expect(decision).toMatchObject({ admitted: true, apiKey: { remaining: 5 } });
    expect(readList(decision.headers.RateLimit ?? "")).toEqual([
      { text: "bulk", parameters: { r: 1, t: 43_190 } },
    ]);
    expect(refused(await decide(bearing(key), { tiles: 6 })).status).toBe(429);
  });

  test("without a key only where it is optional, and then says so", async () => {
    const context = await open();
    const decide = deciding(context, { optional: true });
    expect(await decide(bearing())).toEqual({ admitted: true, apiKey: null, headers: {} });
    expect(refused(await decide(bearing("no-such-key"))).code).toBe("NOT_FOUND");
    expect(refused(await decide(bearing(""))).code).toBe("KEY_MALFORMED");
  });
});

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
        detail: "an API key is needed",
        code: "KEY_MISSING",
      },
      verdict: null,
    });
  });

  test("of what is no key is 401 and says what is wrong with it, without repeating it", async () => {
    const { headers, ...refusal } = refused(
      await deciding(await open())(bearing("k1", { apiKey: ["k2"] })),
    );
    expect(refusal).toMatchObject({
      code: "KEY_MALFORMED",
      status: 401,
      body: { detail: "two API keys that differ were sent" },
    });
    expect(headers["WWW-Authenticate"]).toBe(
      `${CHALLENGE}, error="invalid_token", error_description="two API keys that differ were sent"`,
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

  test("for want of permissions is 403 and names the missing ones, as scopes where all are needed", async () => {
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
    const unfit = await refuse('tiles "of" März\r\nX: 1');
    expect(unfit.headers["WWW-Authenticate"]).toBe(insufficient);
  });

  test("by a limit is 429 with Retry-After and the fields of the limits", async () => {
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

  test("that waiting does not mend has no Retry-After", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 1 });
    const refusal = refused(await deciding(context, { cost: 2 })(bearing(key)));
    expect(refusal.headers).not.toHaveProperty("Retry-After");
    expect(refusal.body).not.toHaveProperty("retryAfterMs");
  });

  test.each([429, 402] as const)(
    "for want of uses is %i, with the time until the refill",
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

  test("in a disabled workspace is 403, and no failure", async () => {
    const context = await open();
    const key = await context.issue();
    await context.latchkey.setWorkspaceEnabled(false);
    const onError = vi.fn();
    expect(refused(await deciding(context, {}, { onError })(bearing(key))).status).toBe(403);
    expect(onError).not.toHaveBeenCalled();
  });
});

describe("what fails is a refusal", () => {
  const failing = async (
    question: Parameters<typeof deciding>[1],
    options: GuardOptions<TestRequest> = {},
  ) => {
    const context = await open();
    const key = await context.issue();
    const onError = vi.fn();
    const refusal = refused(
      await deciding(context, question, { onError, ...options })(bearing(key)),
    );
    return { refusal, onError };
  };
  const nothing = {
    code: "INTERNAL_SERVER_ERROR",
    status: 500,
    headers: { "Content-Type": problem },
    body: {
      title: "Internal Server Error",
      status: 500,
      detail: "something went wrong",
      code: "INTERNAL_SERVER_ERROR",
    },
  };

  test("a store that does not answer: 503 with Retry-After, and the host hears of it", async () => {
    const context = await open();
    const key = await context.issue();
    await context.latchkey.close();
    const onError = vi.fn();
    const request = { tiles: 3 };
    const decide = deciding(context, {}, { onError });
    expect(refused(await decide(bearing(key), request))).toMatchObject({
      code: "STORE_UNAVAILABLE",
      status: 503,
      headers: { "Retry-After": "1" },
    });
    expect(onError).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: "STORE_UNAVAILABLE" }),
      request,
    );
  });

  test.each<[string, Parameters<typeof deciding>[1], GuardOptions<TestRequest>]>([
    ["a limit that nothing configures", { ratelimits: [{ name: "none" }] }, {}],
    ["a cost that is no whole number", { cost: () => Number.NaN }, {}],
    [
      "a cost that throws",
      {
        cost: () => {
          throw new Error("secret of the host");
        },
      },
      {},
    ],
    ["a getKey that rejects", {}, { getKey: () => Promise.reject(new Error("secret")) }],
    [
      "a getAddress that throws",
      {},
      {
        getAddress: () => {
          throw new Error("secret");
        },
      },
    ],
  ])(
    "%s: 500 that tells the client nothing, and the host everything",
    async (_what, question, options) => {
      const { refusal, onError } = await failing(question, options);
      expect(refusal).toMatchObject(nothing);
      expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(Error), { tiles: 1 });
    },
  );

  test.each<[string, GuardOptions<TestRequest>["onRefusal"]]>([
    ["throws", () => Promise.reject(new Error("secret"))],
    ["answers a status that is none", () => ({ status: 99 })],
    ["answers a header with a line end", () => ({ headers: { Location: "x\r\nSet-Cookie: a" } })],
    ["answers a body that is no JSON", () => ({ body: { one: 1n } })],
    ["answers a body that is no object", () => ({ body: (() => 1) as never })],
  ])("a hook that %s: 500", async (_what, onRefusal) => {
    const context = await open();
    const onError = vi.fn();
    const decide = deciding(context, {}, { ...(onRefusal && { onRefusal }), onError });
    expect(refused(await decide(bearing()))).toMatchObject(nothing);
    expect(onError).toHaveBeenCalledOnce();
  });

  test("a listener that throws or rejects changes nothing", async () => {
    for (const onError of [
      () => Promise.reject(new Error("log is full")),
      () => {
        throw new Error("log is full");
      },
    ])
      expect(
        (await failing({ ratelimits: [{ name: "none" }] }, { onError })).refusal,
      ).toMatchObject(nothing);
  });

  test("without a listener the error is printed, and no secret with it", async () => {
    const print = vi.spyOn(console, "error").mockImplementation(() => undefined);
    const context = await open();
    const key = await context.issue();
    await createDecision(context.latchkey)({ ratelimits: [{ name: "none" }] })(bearing(key), null);
    const printed = print.mock.calls.flat().map(String).join();
    print.mockRestore();
    expect(printed).toContain("ratelimits.0.name");
    expect(printed).not.toContain(key);
  });
});

describe("the form of a refusal", () => {
  test("may be the contract's error body", async () => {
    const context = await open();
    const key = await context.issue({ remaining: 1 });
    const decide = deciding(context, {}, { problem: "contract" });
    const { headers, body } = refused(await decide(bearing()));
    expect(headers).toMatchObject({
      "Content-Type": "application/json",
      "X-Request-Id": expect.stringMatching(/^req_/),
    });
    expect(body).toEqual({
      error: {
        code: "UNAUTHORIZED",
        message: "an API key is needed",
        requestId: headers["X-Request-Id"],
      },
    });
    await decide(bearing(key));
    expect(refused(await decide(bearing(key))).body.error).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("may be changed by a hook, which sees the refusal and the request", async () => {
    const context = await open();
    const onRefusal = vi.fn<NonNullable<GuardOptions<TestRequest>["onRefusal"]>>(
      ({ headers, code }) => ({
        status: 404,
        headers: { ...headers, "X-Code": code },
        body: "gone",
      }),
    );
    const decision = await deciding(context, {}, { onRefusal })(bearing(), { tiles: 3 });
    expect(decision).toMatchObject({
      admitted: false,
      status: 404,
      headers: { "WWW-Authenticate": CHALLENGE, "X-Code": "KEY_MISSING" },
      body: "gone",
    });
    expect(onRefusal).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ code: "KEY_MISSING", status: 401, verdict: null }),
      { tiles: 3 },
    );
  });

  test("stays where the hook only looks, and a hook cannot admit", async () => {
    const context = await open();
    const hook = { admitted: true, apiKey: {} } as never;
    for (const onRefusal of [() => undefined, () => hook])
      expect(await deciding(context, {}, { onRefusal })(bearing())).toMatchObject({
        admitted: false,
        status: 401,
      });
  });
});

describe("the host's way to find the key", () => {
  test("takes the place of both headers", async () => {
    const context = await open();
    const key = await context.issue();
    const withKey = (found: unknown) =>
      deciding(context, {}, { getKey: async () => found as string });
    expect(await withKey(key)(bearing())).toMatchObject({ admitted: true });
    expect(refused(await withKey(null)(bearing(key))).code).toBe("KEY_MISSING");
    expect(refused(await withKey([key, key])(bearing(key))).code).toBe("KEY_MALFORMED");
  });
});
