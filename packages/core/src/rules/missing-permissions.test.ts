import { expect, test } from "vitest";
import { missingPermissions } from "./missing-permissions.js";

test("nothing is missing of a query that is satisfied", () => {
  expect(missingPermissions("docs.read", ["docs.*"])).toBeNull();
  expect(missingPermissions({ or: ["docs.read", "docs.write"] }, ["docs.write"])).toBeNull();
});

test("a name that is not held is missing", () => {
  expect(missingPermissions("docs.read", ["docs"])).toBe("docs.read");
});

test("of an and only what is not held is missing", () => {
  expect(missingPermissions({ and: ["a", "b", "c"] }, ["b"])).toEqual({ and: ["a", "c"] });
  expect(missingPermissions({ and: ["a", "b"] }, ["b"])).toBe("a");
});

test("of an or every way is missing, each without what is held of it", () => {
  expect(missingPermissions({ or: [{ and: ["a", "b"] }, "c"] }, ["a"])).toEqual({
    or: ["b", "c"],
  });
});

test("of an or inside an and only the ways that fail are missing", () => {
  expect(missingPermissions({ and: [{ or: ["a", "b"] }, { or: ["c", "d"] }] }, ["a"])).toEqual({
    or: ["c", "d"],
  });
});
