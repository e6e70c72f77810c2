import fc from "fast-check";
import { expect, test } from "vitest";
import { LIMIT_ALGORITHMS, type LimitFigures } from "./limit-state.js";
import {
  DEFAULT_LIMIT,
  fixedFigures,
  fromWireFigures,
  fromWireLimits,
  isAutoApplied,
  isCountable,
  NAMESPACE_PATTERN,
  toWireFigures,
  toWireLimits,
} from "./rate-limit.js";

const positive = fc.integer({ min: 1, max: 2 ** 52 });
const limits = fc.record({
  name: fc.string(),
  algorithm: fc.constantFrom(...LIMIT_ALGORITHMS),
  limit: positive,
  duration: positive,
  burst: positive,
  shadow: fc.boolean(),
  autoApply: fc.boolean(),
});

test("written limits are read as the same limits; only buckets have a burst", () => {
  fc.assert(
    fc.property(fc.array(limits, { maxLength: 3 }), (given) => {
      const expected = given.map((each) =>
        each.algorithm === "token-bucket" ? each : { ...each, burst: each.limit },
      );
      expect(fromWireLimits(toWireLimits(given))).toEqual(expected);
    }),
  );
});

test("defaults are not written", () => {
  const fixed = { limit: 5, duration: 60_000 };
  expect(toWireFigures(fixedFigures(5, 60_000))).toEqual(fixed);
  expect(fromWireFigures({ ...fixed })).toEqual(fixedFigures(5, 60_000));
  expect(toWireLimits(fromWireLimits([{ ...fixed, name: "files" }]))).toEqual([
    { ...fixed, name: "files" },
  ]);
  const bucket = { ...fixed, algorithm: "token-bucket", burst: 5, shadow: true } as const;
  const { burst: _, ...written } = bucket;
  expect(toWireFigures(bucket)).toEqual(written);
});

test("inherited fields are ignored", () => {
  const inherited = Object.create({ shadow: true, algorithm: "sliding", burst: 9 }) as object;
  const wire = Object.assign(inherited, { limit: 5, duration: 60_000 });
  expect(fromWireFigures(wire)).toEqual(fixedFigures(5, 60_000));
});

test.each<[Partial<LimitFigures>, boolean]>([
  [{ burst: 2 ** 43 - 1, duration: 2 ** 10, limit: 2 ** 10 - 1 }, true],
  [{ burst: 2 ** 43 - 1, duration: 2 ** 10, limit: 2 ** 10 }, false],
  [{ burst: 2 ** 43, duration: 2 ** 10, limit: 2 ** 10, algorithm: "fixed" }, true],
])("a bucket counts in units times its duration, which must stay exact: %o", (figures, isSo) => {
  const bucket = { ...fixedFigures(1, 1), algorithm: "token-bucket" } as const;
  expect(isCountable({ ...bucket, ...figures })).toBe(isSo);
});

test.each([
  ["login", true],
  ["a.b:c-d_E9", true],
  ["x".repeat(128), true],
  ["x".repeat(129), false],
  ["", false],
  ["*", false],
  ["login\n", false],
  ["two words", false],
])("%j is a namespace: %s", (namespace, isOne) => {
  expect(NAMESPACE_PATTERN.test(namespace)).toBe(isOne);
});

test.each([true, false, undefined])(
  "the limit named default applies by itself, with autoApply %s",
  (autoApply) => {
    expect(isAutoApplied({ name: DEFAULT_LIMIT, autoApply })).toBe(true);
  },
);

test("another limit applies by itself only if autoApply says so", () => {
  expect(isAutoApplied({ name: "tiles", autoApply: true })).toBe(true);
  expect(isAutoApplied({ name: "tiles", autoApply: false })).toBe(false);
  expect(isAutoApplied({ name: "tiles" })).toBe(false);
});

test("names differ by case: Default is another limit", () => {
  expect(isAutoApplied({ name: "Default" })).toBe(false);
});
