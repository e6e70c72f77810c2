import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PermissionQuery } from "../rules/permission.js";
import { checkPermissionQuery, QUERY_BOUNDS } from "./permission-query.js";

function nested(depth: number): PermissionQuery {
  return depth === 1 ? "docs.read" : { and: [nested(depth - 1)] };
}

const query: fc.Arbitrary<PermissionQuery> = fc.letrec<{ query: PermissionQuery }>((tie) => ({
  query: fc.oneof(
    { maxDepth: 4 },
    fc.string({ minLength: 1, maxLength: 20 }),
    fc.array(tie("query"), { minLength: 1, maxLength: 4 }).map((and) => ({ and })),
    fc.array(tie("query"), { minLength: 1, maxLength: 4 }).map((or) => ({ or })),
  ),
})).query;

describe("a permission query", () => {
  test("that is well formed is returned as an equal copy", () => {
    fc.assert(
      fc.property(query, (wanted) => {
        expect(checkPermissionQuery(wanted)).toEqual({ ok: true, query: wanted });
      }),
    );
  });

  test("that is a list is told the two forms of a group", () => {
    expect(checkPermissionQuery(["docs.read", "docs.write"])).toMatchObject({
      message: "must be a permission name, { and: […] } or { or: […] }",
    });
  });

  test.each([
    [15, true],
    [16, true],
    [17, false],
  ])("of depth %i is accepted: %s", (depth, ok) => {
    expect(checkPermissionQuery(nested(depth)).ok).toBe(ok);
  });

  test.each([
    [QUERY_BOUNDS.maxNameLength - 1, true],
    [QUERY_BOUNDS.maxNameLength, true],
    [QUERY_BOUNDS.maxNameLength + 1, false],
    [1, true],
    [0, false],
  ])("with a name of %i characters is accepted: %s", (length, ok) => {
    expect(checkPermissionQuery("a".repeat(length)).ok).toBe(ok);
  });

  test.each([
    [QUERY_BOUNDS.maxNodes - 1, true],
    [QUERY_BOUNDS.maxNodes, true],
    [QUERY_BOUNDS.maxNodes + 1, false],
  ])("of %i names and groups is accepted: %s", (nodes, ok) => {
    expect(checkPermissionQuery({ or: Array.from({ length: nodes - 1 }, () => "a") }).ok).toBe(ok);
  });

  test.each([
    ["an empty group", { and: [] }, ["and"]],
    ["both groups at once", { and: ["a"], or: ["b"] }, []],
    ["an unknown group", { not: ["a"] }, []],
    ["an empty object", {}, []],
    ["a bare list", ["a"], []],
    ["a number", 7, []],
    ["null", null, []],
    ["a group that is no list", { or: "a" }, ["or"]],
    ["a fault deep inside", { and: ["a", { or: ["b", 7] }] }, ["and", 1, "or", 1]],
  ])("with %s is refused, with the path to it", (_, malformed, path) => {
    expect(checkPermissionQuery(malformed)).toEqual({
      ok: false,
      path,
      message: expect.any(String),
    });
  });

  test("is copied once: a member that changes between reads cannot pass as two things", () => {
    let reads = 0;
    const shifting = {
      get and() {
        reads += 1;
        return reads === 1 ? ["docs.read"] : ["docs.write"];
      },
    };
    expect(checkPermissionQuery(shifting)).toEqual({ ok: true, query: { and: ["docs.read"] } });
    expect(reads).toBe(1);
  });

  test("that refers to itself is refused by its depth", () => {
    const cyclic: { and: unknown[] } = { and: [] };
    cyclic.and.push(cyclic);
    expect(checkPermissionQuery(cyclic)).toMatchObject({ ok: false });
  });
});
