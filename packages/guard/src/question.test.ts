import { describe, expect, test, vi } from "vitest";
import { createDecision } from "./decide.js";
import type { GuardOptions } from "./options.js";
import type { GuardQuestion } from "./question.js";
import { describeOnEveryStore, describeOnMemoryOrAll } from "./testing/every-store.js";
import {
  bearing,
  deciding,
  MINUTE_MS,
  open,
  refused,
  type TestContext,
  type TestRequest,
} from "./testing/open.js";
import { readList } from "./testing/read-list.js";

class Question {
  get permissions() {
    return "tiles.write";
  }
}

describe("a question that could require less than it seems to is refused", () => {
  test.each([
    ["apiId", { apiId: undefined }],
    ["permissions", { permissions: undefined, cost: 2 }],
    ["ratelimits", { ratelimits: undefined }],
    ["ratelimits.0.limit", { ratelimits: [{ name: "a", limit: undefined, duration: undefined }] }],
    ["apiId", Object.create({ apiId: "api_1" })],
    ["optional", Object.create({ optional: true })],
    ["optional", Object.assign(Object.create({ optional: true }), { cost: 1 })],
    ["permissions", new Question()],
    ["ratelimits.0.cost", { ratelimits: [Object.create({ cost: 0 })] }],
  ])("%s is named by a TypeError", async (field, question) => {
    const { latchkey } = await open();
    const make = () => createDecision(latchkey)(question as never);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(`"${field}" must`);
  });

  test.each([
    ["tiles", '"ratelimits" must be a list of limits'],
    [{ name: "tiles" }, '"ratelimits" must be a list of limits'],
    [null, '"ratelimits" must be a list of limits'],
    [["tiles"], '"ratelimits.0" must be an object'],
    [[{ name: "a", fallback: true }], '"ratelimits.0.fallback" is not a field of a limit'],
    [[{ name: "a" }, { name: "b", costs: 1 }], '"ratelimits.1.costs" is not'],
  ])("ratelimits: %j", async (ratelimits, message) => {
    const { latchkey } = await open();
    expect(() => createDecision(latchkey)({ ratelimits } as never)).toThrow(
      expect.objectContaining({ name: "TypeError", message: expect.stringContaining(message) }),
    );
  });

  test.each([
    [{ limit: 5 }, "ratelimits.0.duration"],
    [{ duration: "1m" }, "ratelimits.0.limit"],
    [{ limit: 0, duration: "1m" }, "ratelimits.0.limit"],
    [{ limit: 5, duration: "a minute" }, "ratelimits.0.duration"],
  ])("a limit with %j", async (figures, field) => {
    const { latchkey } = await open();
    const question = { ratelimits: [{ name: "a", ...figures }] } as never;
    expect(() => createDecision(latchkey)(question)).toThrow(`"${field}"`);
  });
});

test("a question may leave fields out, and cost and optional may be undefined", async () => {
  const context = await open();
  const key = await context.issue();
  for (const question of [undefined, {}, { cost: undefined, optional: undefined }])
    expect(
      await createDecision(context.latchkey)(question as never)(bearing(key), null),
    ).toMatchObject({ admitted: true });
});

test.each([
  ["cost", { cost: () => -1 }],
  ["cost", { cost: async () => "1" as never }],
  ["ratelimits.0.cost", { ratelimits: [{ name: "bulk", cost: () => Number.NaN }] }],
] satisfies [string, GuardQuestion<TestRequest>][])(
  "an error about a function that returns an invalid cost names its field: %s",
  async (field, question) => {
    const context = await open();
    const key = await context.issue({
      ratelimits: [{ name: "bulk", limit: 9, duration: MINUTE_MS }],
    });
    const onError = vi.fn();
    expect(refused(await deciding(context, question, { onError })(bearing(key))).status).toBe(500);
    expect(String(onError.mock.calls[0]?.[0])).toContain(`"${field}" must be a whole number >= 0`);
  },
);

