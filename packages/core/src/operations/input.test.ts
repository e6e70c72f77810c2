import { describe, expect, test } from "vitest";
import { z } from "zod";
import { LatchkeyError } from "../errors.js";
import { parseInput } from "../lib/parse-input.js";
import { grantName, metadata, pageInput, prefix, text, wholeNumber } from "./input.js";
import { createKeyInput } from "./keys/create-key.js";
import { identityRatelimits } from "./limit-input.js";
import { refill } from "./uses-and-refill.js";
import { verifyKeyInput } from "./verify-key/input.js";

function issuesOf(schema: z.ZodType, value: unknown): readonly unknown[] {
  return issuesOfInput(z.strictObject({ field: schema }), { field: value });
}

function issuesOfInput(schema: z.ZodType, input: unknown): readonly unknown[] {
  try {
    parseInput(schema, input);
    return [];
  } catch (error) {
    if (error instanceof LatchkeyError && error.code === "BAD_REQUEST") return error.issues;
    throw error;
  }
}

describe("an input", () => {
  test("that is not an object is refused as a whole", () => {
    for (const input of [null, undefined, 7, "x", [], true]) {
      expect(() => parseInput(z.strictObject({}), input)).toThrow(LatchkeyError);
    }
  });

  test("with a field that is not known is refused by its name, at any depth", () => {
    const schema = z.strictObject({ outer: z.strictObject({}) });
    expect(() => parseInput(schema, { outer: { expire: 1 }, remaning: 1 })).toThrow(
      '"outer.expire" is not a known field; "remaning" is not a known field',
    );
  });

  test("with a field that belongs one level down is refused with its place", () => {
    const costed = z.strictObject({ cost: z.number() });
    const schema = z.strictObject({
      remaining: costed.optional(),
      limit: costed.default({ cost: 1 }),
    });
    expect(() => parseInput(schema, { cost: 5, costs: 5, constructor: 5 })).toThrow(
      '"cost" is not a known field: use "remaining.cost"; "costs" is not a known field; "constructor" is not a known field',
    );
    expect(issuesOfInput(schema, { remaining: { cost: 1, limit: 5 } })).toMatchObject([
      { path: "remaining.limit", message: "is not a known field" },
    ]);
  });

  test.each([
    ["createKey", createKeyInput, "external_id", "externalId"],
    ["createKey", createKeyInput, "apiID", "apiId"],
    ["createKey", createKeyInput, "rateLimit", "ratelimit"],
    ["createKey", createKeyInput, "rateLimits", "ratelimits"],
    ["createKey", createKeyInput, "permission", "permissions"],
    ["createKey", createKeyInput, "scopes", "permissions"],
    ["createKey", createKeyInput, "metadata", "meta"],
    ["createKey", createKeyInput, "expiresAt", "expires"],
    ["createKey", createKeyInput, "userId", "externalId"],
    ["createKey", createKeyInput, "credits", "remaining"],
    ["createKey", createKeyInput, "refillDay", "refill.refillDay"],
    ["verifyKey", verifyKeyInput, "apiKey", "key"],
    ["verifyKey", verifyKeyInput, "ip", "ipAddress"],
  ])("of %s with a name like that of a field says which: %3$s", (_name, schema, given, meant) => {
    expect(issuesOfInput(schema, { [given]: 1 })).toContainEqual({
      path: given,
      message: `is not a known field: use "${meant}"`,
    });
  });

  test("with a name like that of a field further down says the whole path", () => {
    const input = {
      apiId: "api_1",
      remaining: 1,
      refill: { every: "90m", amount: 1, carry_over: 2 },
      ratelimits: [{ name: "calls", max: 1, window: "1m" }],
    };
    const paths = [
      "refill.interval.every",
      "refill.carryOver",
      "ratelimits.0.limit",
      "ratelimits.0.duration",
    ];
    expect(issuesOfInput(createKeyInput, input)).toEqual(
      expect.arrayContaining(
        paths.map((path) =>
          expect.objectContaining({ message: `is not a known field: use "${path}"` }),
        ),
      ),
    );
  });

  test.each(["identityId", "role", "name_s", "constructor", "__proto__x", "s", ""])(
    "with the name %j, which could be none or several, gets no suggestion",
    (name) => {
      const schema = z.strictObject({ ro_le: z.number(), rol_e: z.number(), named: z.number() });
      expect(issuesOfInput(schema, { ro_le: 1, rol_e: 1, named: 1, [name]: 1 })).toEqual([
        { path: name, message: "is not a known field" },
      ]);
    },
  );

  test("with very many unknown fields gets suggestions for the first hundred", () => {
    const input = Object.fromEntries(
      Array.from({ length: 200 }, (_, index) => [`k${"_".repeat(index + 1)}ey`, 1]),
    );
    const issues = issuesOfInput(verifyKeyInput, { key: "k", ...input });
    expect(issues.filter((issue) => JSON.stringify(issue).includes("use"))).toHaveLength(100);
  });

  test("with anything but an object is told what that needs, at any depth", () => {
    const input = { key: "k", remaining: 2, ratelimits: ["calls"] };
    expect(issuesOfInput(verifyKeyInput, input)).toEqual(
      expect.arrayContaining([
        { path: "remaining", message: "must be an object: { cost }" },
        { path: "ratelimits.0", message: "must be an object: { name }" },
      ]),
    );
  });

  test("that is no object is told which fields it needs", () => {
    expect(issuesOfInput(verifyKeyInput, "a secret")).toEqual([
      { path: "", message: "the input must be an object: { key }" },
    ]);
    expect(issuesOfInput(pageInput, 5)).toEqual([
      { path: "", message: "the input must be an object" },
    ]);
  });

  test("of verifyKey says where the options of a guard belong", () => {
    expect(() =>
      parseInput(verifyKeyInput, { key: "k", cost: 5, permissions: "tiles.read" }),
    ).toThrow(/"remaining\.cost"; .*"authorization\.permissions"/);
  });

  test("shows only the start of a name that is too long for a field: it may be a secret", () => {
    const schema = z.strictObject({ outer: z.strictObject({}).optional() });
    const [short, long] = ["x".repeat(24), "x".repeat(25)];
    expect(issuesOfInput(schema, { [short]: 1 })).toMatchObject([{ path: short }]);
    for (const path of [long, "x".repeat(257)])
      expect(issuesOfInput(schema, { [path]: 1 })).toMatchObject([{ path: "xxxxxxxx…" }]);
    expect(issuesOfInput(schema, { outer: { [long]: 1 } })).toMatchObject([
      { path: "outer.xxxxxxxx…" },
    ]);
  });

  test("shows at most 256 characters of a path", () => {
    const path = "x.".repeat(200);
    const repeated = `${path.slice(0, 256)}…`;
    expect(issuesOfInput(z.strictObject({}), { [path]: 1 })).toMatchObject([{ path: repeated }]);
  });

  test("that lacks a field is refused: the field is required", () => {
    expect(issuesOf(text(1, 5), undefined)).toEqual([{ path: "field", message: "is required" }]);
  });

  test("is never quoted in its issues", () => {
    const secret = "lk_live_very_secret";
    for (const schema of [
      text(1, 3),
      wholeNumber(1),
      prefix,
      refill,
      metadata,
      identityRatelimits,
    ]) {
      expect(JSON.stringify(issuesOf(schema, secret))).not.toContain(secret);
    }
  });
});

