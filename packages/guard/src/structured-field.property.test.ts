import fc from "fast-check";
import { expect, test } from "vitest";
import { rateLimitFields } from "./rate-limit-fields.js";
import { writeList } from "./structured-field.js";
import { readList } from "./testing/read-list.js";

const text = fc.string({ unit: "binary", maxLength: 128 });
const number = fc.oneof(fc.maxSafeInteger(), fc.nat(), fc.constantFrom(0, 1e15 - 1, 1e15));
const member = fc.record({
  text,
  parameters: fc.record({ q: number, w: fc.option(number, { nil: undefined }) }),
});

test("a written list reads back: printable ASCII texts unchanged, numbers within 15 digits", () => {
  fc.assert(
    fc.property(fc.array(member, { minLength: 1, maxLength: 5 }), (members) => {
      const read = readList(writeList(members));
      expect(read.map(({ text }) => decodeURIComponent(text))).toEqual(
        members.map(({ text }) => text.toWellFormed()),
      );
      expect(read.map(({ parameters }) => parameters)).toEqual(
        members.map(({ parameters: { q, w } }) => {
          const bounded = (value: number) => Math.min(Math.max(0, value), 1e15 - 1);
          return { q: bounded(q), ...(w !== undefined && { w: bounded(w) }) };
        }),
      );
    }),
  );
});

test("the fields of any limits are well formed, and valid in a header", () => {
  const limit = fc.record({
    name: text,
    limit: fc.maxSafeNat(),
    remaining: fc.maxSafeNat(),
    reset: fc.maxSafeNat(),
    exceeded: fc.boolean(),
    duration: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(fc.array(limit, { minLength: 1, maxLength: 5 }), fc.maxSafeNat(), (limits, now) => {
      const fields = rateLimitFields(limits, now);
      expect([...new Headers(fields).keys()]).toEqual(["ratelimit", "ratelimit-policy"]);
      for (const value of Object.values(fields))
        expect(readList(value)).toHaveLength(limits.length);
    }),
  );
});

test("seconds are rounded up, and none is below 0", () => {
  const limit = { name: "minute", limit: 10, remaining: 5, exceeded: false };
  const fieldsAt = (now: number) =>
    rateLimitFields([{ ...limit, reset: 60_000, duration: 59_001 }], now);
  expect(fieldsAt(29_999)).toEqual({
    "RateLimit-Policy": '"minute";q=10;w=60',
    RateLimit: '"minute";r=5;t=31',
  });
  expect(fieldsAt(30_000).RateLimit).toBe('"minute";r=5;t=30');
  expect(fieldsAt(60_001).RateLimit).toBe('"minute";r=5;t=0');
});

test("without limits there are no fields", () => {
  expect(rateLimitFields(undefined, 0)).toEqual({});
  expect(rateLimitFields([], 0)).toEqual({});
});
