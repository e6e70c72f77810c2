import type { PermissionQuery } from "@latchkey/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parsePermissionQuery, permissionQueryText } from "./permission-query.js";

describe("a permission query as a text", () => {
  test.each<[string, PermissionQuery]>([
    ["docs.read", "docs.read"],
    [" ( docs.read ) ", "docs.read"],
    ["a AND b AND c", { and: ["a", "b", "c"] }],
    ["a OR b AND c", { or: ["a", { and: ["b", "c"] }] }],
    ["(a OR b) AND c", { and: [{ or: ["a", "b"] }, "c"] }],
    ["a and(b or c)", { and: ["a", { or: ["b", "c"] }] }],
    ["docs.* OR android", { or: ["docs.*", "android"] }],
  ])("%j means %j", (text, query) => {
    expect(parsePermissionQuery(text)).toEqual(query);
    expect(permissionQueryText.safeParse(text).success).toBe(true);
  });

  test.each([
    "",
    " ",
    "()",
    "AND",
    "a AND",
    "OR a",
    "a b",
    "a AND OR b",
    "(a",
    "a)",
    "a(b)",
    "a && b",
    "a,b",
    "é",
  ])("%j is malformed, and the message quotes nothing", (text) => {
    const message = permissionQueryText.safeParse(text).error?.issues.at(-1)?.message;
    expect(message).toMatch(/^must be permissions joined by AND and OR/);
  });

  test("has the bounds of a query of v1, and at most 1,000 characters", () => {
    const nested = (depth: number): string =>
      depth === 1 ? "a" : `(b ${depth % 2 === 0 ? "AND" : "OR"} ${nested(depth - 1)})`;
    const messageOf = (text: string) =>
      permissionQueryText.safeParse(text).error?.issues[0]?.message;
    expect(messageOf(nested(16))).toBeUndefined();
    expect(messageOf(nested(17))).toBe("must be nested at most 16 deep");
    expect(messageOf("a".repeat(512))).toBeUndefined();
    expect(messageOf("a".repeat(513))).toBe("must be a name of 1 to 512 characters");
    expect(messageOf("a".repeat(1_001))).toBe("must be a string of 1 to 1000 characters");
    expect(messageOf("(".repeat(1_000))).toMatch(/^must be permissions/);
    // A character of two UTF-16 units counts once, and the query is still malformed.
    expect(messageOf("😀".repeat(1_000))).toMatch(/^must be permissions/);
    expect(messageOf("(".repeat(1_000_000))).toBe("must be a string of 1 to 1000 characters");
  });

  test("a query with parentheses around every group reads back the same", () => {
    const name = fc
      .stringMatching(/^[a-z][a-z.*]{0,6}$/)
      .filter((text) => !/^(?:and|or)$/.test(text));
    const { query } = fc.letrec<{ query: PermissionQuery }>((tie) => {
      const members = fc.array(tie("query"), { minLength: 2, maxLength: 3 });
      return {
        query: fc.oneof(
          { depthSize: "small", withCrossShrink: true },
          name,
          members.map((and) => ({ and })),
          members.map((or) => ({ or })),
        ),
      };
    });
    const written = (node: PermissionQuery): string => {
      if (typeof node === "string") return node;
      if ("and" in node) return `(${node.and.map(written).join(" AND ")})`;
      return `(${node.or.map(written).join(" or ")})`;
    };
    fc.assert(
      fc.property(query, (node) => {
        expect(parsePermissionQuery(written(node))).toEqual(node);
      }),
    );
  });
});
