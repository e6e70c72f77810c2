import fc from "fast-check";
import { expect, test } from "vitest";
import { fields, junk, orJunk, unlessRefused } from "../../testing/rough-input.js";
import { PLAIN_QUESTION, type VerifyQuestion } from "../../verification/question.js";
import { readBySchema, readCallBySchema } from "./input.js";
import { readByHand, readCallByHand, readVerification } from "./read-request.js";

/** Texts at and around every bound, and some that no store could keep. */
const text = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom("a", "docs.read", "default", "2001:db8::7", "192.0.2.7"),
  },
  fc.constantFrom("", "x".repeat(128), "x".repeat(129), "x".repeat(512), "x".repeat(513)),
  fc.constantFrom("a\0b", "\ud800", "é", "::ffff:192.0.2.7", "fe80::1%eth0", "10.0.0.01"),
);
const number = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(0, 1, 2, 60_000) },
  fc.constantFrom(-0, -1, 0.5, 2 ** 53 - 1, 2 ** 53, Number.NaN, Infinity),
);
const query = fc.letrec<{ query: unknown }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    { weight: 4, arbitrary: orJunk(text) },
    fields({ and: orJunk(fc.array(tie("query"), { maxLength: 3 })) }),
    fields({ or: orJunk(fc.array(tie("query"), { maxLength: 3 })) }),
  ),
})).query;
const limit = fields({
  name: orJunk(text),
  cost: orJunk(number),
  limit: orJunk(number),
  duration: orJunk(number),
  algorithm: orJunk(fc.constantFrom("fixed", "sliding", "token-bucket", "concurrent", "toString")),
  burst: orJunk(number),
  shadow: orJunk(fc.boolean()),
});
/** Limits with figures: random fields rarely make one. */
const figures = fc.record(
  {
    name: fc.constantFrom("a", "default"),
    limit: number,
    duration: number,
    algorithm: fc.constantFrom("fixed", "sliding", "token-bucket", "leaky"),
    burst: number,
    shadow: orJunk(fc.boolean()),
  },
  { requiredKeys: ["name", "limit", "duration"] },
);
const input = fields({
  key: orJunk(text),
  apiId: orJunk(text),
  ipAddress: orJunk(text),
  tags: orJunk(fc.array(orJunk(text), { maxLength: 11 })),
  authorization: orJunk(fields({ permissions: query, role: fc.constant("x") })),
  remaining: orJunk(fields({ cost: orJunk(number) })),
  ratelimits: orJunk(fc.array(orJunk(limit), { maxLength: 3 })),
  requestId: orJunk(text),
});
/** Mostly a key and few other fields: an input with many random fields is rarely accepted. */
const question = fc.oneof(
  fc.tuple(text, input).map(([key, some]) => ({ ...some, key })),
  fc
    .tuple(
      text,
      input,
      fc.subarray(["apiId", "authorization", "ratelimits", "remaining", "tags"], { maxLength: 2 }),
    )
    .map(([key, some, names]) => ({
      key,
      ...Object.fromEntries(names.flatMap((name) => (name in some ? [[name, some[name]]] : []))),
    })),
  input,
  junk,
  fc.record({ key: text, ratelimits: fc.array(figures, { maxLength: 2 }) }),
  fc.constantFrom(
    { key: "k", unknown: 1 },
    { key: "k", dryRun: true },
    { key: "k", ratelimit: {} },
  ),
);

test("reading by hand returns what the schema returns, and accepts nothing that it refuses", () => {
  let byHand = 0;
  fc.assert(
    fc.property(question, (asked) => {
      const read = readByHand(asked, () => null);
      if (read === null) return;
      byHand += 1;
      expect(read).toEqual(unlessRefused(() => readBySchema(asked)));
    }),
    { numRuns: 5_000 },
  );
  expect(byHand).toBeGreaterThan(500);
});

test("the schema gets the input that was given", () => {
  fc.assert(
    fc.property(question, (asked) => {
      expect(unlessRefused(() => readVerification(asked))).toEqual(
        unlessRefused(() => readBySchema(asked)),
      );
    }),
    { numRuns: 200 },
  );
});

