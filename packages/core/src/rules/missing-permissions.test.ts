import { expect, test } from "vitest";
import { HeldPermissions, missingPermissions, type PermissionQuery } from "./permission.js";

const missing = (query: PermissionQuery, names: readonly string[]) =>
  missingPermissions(query, new HeldPermissions(names));

test("nothing is missing from a satisfied query", () => {
  expect(missing("docs.read", ["docs.*"])).toBeNull();
  expect(missing({ or: ["docs.read", "docs.write"] }, ["docs.write"])).toBeNull();
});

test("a name that is not held is missing", () => {
  expect(missing("docs.read", ["docs"])).toBe("docs.read");
});

test("of an `and`, only the members that are not held are missing", () => {
  expect(missing({ and: ["a", "b", "c"] }, ["b"])).toEqual({ and: ["a", "c"] });
  expect(missing({ and: ["a", "b"] }, ["b"])).toBe("a");
});

test("of an `or`, every alternative is missing, each without its held parts", () => {
  expect(missing({ or: [{ and: ["a", "b"] }, "c"] }, ["a"])).toEqual({
    or: ["b", "c"],
  });
});

test("of an `or` inside an `and`, only failing alternatives are missing", () => {
  expect(missing({ and: [{ or: ["a", "b"] }, { or: ["c", "d"] }] }, ["a"])).toEqual({
    or: ["c", "d"],
  });
});
