import { expect, test } from "vitest";
import { HeldPermissions, missingPermissions, type PermissionQuery } from "./permission.js";

const missing = (query: PermissionQuery, names: readonly string[]) =>
  missingPermissions(query, new HeldPermissions(names));

test("nothing is missing of a query that is satisfied", () => {
  expect(missing("docs.read", ["docs.*"])).toBeNull();
  expect(missing({ or: ["docs.read", "docs.write"] }, ["docs.write"])).toBeNull();
});

test("a name that is not held is missing", () => {
  expect(missing("docs.read", ["docs"])).toBe("docs.read");
});

test("of an and only what is not held is missing", () => {
  expect(missing({ and: ["a", "b", "c"] }, ["b"])).toEqual({ and: ["a", "c"] });
  expect(missing({ and: ["a", "b"] }, ["b"])).toBe("a");
});

test("of an or every way is missing, each without what is held of it", () => {
  expect(missing({ or: [{ and: ["a", "b"] }, "c"] }, ["a"])).toEqual({
    or: ["b", "c"],
  });
});

test("of an or inside an and only the ways that fail are missing", () => {
  expect(missing({ and: [{ or: ["a", "b"] }, { or: ["c", "d"] }] }, ["a"])).toEqual({
    or: ["c", "d"],
  });
});