test("no question that guards ask is left to the schema", () => {
  const well = fc.constantFrom("a", "docs.read", "x".repeat(128));
  const cost = fc.constantFrom(0, 1, 2 ** 53 - 1);
  const positive = fc.constantFrom(1, 60_000);
  const wellFormed = fc.record(
    {
      key: fc.constantFrom("", "k", "x".repeat(600)),
      apiId: well,
      ipAddress: fc.constantFrom("192.0.2.7", "2001:db8::7"),
      tags: fc.array(well, { maxLength: 10 }),
      authorization: fc.record({
        permissions: fc.oneof(well, fc.record({ and: fc.array(well, { minLength: 1 }) })),
      }),
      remaining: fc.record({ cost }, { requiredKeys: [] }),
      ratelimits: fc.uniqueArray(
        fc.oneof(
          fc.record({ name: well, cost }, { requiredKeys: ["name"] }),
          fc.record(
            {
              name: well,
              limit: positive,
              duration: positive,
              algorithm: fc.constantFrom("fixed", "sliding", "token-bucket"),
              shadow: fc.boolean(),
            },
            { requiredKeys: ["name", "limit", "duration"] },
          ),
          fc.record({
            name: well,
            limit: positive,
            duration: positive,
            algorithm: fc.constant("token-bucket"),
            burst: fc.constantFrom(1, 2 ** 37),
          }),
        ),
        { selector: ({ name }) => name, maxLength: 3 },
      ),
      requestId: well,
    },
    { requiredKeys: ["key"] },
  );
  fc.assert(
    fc.property(wellFormed, (asked) => {
      expect(readByHand(asked, () => null)).toEqual(readBySchema(asked));
    }),
    { numRuns: 1_000 },
  );
});

const limited: VerifyQuestion = {
  ...PLAIN_QUESTION,
  limits: ["a", "docs.read"].map((name) => ({ name, cost: 1, adHoc: null, isOptional: false })),
};

test("the same holds for a call of a verifier", () => {
  let byHand = 0;
  const named = fields({ name: orJunk(text), cost: orJunk(number) });
  const call = fc.oneof(
    fields({ ipAddress: orJunk(text), requestId: orJunk(text), tags: orJunk(fc.array(text)) }),
    fields({ requestId: orJunk(text) }),
    fields({ cost: orJunk(number), ratelimits: orJunk(fc.array(named, { maxLength: 3 })) }),
    fc.constant({ cost: 3, ratelimits: [{ name: "a", cost: 0 }] }),
    fields({ ipAddress: fc.constantFrom("192.0.2.7", "nowhere"), tags: fc.constant(["a"]) }),
    fc.constantFrom<unknown>(undefined, null, 7, { key: "other" }, { apiId: "api_1" }),
  );
  fc.assert(
    fc.property(fc.oneof({ weight: 4, arbitrary: text }, junk), call, (key, said) => {
      const read = readCallByHand(key, said, limited);
      if (read === null) return;
      byHand += 1;
      expect(read).toEqual(unlessRefused(() => readCallBySchema(key, said, limited)));
    }),
    { numRuns: 2_000 },
  );
  expect(byHand).toBeGreaterThan(200);
});

test("a call may set another cost, for limits that the question names", () => {
  const read = (said: unknown) => readCallBySchema("k", said, limited).question;
  expect(read({ cost: 3, ratelimits: [{ name: "docs.read", cost: 0 }] })).toMatchObject({
    cost: 3,
    limits: [
      { name: "a", cost: 1 },
      { name: "docs.read", cost: 0 },
    ],
  });
  for (const [said, field] of [
    [{ cost: -1 }, "cost"],
    [{ cost: Number.NaN }, "cost"],
    [{ ratelimits: [{ name: "a", cost: 0.5 }] }, "ratelimits.0.cost"],
    [{ ratelimits: [{ name: "other", cost: 1 }] }, "ratelimits.0.name"],
  ] as const)
    expect(() => read(said)).toThrow(`"${field}" must`);
});

test("additions to Object.prototype are part of no question", () => {
  const added = { cost: 0, dryRun: true, requestId: "r", remaining: { cost: 0 } };
  const asked = { key: "k", remaining: {}, ratelimits: [{ name: "a" }] };
  const expected = [readVerification(asked), readCallBySchema("k", {}, limited)];
  const prototype = Object.prototype as Record<string, unknown>;
  for (const [name, value] of Object.entries(added)) {
    prototype[name] = value;
    const by = readCallByHand("k", {}, limited);
    const read = [readVerification(asked), by ?? readCallBySchema("k", {}, limited)];
    delete prototype[name];
    expect([name, ...read]).toEqual([name, ...expected]);
  }
});
