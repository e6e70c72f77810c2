import { describe, expect, test } from "vitest";
import { fieldChanges } from "./entry.js";

describe("the differences between two states", () => {
  test("are named field by field, before and after", () => {
    expect(fieldChanges({ name: "tides", remaining: 5 }, { name: "gates", remaining: 4 })).toEqual([
      { field: "name", before: "tides", after: "gates" },
      { field: "remaining", before: 5, after: 4 },
    ]);
  });

  test("have no before without an earlier value, and no after without a later one", () => {
    expect(fieldChanges({ gone: 1, nulled: 2, dropped: 3 }, { fresh: 4, nulled: null })).toEqual([
      { field: "fresh", after: 4 },
      { field: "gone", before: 1 },
      { field: "nulled", before: 2 },
      { field: "dropped", before: 3 },
    ]);
  });

  test("come in the order of the later state, then fields that lost their value", () => {
    const changes = fieldChanges({ c: 1, a: 1, b: 1 }, { a: 2, b: 2 });
    expect(changes.map(({ field }) => field)).toEqual(["a", "b", "c"]);
  });

  test.each([
    [{}, {}],
    [{ name: null }, {}],
    [{}, { name: undefined }],
    [{ name: null }, { name: undefined }],
    [{ name: "" }, { name: "" }],
    [{ meta: { a: 1, b: [1, { c: 2 }] } }, { meta: { b: [1, { c: 2 }], a: 1 } }],
    [{ roles: [] }, { roles: [] }],
  ])("between %j and %j are none", (before, after) => {
    expect(fieldChanges(before, after)).toEqual([]);
  });

  test.each([
    [0, false],
    [0, ""],
    [1, "1"],
    ["", false],
    [[], {}],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, 1]],
    [[1], { 0: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }, { b: 1 }],
    [{ a: { b: 1 } }, { a: { b: 2 } }],
    [{ a: null }, {}],
    [{ toString: 1 }, {}],
  ])("between the values %j and %j are a change", (was, is) => {
    expect(fieldChanges({ field: was }, { field: is })).toEqual([
      { field: "field", before: was, after: is },
    ]);
  });

  test("include a field with the name of an inherited member", () => {
    expect(fieldChanges({ constructor: "a" }, { constructor: "b" })).toEqual([
      { field: "constructor", before: "a", after: "b" },
    ]);
  });
});
