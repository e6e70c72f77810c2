import { expect, test } from "vitest";
import { countedTags, OTHER_TAG, TAG_PATTERN } from "./tags.js";

test.each(["a", "A9_.:-", "t".repeat(64)])("%j is a tag", (tag) => {
  expect(TAG_PATTERN.test(tag)).toBe(true);
});

test.each(["", "t".repeat(65), "a b", " a", "a\n", "ä", "a,b"])("%j is not a tag", (tag) => {
  expect(TAG_PATTERN.test(tag)).toBe(false);
});

test("a key is counted for its tags, and once for all that are beyond the bound", () => {
  expect(countedTags(["eu", "billing"], [])).toEqual(["eu", "billing"]);
  expect(countedTags(["eu", "billing", "new"], ["eu", "new"])).toEqual([OTHER_TAG, "billing"]);
  expect(countedTags(["eu"], ["new"])).toEqual(["eu"]);
});