describe("a whole number from 1 to 3", () => {
  test.each([
    0,
    4,
    1.5,
    "2",
    null,
    true,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2n,
    [2],
    -1,
    2 ** 53,
  ])("is not %s", (value) => {
    expect(issuesOf(wholeNumber(1, 3), value)).toEqual([
      { path: "field", message: "must be a whole number from 1 to 3" },
    ]);
  });

  test.each([1, 2, 3])("is %i", (value) => {
    expect(issuesOf(wholeNumber(1, 3), value)).toEqual([]);
  });
});

describe("a whole number from 1 on", () => {
  test.each([
    [0, "must be a whole number >= 1"],
    [Number.NaN, "must be a whole number >= 1"],
    ["9", "must be a whole number >= 1"],
    [undefined, "is required"],
    [2 ** 53, "must be a whole number from 1 to 9007199254740991"],
    [1e300, "must be a whole number from 1 to 9007199254740991"],
    [Number.POSITIVE_INFINITY, "must be a whole number from 1 to 9007199254740991"],
  ])("%s is refused, and the message names the bound", (value, message) => {
    expect(issuesOf(wholeNumber(1), value)).toEqual([{ path: "field", message }]);
  });

  test.each([1, Number.MAX_SAFE_INTEGER])("is %i", (value) => {
    expect(issuesOf(wholeNumber(1), value)).toEqual([]);
  });
});

describe("a text", () => {
  test.each([
    ["shorter than its bound", "", false],
    ["at its lower bound", "a", true],
    ["at its upper bound", "abcde", true],
    ["longer than its bound", "abcdef", false],
    ["with half of a surrogate pair", "a\ud800", false],
    ["with a NUL", "a\0", false],
    ["in any script", "潮汐表", true],
  ])("%s is accepted: %#", (_, value, isAccepted) => {
    expect(issuesOf(text(1, 5), value).length === 0).toBe(isAccepted);
  });
});

describe("a prefix", () => {
  test.each(["", "a", "a-b", "a_b", "-", "x".repeat(16)])("may be %j", (value) => {
    expect(issuesOf(prefix, value)).toEqual([]);
  });

  test.each(["_", "a_", "a b", "é", "a.b", "x".repeat(17), "a\n"])("may not be %j", (value) => {
    expect(issuesOf(prefix, value)).toHaveLength(1);
  });
});

