import { expect, test } from "vitest";
import { CONTRACTS } from "./contract/sections.js";
import { brokenSkips } from "./skips.js";

const TITLES = ["uses are counted", "keys are found"];

test("a skip that names a test and gives a reason is accepted", () => {
  const skips = [{ test: "keys are found", reason: "write-only by design, see #12" }];
  expect(brokenSkips(skips, TITLES)).toEqual([]);
});

test("a skip that names no test of the suite fails", () => {
  const skips = [{ test: "keys are founded", reason: "a typing error" }];
  expect(brokenSkips(skips, TITLES)).toEqual([
    {
      title: 'a skip names a test of the suite: "keys are founded"',
      message: 'no test of the suite is called "keys are founded"',
    },
  ]);
});

test("a skip without a reason fails", () => {
  const skips = [{ test: "keys are found", reason: " " }];
  expect(brokenSkips(skips, TITLES)).toHaveLength(1);
});

test("titles of contracts are unique, since a skip names a contract by its title", () => {
  const titles = CONTRACTS.flatMap(({ contracts }) => contracts.map(({ title }) => title));
  expect(new Set(titles).size).toBe(titles.length);
});
