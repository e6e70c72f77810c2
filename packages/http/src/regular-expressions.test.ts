import { describe, expect, test } from "vitest";
import { openApiDocument } from "./index.js";
import { literalsIn, slowness } from "./testing/regular-expressions.js";

const LENGTH = 100_000;

/** Far above what one pass takes, far below what a pass for each character takes: 50,000 at this length. */
const MAX_SLOWNESS = 1_000;

const own = [
  ...literalsIn(new URL("./", import.meta.url)),
  ...literalsIn(new URL("../page/", import.meta.url)),
];

/** The patterns of the document, which clients run on their own inputs. */
const documented = [
  ...JSON.stringify(openApiDocument()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
];
const patterns = [...new Set(documented.map(([, text = '""']) => JSON.parse(text) as string))];

test("the expressions of the sources are found", () => {
  const sources = own.map(({ expression }) => expression.source);
  expect(sources).toContain("^bearer +([A-Za-z0-9._~+/-]+=*)$");
  expect(sources.length).toBeGreaterThanOrEqual(6);
  expect(patterns.length).toBeGreaterThanOrEqual(5);
});

describe("takes time in proportion to 100,000 characters", () => {
  test.each(own)("$file: $expression", ({ expression }) => {
    expect(slowness(expression, LENGTH, MAX_SLOWNESS)).toBeLessThan(MAX_SLOWNESS);
  });

  test.each(patterns)("the document: %s", (pattern) => {
    const expression = new RegExp(pattern, "u");
    expect(slowness(expression, LENGTH, MAX_SLOWNESS)).toBeLessThan(MAX_SLOWNESS);
  });
});

test.each([/=+$/, /\s*\n\s*/g])("%s is noticed", (expression) => {
  // A tenth of the length: 5,000 times as slow is enough to see, and soon over.
  expect(slowness(expression, LENGTH / 10, MAX_SLOWNESS)).toBeGreaterThan(MAX_SLOWNESS);
});