describe("a name of a role or permission", () => {
  test.each(["a", "docs.read", "docs.*", "*", "a:b_c-d", "x".repeat(512)])("may be %j", (value) => {
    expect(issuesOf(grantName, value)).toEqual([]);
  });

  test.each(["", " ", "a b", "é", "a/b", "x".repeat(513), "a\n"])("may not be %j", (value) => {
    expect(issuesOf(grantName, value).length).toBeGreaterThan(0);
  });
});

describe("a refill", () => {
  test("is monthly on day 1 unless another day is given", () => {
    expect(refill.parse({ interval: "monthly", amount: 5 })).toEqual({
      interval: "monthly",
      amount: 5,
      refillDay: 1,
    });
  });

  test.each([
    [{ interval: "daily", amount: 1, refillDay: 1 }, "field.refillDay"],
    [{ interval: "monthly", amount: 1, refillDay: 0 }, "field.refillDay"],
    [{ interval: "monthly", amount: 1, refillDay: 32 }, "field.refillDay"],
    [{ interval: "monthly", amount: 0 }, "field.amount"],
    [{ interval: "yearly", amount: 1 }, "field.interval"],
    [{ interval: "hourly", amount: 1, refillDay: 1 }, "field.refillDay"],
    [{ interval: { every: "90m" }, amount: 1, refillDay: 1 }, "field.refillDay"],
    [{ interval: "weekly", amount: 1, refillDay: 0 }, "field.refillDay"],
    [{ interval: "weekly", amount: 1, refillDay: 8 }, "field.refillDay"],
    [{ interval: { every: 59_999 }, amount: 1 }, "field.interval.every"],
    [{ interval: { every: "59s" }, amount: 1 }, "field.interval.every"],
    [{ interval: { every: 2 ** 52 + 1 }, amount: 1 }, "field.interval.every"],
    [{ interval: { every: 60_000.5 }, amount: 1 }, "field.interval.every"],
    [{ interval: { every: "1w" }, amount: 1 }, "field.interval.every"],
    [{ interval: {}, amount: 1 }, "field.interval.every"],
    [{ interval: { every: "1h", from: 1 }, amount: 1 }, "field.interval.from"],
    [{ interval: { evry: "1h", every: "1h" }, amount: 1 }, "field.interval.evry"],
    [{ interval: [], amount: 1 }, "field.interval"],
    [{ interval: null, amount: 1 }, "field.interval"],
    [{ amount: 1 }, "field.interval"],
    [{ interval: "daily" }, "field.amount"],
    [{ interval: "daily", amount: 1, carryOver: -1 }, "field.carryOver"],
    [{ interval: "daily", amount: 1, carryOver: Number.MAX_SAFE_INTEGER }, "field.carryOver"],
  ])("%j is refused at %s", (value, path) => {
    expect(issuesOf(refill, value)).toEqual([{ path, message: expect.any(String) }]);
  });

  test.each([
    ["monthly", 1],
    ["monthly", 31],
    ["weekly", 1],
    ["weekly", 7],
  ])("may be %s on day %i", (interval, refillDay) => {
    expect(issuesOf(refill, { interval, amount: 1, refillDay })).toEqual([]);
  });

  test.each([
    [0, {}],
    [7, { carryOver: 7 }],
    [Number.MAX_SAFE_INTEGER - 5, { carryOver: Number.MAX_SAFE_INTEGER - 5 }],
  ])("may carry over %i", (carryOver, kept) => {
    const given = { interval: { every: 60_000 }, amount: 5 };
    expect(refill.parse({ ...given, carryOver })).toEqual({ ...given, ...kept });
  });

  test("is weekly on Monday unless another day is given", () => {
    expect(refill.parse({ interval: "weekly", amount: 5 })).toMatchObject({ refillDay: 1 });
  });

  test.each([
    [60_000, 60_000],
    ["60s", 60_000],
    ["90m", 5_400_000],
    [2 ** 52, 2 ** 52],
  ] as const)("may come every %s", (every, ms) => {
    expect(refill.parse({ interval: { every }, amount: 5 })).toEqual({
      interval: { every: ms },
      amount: 5,
    });
  });
});

describe("limits of an identity", () => {
  test.each([
    [49, true],
    [50, true],
    [51, false],
  ])("may be %i: %s", (count, isAccepted) => {
    const limits = Array.from({ length: count }, (_, index) => ({
      name: `limit ${index}`,
      limit: 1,
      duration: 1,
    }));
    expect(issuesOf(identityRatelimits, limits).length === 0).toBe(isAccepted);
  });
});

describe("the issues of one input", () => {
  const manyFields = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 1]));

  test.each([
    [999, 999, "is not a known field"],
    [1_000, 1_000, "is not a known field"],
    [1_001, 1_001, "and 1 more issue"],
    [5_000, 1_001, "and 4000 more issues"],
  ])("of %i are listed as %i, the last saying %j", (count, listed, message) => {
    const issues = issuesOfInput(z.strictObject({}), manyFields(count));
    expect(issues).toHaveLength(listed);
    expect(issues.at(-1)).toMatchObject({ message });
  });
});
