import { readFileSync } from "node:fs";

import { describe, expect, test } from "vitest";
import { openApiDocument } from "../packages/http/src/index.js";
import { expressionsIn, isUnbounded, slowness } from "./regular-expressions.js";
import { isTestFile, readPackages, root } from "./sources.js";

const LENGTH = 30_000;

/** Far above one pass over the text, and far below one pass per character, which is 15,000 at this length. */
const MAX_SLOWNESS = 3_000;

const page = "packages/http/page/page.js";
/** The site is left out: its expressions read only the pages of this repository. */
const packages = readPackages().filter(({ directory }) => directory !== "site");
const sources = [
  ...packages.flatMap(({ directory, files }) =>
    files
      .filter(({ path }) => path.startsWith("src/") && !isTestFile(path))
      .map(({ path, text }) => ({ path: `packages/${directory}/${path}`, text })),
  ),
  { path: page, text: readFileSync(`${root}/${page}`, "utf8") },
];
const own = sources.flatMap(expressionsIn);

/** The patterns of the document, which clients run on their own inputs. */
const documented = [
  ...JSON.stringify(openApiDocument()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g),
].map(([, text = '""']) => ({
  file: "the OpenAPI document",
  expression: new RegExp(JSON.parse(text) as string, "u"),
}));

/** Each expression once, if it repeats anything without a bound. */
const unbounded = [
  ...new Map([...own, ...documented].map((found) => [String(found.expression), found])).values(),
].filter(({ expression }) => isUnbounded(expression));

test("the expressions in the sources are found, also those made from strings", () => {
  const found = own.map(({ expression }) => expression.source);
  expect(found).toContain("^bearer +([A-Za-z0-9._~+/-]+=*)$");
  expect(found).toContain("(8_?)(?:[A-Za-z0-9+/=._-]|8){12,}");
  expect(new Set(own.map(({ file }) => file.split("/")[1])).size).toBeGreaterThanOrEqual(8);
  expect(documented.length).toBeGreaterThanOrEqual(5);
  expect([/a?b{2,3}\*\+/, /[0-9]{1,5}/].filter(isUnbounded)).toEqual([]);
  expect([/a*/, /a+/, /a{2,}/].map(isUnbounded)).toEqual([true, true, true]);
});

describe("takes time in proportion to 30,000 characters", () => {
  test.each(unbounded)("$file: $expression", ({ expression }) => {
    expect(slowness(expression, LENGTH, MAX_SLOWNESS)).toBeLessThan(MAX_SLOWNESS);
  });
});

test.each([/=+$/, /\s*\n\s*/g])("%s is detected as slow", (expression) => {
  // Half the length and a third of the bound: the factor is 7,500, and the test stays short.
  expect(slowness(expression, LENGTH / 2, MAX_SLOWNESS / 3)).toBeGreaterThan(MAX_SLOWNESS / 3);
});
