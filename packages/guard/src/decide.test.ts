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
  type TestRequest,
} from "./testing/open.js";
import { readList } from "./testing/read-list.js";

const CHALLENGE = 'Bearer realm="api"';
const problem = "application/problem+json";

describe("an admission", () => {
  test("contains the verdict, and header fields of every evaluated limit", async () => {
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

  test("adds no header for a key without limits", async () => {
    const context = await open();
    expect(await deciding(context)(bearing(await context.issue()))).toMatchObject({
      admitted: true,
      headers: {},
    });
  });

  test("applies the question's figures to a key without that limit, and a shadow limit only counts", async () => {
    const context = await open();
    const figures = { limit: 5, duration: 1_000, algorithm: "token-bucket", burst: 2 } as const;
    const once = { name: "once", limit: 1, duration: MINUTE_MS, algorithm: "sliding" } as const;
    const decide = deciding(context, {
      ratelimits: [
        { name: "tiles", ...figures },
        { ...once, shadow: true },
      ],
    });
    const key = await context.issue();
    expect((await decide(bearing(key))).headers).toEqual({
      "RateLimit-Policy": '"tiles";q=2;w=1',
      RateLimit: '"tiles";r=1;t=1',
    });
    expect(await decide(bearing(key))).toMatchObject({
      admitted: true,
      apiKey: { ratelimits: [{ name: "tiles" }, { name: "once", shadow: true, exceeded: true }] },
    });
    expect(refused(await decide(bearing(key)))).toMatchObject({
      status: 429,
      headers: { "Retry-After": "1" },
    });
    context.advance(200);
    expect(await decide(bearing(key))).toMatchObject({ admitted: true });
  });

  test("can have a cost that depends on the request", async () => {
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

  test("without a key happens only if the key is optional, and its apiKey is null", async () => {
    const context = await open();
    const decide = deciding(context, { optional: true });
    expect(await decide(bearing())).toEqual({ admitted: true, apiKey: null, headers: {} });
    expect(refused(await decide(bearing("no-such-key"))).code).toBe("NOT_FOUND");
    expect(refused(await decide(bearing(""))).code).toBe("KEY_MALFORMED");
  });
});

describe("a failure is a refusal", () => {
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

  test("a store that does not answer: 503 with Retry-After, and onError is called", async () => {
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
    ["a getAddress that rejects", {}, { getAddress: () => Promise.reject(new Error("secret")) }],
    [
      "a cost that rejects beside one that throws",
      {
        cost: () => Promise.reject(new Error("secret")),
        ratelimits: [
          {
            name: "bulk",
            cost: () => {
              throw new Error("secret");
            },
          },
        ],
      },
      {},
    ],
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
    ["answers a header that ends in a line end", () => ({ headers: { Location: "x\n" } })],
    ["answers a header that is undefined", () => ({ headers: { Location: undefined as never } })],
    ["answers a header without a name", () => ({ headers: { "": "x" } })],
    ["answers headers that are none", () => ({ headers: null as never })],
    ["answers Headers", () => ({ headers: new Headers({ Location: "x" }) as never })],
    ["writes a header with a line end", ({ headers }) => void Object.assign(headers, { A: "x\n" })],
    ["answers a body that is no JSON", () => ({ body: { one: 1n } })],
    ["answers a body that is no object", () => ({ body: (() => 1) as never })],
  ])("a hook that %s: 500", async (_what, onRefusal) => {
    const context = await open();
    const onError = vi.fn();
    const decide = deciding(context, {}, { ...(onRefusal && { onRefusal }), onError });
    expect(refused(await decide(bearing()))).toMatchObject(nothing);
    expect(onError).toHaveBeenCalledOnce();
  });

  test("an error whose getters throw: 500, and onError is called with it", async () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error("not to be read");
        },
        getPrototypeOf: () => {
          throw new Error("not to be asked");
        },
      },
    );
    const onError = vi.fn();
    const getKey = () => {
      throw hostile;
    };
    const decision = await deciding(await open(), {}, { getKey, onError })(bearing());
    expect(decision).toMatchObject({ admitted: false, status: 500 });
    expect(onError.mock.calls.map(([error]) => error === hostile)).toEqual([true]);
  });

  test("an onError that throws or rejects changes nothing", async () => {
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

  test("without onError the error is printed, without any secret", async () => {
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
  test("can be the contract's error body", async () => {
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
        message: "an API key is needed, in the header Authorization after Bearer, or in X-API-Key",
        requestId: headers["X-Request-Id"],
      },
    });
    await decide(bearing(key));
    expect(refused(await decide(bearing(key))).body.error).toMatchObject({ code: "RATE_LIMITED" });
  });

  test("names missing permissions in both forms", async () => {
    const context = await open();
    const key = await context.issue({ permissions: ["tiles.read"] });
    const missing = "tiles.write";
    for (const [problem, body] of [
      ["problem+json", { code: "INSUFFICIENT_PERMISSIONS", missing }],
      ["contract", { error: { code: "INSUFFICIENT_PERMISSIONS", missing } }],
    ] as const) {
      const question = { permissions: { and: ["tiles.read", "tiles.write"] } };
      const decision = await deciding(context, question, { problem })(bearing(key));
      expect(refused(decision).body).toMatchObject(body);
    }
  });

  test("can be changed by a hook, which gets the refusal and the request", async () => {
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

  test("stays unchanged if the hook returns nothing, and a hook cannot admit", async () => {
    const context = await open();
    const hook = { admitted: true, apiKey: {} } as never;
    for (const onRefusal of [() => undefined, () => hook])
      expect(await deciding(context, {}, { onRefusal })(bearing())).toMatchObject({
        admitted: false,
        status: 401,
      });
  });
});

describe("the host's getKey", () => {
  test("replaces both headers", async () => {
    const context = await open();
    const key = await context.issue();
    const withKey = (found: unknown) =>
      deciding(context, {}, { getKey: async () => found as string });
    expect(await withKey(key)(bearing())).toMatchObject({ admitted: true });
    expect(refused(await withKey(null)(bearing(key)))).toMatchObject({
      code: "KEY_MISSING",
      body: { detail: "an API key is needed" },
    });
    expect(refused(await withKey([key, key])(bearing(key))).code).toBe("KEY_MALFORMED");
  });
});