describeOnMemoryOrAll("a limit of a route", (openStore) => {
  const limits = async (
    context: TestContext,
    key: string,
    question: GuardQuestion<TestRequest>,
    options?: GuardOptions<TestRequest>,
  ) => {
    const { headers } = await deciding(context, question, options)(bearing(key));
    return readList(headers["RateLimit-Policy"] ?? "x").map(({ text, parameters }) => [
      text,
      parameters.q,
    ]);
  };

  test("with figures applies if neither the key nor its identity has one of that name", async () => {
    const context = await open(openStore());
    const { latchkey, issue } = context;
    const limit = { name: "tiles", limit: 3, duration: MINUTE_MS } as const;
    await latchkey.createIdentity({
      externalId: "user_1",
      ratelimits: [{ ...limit, limit: 7 }],
    });
    const question = {
      ratelimits: [{ name: "tiles", limit: 2, duration: "1m", cost: 2 }],
    } as const;
    const own = await issue({ ratelimits: [limit] });
    expect(await limits(context, own, question)).toEqual([["tiles", 3]]);
    const shared = await issue({ externalId: "user_1" });
    expect(await limits(context, shared, question)).toEqual([["tiles", 7]]);
    const neither = await issue();
    expect(await limits(context, neither, question)).toEqual([["tiles", 2]]);
    expect(refused(await deciding(context, question)(bearing(neither)))).toMatchObject({
      code: "RATE_LIMITED",
      headers: { "Retry-After": "50" },
    });
    context.advance(50_000);
    expect(await deciding(context, question)(bearing(neither))).toMatchObject({ admitted: true });
  });

  test("without figures, which the key does not have, is a 500 whose error names the key and the limit", async () => {
    const context = await open(openStore());
    const key = await context.issue();
    const { id: keyId } = await context.latchkey.whoami({ key });
    const onError = vi.fn();
    for (const cost of [1, () => 1]) {
      const question = { ratelimits: [{ name: "tiles", cost }] };
      const decision = await deciding(context, question, { onError })(bearing(key));
      expect(refused(decision).status).toBe(500);
      expect(onError).toHaveBeenLastCalledWith(
        expect.objectContaining({
          code: "BAD_REQUEST",
          reason: "unknown-limit",
          details: { keyId, name: "tiles" },
        }),
        { tiles: 1 },
      );
    }
  });

  test("without figures is skipped if the guard allows that and the key does not have it", async () => {
    const context = await open(openStore());
    const question = { ratelimits: [{ name: "tiles", cost: 2 }] };
    const options = { unknownLimit: "skip" } as const;
    expect(
      await deciding(context, question, options)(bearing(await context.issue())),
    ).toMatchObject({
      admitted: true,
      headers: {},
    });
    const limited = await context.issue({
      ratelimits: [{ name: "tiles", limit: 3, duration: MINUTE_MS }],
    });
    expect(await limits(context, limited, question, options)).toEqual([["tiles", 3]]);
    expect(refused(await deciding(context, question, options)(bearing(limited))).code).toBe(
      "RATE_LIMITED",
    );
  });
});

describeOnEveryStore("a limit of a route", (openStore) => {
  test("with figures is exact for concurrent requests whose cost depends on the request", async () => {
    const context = await open(openStore());
    const key = await context.issue();
    const decide = deciding(context, {
      ratelimits: [{ name: "tiles", limit: 20, duration: "1m", cost: ({ tiles }) => tiles }],
    });
    const decisions = await Promise.all(
      Array.from({ length: 15 }, () => decide(bearing(key), { tiles: 2 })),
    );
    expect(decisions.filter(({ admitted }) => admitted)).toHaveLength(10);
  });
});

test("verifyKey is unaffected: figures of a request win, and undefined means absent", async () => {
  const { latchkey, issue } = await open();
  const key = await issue({ ratelimits: [{ name: "tiles", limit: 9, duration: MINUTE_MS }] });
  const verdict = await latchkey.verifyKey({
    key,
    apiId: undefined,
    authorization: undefined,
    ratelimits: [{ name: "tiles", limit: 2, duration: "1m" }],
  });
  expect(verdict).toMatchObject({ code: "VALID", ratelimits: [{ name: "tiles", limit: 2 }] });
});
